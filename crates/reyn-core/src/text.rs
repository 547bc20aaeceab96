//! Small pure functions on text: nearest names, cutting, quoting.

use crate::limits::{NAME_BYTES_MAX, SUGGESTIONS_MAX};

/// The names most like `wanted`, best first, at most [`SUGGESTIONS_MAX`].
///
/// Likeness counts shared words (`list_files` is near `list_directory`) before edit distance, since a
/// model that invents a name rarely misspells it. Nothing is returned for a name like none of them, or
/// longer than [`NAME_BYTES_MAX`].
#[must_use]
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    if wanted.len() > NAME_BYTES_MAX {
        return vec![];
    }
    let wanted = wanted.to_lowercase();
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| (likeness(&wanted, &name.to_lowercase()), name))
        .filter(|(score, _)| *score >= 0.4)
        .collect();
    scored.sort_by(|(left, left_name), (right, right_name)| {
        right.total_cmp(left).then_with(|| left_name.cmp(right_name))
    });
    scored.into_iter().take(SUGGESTIONS_MAX).map(|(_, name)| name.to_owned()).collect()
}

/// The name that `typed` is a slip of, or the only one that it begins; `None` when none is as near as that.
///
/// A slip is one letter in three, at least one: for what a person typed, where a far guess reads like a joke.
#[must_use]
pub fn meant<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = typed.chars().count();
    if letters < 2 || typed.len() > NAME_BYTES_MAX {
        return None;
    }
    let typed = typed.to_lowercase();
    let names: Vec<&str> = names.into_iter().collect();
    let mut begun = names.iter().filter(|name| name.starts_with(&typed));
    if let (Some(name), None) = (begun.next(), begun.next()) {
        return Some(name);
    }
    let slips = names.iter().map(|name| (strsim::damerau_levenshtein(&typed, name), *name));
    slips.filter(|(slips, _)| *slips <= (letters / 3).max(1)).min().map(|(_, name)| name)
}

fn likeness(wanted: &str, name: &str) -> f64 {
    let spelling = strsim::normalized_damerau_levenshtein(wanted, name);
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (left, right) = (words(wanted), words(name));
    let shared = left.iter().filter(|word| right.contains(word)).count();
    let most = left.len().max(right.len()).max(1);
    #[expect(clippy::cast_precision_loss, reason = "a name has few words")]
    let by_word = shared as f64 / most as f64;
    spelling.max(by_word)
}

/// The first `chars_max` characters of `text`, with an ellipsis when something was cut.
#[must_use]
pub fn excerpt(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The longest prefix of `text` of at most `bytes_max` bytes that ends at a character.
#[must_use]
pub fn prefix(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let end = (0..=bytes_max).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

/// Joins words as a sentence does: `a`, `a or b`, `a, b or c`, each in backticks.
#[must_use]
pub fn alternatives(names: &[impl AsRef<str>]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{}`", name.as_ref())).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Whether a character is not seen, or changes how others are seen: control and direction characters, tags,
/// variation selectors, and blanks that are none of the space bar's. Two texts that differ in these alone look the same.
///
/// For text that someone decides on, and for names; text that is only read keeps most of them. Holds the
/// `Default_Ignorable_Code_Point`s of Unicode. The ideographic space (U+3000) is none of them: it is ordinary in
/// Japanese text, and seen as the wide blank it is.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    let is_ignorable = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}');
    let is_blank = matches!(
        c,
        '\u{a0}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2800}' | '\u{16fe4}' | '\u{1d159}'
    );
    let is_hieroglyph_format = matches!(c, '\u{13430}'..='\u{1343f}');
    c.is_control() || is_ignorable || is_blank || is_hieroglyph_format
}

/// A path as people and models read it: the bytes that are no text, characters that are not seen, and a
/// backslash that would be taken for one of these, stand as `\xNN`. Two different paths never look the same, and
/// [`unshown`] leads back.
#[must_use]
pub fn shown_path(path: &std::path::Path) -> String {
    use std::fmt::Write as _;
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some(c) = rest.chars().next() {
            if is_invisible(c) || (c == '\\' && escaped_byte(rest.as_bytes()).is_some()) {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(shown, "\\x{byte:02x}");
                }
            } else {
                shown.push(c);
            }
            rest = &rest[c.len_utf8()..];
        }
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// The path that [`shown_path`] wrote; `None` when nothing in it is escaped.
#[must_use]
pub fn unshown(shown: &str) -> Option<std::path::PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let mut bytes = Vec::with_capacity(shown.len());
    let mut rest = shown.as_bytes();
    let mut is_escaped = false;
    while let Some(first) = rest.first() {
        if let Some(byte) = escaped_byte(rest) {
            bytes.push(byte);
            rest = &rest[4..];
            is_escaped = true;
        } else {
            bytes.push(*first);
            rest = &rest[1..];
        }
    }
    is_escaped.then(|| std::ffi::OsString::from_vec(bytes).into())
}

/// The byte that `text` begins with in the form `\xNN`.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    let digits = text.get(..4)?.strip_prefix(b"\\x")?;
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok().filter(|_| digits[0] != b'+')
}

/// How long ago something was, given in seconds, as people say it.
#[must_use]
pub fn age_in_words(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    match seconds {
        // Clocks of two machines differ a little.
        i64::MIN..-60 => "in the future".to_owned(),
        -60..MINUTE => "just now".to_owned(),
        MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        HOUR..172_800 => format!("{} h ago", seconds / HOUR),
        172_800..=i64::MAX => format!("{} days ago", seconds / DAY),
    }
}

/// `text` as one word of a shell's command line.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=+,@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_invented_name_finds_the_tool_that_shares_its_words() {
        let names = ["read_file", "write_file", "list_directory", "exec"];
        assert_eq!(nearest("list_files", names).first().map(String::as_str), Some("list_directory"));
        assert_eq!(nearest("raed_file", names).first().map(String::as_str), Some("read_file"));
        assert_eq!(nearest("zzzz", names), Vec::<String>::new());
    }

    #[test]
    fn nothing_is_near_a_name_that_is_longer_than_any_name() {
        let long = "read_file".repeat(1 << 20);
        assert_eq!(nearest(&long, ["read_file"]), Vec::<String>::new());
    }

    #[test]
    fn a_slip_is_told_from_another_word() {
        let names = ["help", "copy", "cost", "model", "sessions", "permissions"];
        for (typed, expected) in [
            ("modle", Some("model")),
            ("Copi", Some("copy")),
            ("sesions", Some("sessions")),
            ("pre", None),
            ("perm", Some("permissions")),
            ("co", None),
            ("cot", Some("cost")),
            ("nope", None),
            ("hello", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(meant(typed, names), expected, "{typed}");
        }
    }

    #[test]
    fn cutting_never_splits_a_character() {
        assert_eq!(prefix("日本語", 4), "日");
        assert_eq!(prefix("日本語", 9), "日本語");
        assert_eq!(excerpt("日本語", 2), "日本…");
        assert_eq!(excerpt("日本", 2), "日本");
    }

    #[test]
    fn every_path_is_shown_so_that_it_can_be_written_again() {
        use std::os::unix::ffi::OsStrExt as _;
        for (bytes, shown) in [
            (&b"src/a.rs"[..], "src/a.rs"),
            ("日本語.txt".as_bytes(), "日本語.txt"),
            (b"caf\xe9.txt", "caf\\xe9.txt"),
            (b"a\nb", "a\\x0ab"),
            ("a\u{85}b".as_bytes(), "a\\xc2\\x85b"),
            ("ma\u{200e}in".as_bytes(), "ma\\xe2\\x80\\x8ein"),
            ("a\u{a0}b".as_bytes(), "a\\xc2\\xa0b"),
            ("❤\u{fe0f}.md".as_bytes(), "❤\\xef\\xb8\\x8f.md"),
            (b"a\\x0ab", "a\\x5cx0ab"),
            (b"C:\\xyz", "C:\\xyz"),
            (b"a\\", "a\\"),
            (b"\\x+1", "\\x+1"),
        ] {
            let path = std::path::Path::new(std::ffi::OsStr::from_bytes(bytes));
            assert_eq!(shown_path(path), shown);
            assert_eq!(unshown(shown).unwrap_or_else(|| shown.into()), path, "{shown}");
        }
    }

    proptest! {
        #[test]
        fn no_two_paths_are_shown_alike(bytes in path_bytes()) {
            use std::os::unix::ffi::OsStrExt as _;
            let path = std::path::Path::new(std::ffi::OsStr::from_bytes(&bytes));
            let shown = shown_path(path);
            prop_assert!(!shown.contains(is_invisible), "{shown:?}");
            prop_assert_eq!(unshown(&shown).unwrap_or_else(|| shown.clone().into()), path, "{}", shown);
        }
    }

    /// Names of what is not seen, what is escaped and what looks like an escape.
    fn path_bytes() -> impl Strategy<Value = Vec<u8>> {
        let pieces =
            ["a", " ", "\u{a0}", "\u{3000}", "❤\u{fe0f}", "é", "\\", "\\x", "0a", "\\xc2", "\u{2800}", "/"];
        let piece = prop_oneof![
            prop::sample::select(pieces.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
            any::<char>().prop_map(|c| c.to_string().into_bytes()),
            any::<u8>().prop_map(|byte| vec![byte]),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    #[test]
    fn what_is_not_seen_is_known() {
        let unseen = "\u{a0}\u{ad}\u{34f}\u{1680}\u{180e}\u{2000}\u{200a}\u{200b}\u{202e}\u{202f}\u{205f}\u{2800}\u{3164}\
            \u{fe00}\u{fe0f}\u{feff}\u{ffa0}\u{fff9}\u{fffb}\u{13430}\u{1343f}\u{16fe4}\u{1bca0}\u{1d159}\u{1d173}\
            \u{1d17a}\u{e0001}\u{e01ef}\u{0}\n\t";
        assert_eq!(unseen.chars().filter(|c| !is_invisible(*c)).collect::<Vec<_>>(), [] as [char; 0]);
        let seen = " a~é日本\u{3000}ー❤👨\u{301}\u{fffd}⠁𝅘";
        assert_eq!(seen.chars().filter(|c| is_invisible(*c)).collect::<Vec<_>>(), [] as [char; 0]);
    }

    #[test]
    fn ages_are_said_in_the_unit_that_fits() {
        for (seconds, words) in [
            (-61, "in the future"),
            (-1, "just now"),
            (59, "just now"),
            (60, "1 min ago"),
            (3_599, "59 min ago"),
            (3_600, "1 h ago"),
            (172_799, "47 h ago"),
            (172_800, "2 days ago"),
            (i64::MAX, "106751991167300 days ago"),
        ] {
            assert_eq!(age_in_words(seconds), words);
        }
    }

    #[test]
    fn alternatives_read_as_a_sentence() {
        assert_eq!(alternatives(&["a"]), "`a`");
        assert_eq!(alternatives(&["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
