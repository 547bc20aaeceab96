//! Diffs: of plans, of two states, and their bounds.

use proptest::prelude::*;

use super::*;
use crate::edit::{Edit, plan};

fn planned(bytes: &[u8], old: &str, new: &str, encoding: Option<Encoding>) -> Diff {
    let edit = Edit { old, new, replace_all: true, encoding };
    of_plan(bytes, &plan(bytes, &edit).expect("a reading"), "a.txt", Extent::Excerpt)
}

/// The text without its two lines of names.
fn body(diff: &Diff) -> &str {
    diff.text.strip_prefix("--- a/a.txt\n+++ b/a.txt\n").expect("the names")
}

#[test]
fn a_plan_is_shown_with_the_lines_around_it() {
    let ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
    let table: &[(&str, &str, &str, &str, &str)] = &[
        ("a line", ten, "5", "five", "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"),
        ("at the beginning", ten, "1\n2", "one\n2", "@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n"),
        ("inserted", ten, "5\n", "5\nx\ny\n", "@@ -3,6 +3,8 @@\n 3\n 4\n 5\n+x\n+y\n 6\n 7\n 8\n"),
        ("deleted", ten, "5\n6\n", "", "@@ -2,8 +2,6 @@\n 2\n 3\n 4\n-5\n-6\n 7\n 8\n 9\n"),
        ("two places that are near", "a\nb\nc\na\n", "a", "x", "@@ -1,4 +1,4 @@\n-a\n+x\n b\n c\n-a\n+x\n"),
        (
            "two places that are apart",
            "a\n1\n2\n3\n4\n5\n6\n7\na\n",
            "a",
            "x\ny",
            "@@ -1,4 +1,5 @@\n-a\n+x\n+y\n 1\n 2\n 3\n@@ -6,4 +7,5 @@\n 5\n 6\n 7\n-a\n+x\n+y\n",
        ),
        ("two in a line", "a-a\n", "a", "b", "@@ -1 +1 @@\n-a-a\n+b-b\n"),
        (
            "no newline at the end",
            "a\nb",
            "b",
            "c",
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
        ),
        (
            "a newline at the end gone",
            "a\nb\n",
            "b\n",
            "b",
            "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n",
        ),
        ("all gone", "a\n", "a\n", "", "@@ -1 +0,0 @@\n-a\n"),
        ("joined lines", "a\nb\nc\n", "a\nb", "ab", "@@ -1,3 +1,2 @@\n-a\n-b\n+ab\n c\n"),
        (
            "a part of a line to the middle of another",
            "ab\ncd\ne\n",
            "b\nc",
            "x",
            "@@ -1,3 +1,2 @@\n-ab\n-cd\n+axd\n e\n",
        ),
        ("crlf that stays", "a\r\nb\r\n", "b", "c", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
        ("crlf that goes", "a\r\nb\r\n", "a\r\n", "a\n", "@@ -1,2 +1,2 @@\n-a␍\n+a\n b\n"),
        ("crlf that comes", "a\nb\n", "a\n", "a\r\n", "@@ -1,2 +1,2 @@\n-a\n+a␍\n b\n"),
        (
            "blank lines gone, the rest joined",
            "a\n\nb\n",
            "\n",
            "",
            "@@ -1,3 +1 @@\n-a\n-\n-b\n+ab\n\\ No newline at end of file\n",
        ),
        (
            "put at the end of a last line without end",
            "x,x",
            "x",
            "x;",
            "@@ -1 +1 @@\n-x,x\n\\ No newline at end of file\n+x;,x;\n\\ No newline at end of file\n",
        ),
        (
            "ends of lines gone",
            "f(1);\n\n\ng(2);\n",
            ";\n",
            ";",
            "@@ -1,4 +1,3 @@\n f(1);\n-\n \n-g(2);\n+g(2);\n\\ No newline at end of file\n",
        ),
        ("a mark", "\u{FEFF}a\nb\n", "b", "c", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
    ];
    for (name, file, old, new, expected) in table {
        assert_eq!(body(&planned(file.as_bytes(), old, new, None)), *expected, "{name}");
    }
}

#[test]
fn added_and_removed_lines_are_counted() {
    let diff = planned(b"a\nb\nc\na\n", "a", "x\ny", None);
    assert_eq!((diff.added, diff.removed, diff.is_cut), (4, 2, false));
    let diff = between(Some(b"a\nb\n"), Some(b"b\nc\nd"), "a.txt", Extent::Excerpt);
    assert_eq!((diff.added, diff.removed, diff.is_cut), (2, 1, false));
}

#[test]
fn a_plan_is_shown_in_the_encoding_of_the_file() {
    let sjis = Encoding::SHIFT_JIS;
    let file = sjis.encode("表\nkey\nソ\n").expect("in the encoding");
    let expected = "@@ -1,3 +1,3 @@\n 表\n-key\n+値\n ソ\n";
    assert_eq!(body(&planned(&file, "key", "値", Some(sjis))), expected);
    let utf16 = Encoding::UTF_16LE.encode("\u{FEFF}表\r\nkey\r\nソ\r\n").expect("in the encoding");
    assert_eq!(body(&planned(&utf16, "key", "値", None)), expected);
    let broken = planned(b"\xff\xe9a\nkey\nb\x80\n", "key", "value", None);
    assert_eq!(body(&broken), "@@ -1,3 +1,3 @@\n \\xff\\xe9a\n-key\n+value\n b\\x80\n");
    let broken = planned(b"\x95\x5c\x80\xffa\nkey\n", "key", "value", Some(sjis));
    assert_eq!(body(&broken), "@@ -1,2 +1,2 @@\n 表\u{80}\\xffa\n-key\n+value\n");
}

#[test]
fn two_states_are_compared() {
    type Row<'a> = (&'a str, Option<&'a [u8]>, Option<&'a [u8]>, &'a str);
    let table: &[Row<'_>] = &[
        ("nothing", Some(b"a\n"), Some(b"a\n"), ""),
        ("no file", None, None, ""),
        ("created", None, Some(b"a\nb\n"), "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n"),
        ("created empty", None, Some(b""), "--- /dev/null\n+++ b/a.txt\n"),
        (
            "deleted",
            Some(b"a"),
            None,
            "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n",
        ),
        (
            "changed",
            Some(b"a\nb\nc\n"),
            Some(b"a\nx\nc\n"),
            "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n",
        ),
        ("put before", Some(b"b\n"), Some(b"a\nb\n"), "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n+a\n b\n"),
        ("put behind", Some(b"a\n"), Some(b"a\na\n"), "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n a\n+a\n"),
        (
            "ended",
            Some(b"a"),
            Some(b"a\n"),
            "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n",
        ),
        (
            "other endings",
            Some(b"a\r\nb\r\n"),
            Some(b"a\nb\n"),
            "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-a␍\n-b␍\n+a\n+b\n",
        ),
        ("binary", Some(b"\0\x01\xff"), Some(b"a\n"), "--- a/a.txt\n+++ b/a.txt\nbinary files differ\n"),
        (
            "a mark gone",
            Some(b"\xEF\xBB\xBFa\n"),
            Some(b"a\n"),
            "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-\\u{feff}a\n+a\n",
        ),
        (
            "another encoding",
            Some(b"\xFF\xFEa\0\n\0b\0\n\0"),
            Some(b"a\nc\n"),
            "--- a/a.txt\n+++ b/a.txt\nencoding utf-16le -> utf-8\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
        ),
    ];
    for (name, old, new, expected) in table {
        assert_eq!(between(*old, *new, "a.txt", Extent::Excerpt).text, *expected, "{name}");
    }
}

#[test]
fn a_diff_is_cut_at_its_bounds() {
    let many = "a\n".repeat(1000);
    let diff = planned(many.as_bytes(), "a", "b", None);
    assert_eq!((diff.added, diff.removed, diff.is_cut), (1000, 1000, true));
    assert_eq!(diff.text.lines().count(), 401);
    // 2 names, 1 place, 2000 changes.
    assert_eq!(diff.text.lines().last(), Some("… 1603 more lines are left out"));
    let wide = format!("{}\n", "a".repeat(900)).repeat(100);
    let diff = between(None, Some(wide.as_bytes()), "a.txt", Extent::Excerpt);
    assert!(diff.is_cut && diff.text.len() <= (32 << 10) + 60, "{}", diff.text.len());
    let small = between(None, Some(b"a\n"), "a.txt", Extent::Excerpt);
    assert!(!small.is_cut);
}

#[test]
fn a_long_line_is_cut_around_its_change() {
    let line = format!("{}OLD{}", "a".repeat(5000), "b".repeat(5000));
    let diff = planned(line.as_bytes(), "OLD", "NEW", None);
    let removed = diff.text.lines().find(|line| line.starts_with("-…")).expect("a cut line");
    assert_eq!(removed, format!("-…{}OLD{}…", "a".repeat(100), "b".repeat(897)));
    assert!(diff.is_cut);
}

#[test]
fn what_is_too_large_is_only_counted() {
    let old: String = (0..15_000).map(|number| format!("{number}\n")).collect();
    let new: String = (0..15_000).map(|number| format!("x{number}\n")).collect();
    let diff = between(Some(old.as_bytes()), Some(new.as_bytes()), "a.txt", Extent::Excerpt);
    assert_eq!((diff.added, diff.removed, diff.is_cut), (15_000, 15_000, true));
    assert_eq!(body(&diff), "too large to compare: 15000 lines removed, 15000 lines added\n");
    let one = between(
        Some(old.as_bytes()),
        Some(old.replace("\n7777\n", "\nx\n").as_bytes()),
        "a.txt",
        Extent::Excerpt,
    );
    assert!(!one.text.contains("too large"), "positive control");
}

#[test]
fn what_is_decided_on_is_written_out_whole() {
    let many = "a\n".repeat(1000);
    let edit = Edit { old: "a", new: "b", replace_all: true, encoding: None };
    let diff = of_plan(many.as_bytes(), &plan(many.as_bytes(), &edit).unwrap(), "a.txt", Extent::Whole);
    assert_eq!((diff.text.lines().count(), diff.is_cut), (2003, false));
    assert_eq!(patched(&many, &diff.text), "b\n".repeat(1000));
    let old: String = (0..15_000).map(|number| format!("{number}\n")).collect();
    let new: String = (0..15_000).map(|number| format!("x{number}\n")).collect();
    let diff = between(Some(old.as_bytes()), Some(new.as_bytes()), "a.txt", Extent::Whole);
    assert_eq!((diff.added, diff.removed, diff.is_cut), (15_000, 15_000, false));
    assert_eq!(patched(&old, &diff.text), new);
    let line = format!("{}OLD{}\n", "a".repeat(5000), "b".repeat(5000));
    let diff = to_text(Some(line.as_bytes()), &line.replace("OLD", "NEW"), "a.txt", Extent::Whole);
    assert_eq!(patched(&line, &diff.text), line.replace("OLD", "NEW"));
}

#[test]
fn what_is_not_seen_whole_says_so() {
    let endless = "a\n".repeat(100_001);
    let table = [
        ("many lines", between(None, Some(endless.as_bytes()), "f", Extent::Whole)),
        ("many bytes", to_text(None, &"a".repeat(9 << 20), "f", Extent::Whole)),
        ("no text", between(Some(b"\0\x01\xff"), Some(b"\0\x02\xff"), "f", Extent::Whole)),
        ("no text any more", between(Some(b"a\n"), Some(b"\0\x02\xff"), "f", Extent::Whole)),
    ];
    for (name, diff) in table {
        assert!(diff.is_cut, "{name}: {:.80}", diff.text);
    }
}

#[test]
fn a_name_is_one_line() {
    assert_eq!(between(None, Some(b""), "a\nb", Extent::Excerpt).text, "--- /dev/null\n+++ b/a\\nb\n");
}

/// `12,3` as the number of lines before the place, and how many lines it has.
fn place(span: &str) -> (usize, usize) {
    let (first, count) = span.split_once(',').unwrap_or((span, "1"));
    let (first, count): (usize, usize) =
        (first.parse().expect("a line"), count.parse().expect("how many lines"));
    (if count == 0 { first } else { first - 1 }, count)
}

/// The new file, made of the old one and a diff that is not cut. Every line kept or removed must be in the
/// old file at its place, every header must be right, and every hunk must change something.
fn patched(old: &str, diff: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let mut new: Vec<String> = vec![];
    let mut read = 0;
    let mut lines = diff.lines().skip(2).peekable();
    while let Some(head) = lines.next() {
        let spans = head.strip_prefix("@@ -").and_then(|head| head.strip_suffix(" @@")).expect("a header");
        let (from, to) = spans.split_once(" +").expect("two places");
        let ((old_at, old_count), (new_at, new_count)) = (place(from), place(to));
        assert!(old_at >= read, "`{head}` begins before line {read} ends\n{diff}");
        new.extend(old[read..old_at].iter().map(|line| (*line).to_owned()));
        assert_eq!(new.len(), new_at, "`{head}` is elsewhere in the new file\n{diff}");
        read = old_at;
        let mut is_change = false;
        while let Some(line) = lines.next_if(|line| !line.starts_with('@')) {
            let end = lines.next_if(|next| next.starts_with('\\')).map_or("\n", |_| "");
            let (sign, text) = line.split_at(1);
            let line = format!("{text}{end}");
            is_change |= sign != " ";
            if sign != "+" {
                assert_eq!(old.get(read), Some(&line.as_str()), "`{head}`\n{diff}");
                read += 1;
            }
            match sign {
                "+" | " " => new.push(line),
                _ => assert_eq!(sign, "-", "{diff}"),
            }
        }
        assert!(is_change, "`{head}` changes nothing\n{diff}");
        assert_eq!((read - old_at, new.len() - new_at), (old_count, new_count), "`{head}`\n{diff}");
    }
    new.extend(old[read..].iter().map(|line| (*line).to_owned()));
    for line in new.iter().rev().skip(1) {
        assert!(line.ends_with('\n'), "`{line}` runs into the next line\n{diff}");
    }
    new.concat()
}

/// Short lines of few kinds, with and without an end of the last one.
fn file() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["", "a", "b", "aa", "x,x", "é", "表;", "f(1);"]);
    let lines = prop_oneof![
        2 => prop::collection::vec(line.clone(), 0..6),
        1 => prop::collection::vec(line, 0..40),
    ];
    (lines, any::<bool>()).prop_map(|(lines, is_ended)| {
        let text = lines.join("\n");
        if is_ended && !lines.is_empty() { text + "\n" } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_diff_of_a_plan_leads_from_one_file_to_the_other(
        file in file(), old in "[abxé表,;\n]{1,3}", new in "[abcé,;\n]{0,4}", all in any::<bool>(),
    ) {
        for old in [&old, &old[old.floor_char_boundary(old.len() - 1)..]] {
            let edit = Edit { old, new: &new, replace_all: all, encoding: None };
            let Ok(plan) = plan(file.as_bytes(), &edit) else { continue };
            let diff = of_plan(file.as_bytes(), &plan, "a.txt", Extent::Excerpt);
            prop_assert_eq!(patched(&file, &diff.text).into_bytes(), plan.apply(file.as_bytes()));
            let lines = |sign: &str| diff.text.lines().skip(2).filter(|line| line.starts_with(sign)).count();
            prop_assert_eq!((diff.added, diff.removed), (lines("+"), lines("-")));
        }
    }

    #[test]
    fn a_diff_of_a_plan_is_the_same_in_units_of_two_bytes(
        file in file(), old in "[abxé,;\n]{1,2}", new in "[abcé,;\n]{0,3}",
    ) {
        let edit = Edit { old: &old, new: &new, replace_all: true, encoding: None };
        let narrow = format!("\u{FEFF}{file}").into_bytes();
        let wide = Encoding::UTF_16LE.encode(&format!("\u{FEFF}{file}")).expect("in the encoding");
        let [narrow, wide] = [narrow, wide].map(|bytes| {
            plan(&bytes, &edit).ok().map(|plan| of_plan(&bytes, &plan, "a.txt", Extent::Excerpt))
        });
        prop_assert_eq!(narrow, wide);
    }

    #[test]
    fn a_diff_of_two_states_leads_from_one_to_the_other(old in file(), new in file()) {
        let diff = between(Some(old.as_bytes()), Some(new.as_bytes()), "a.txt", Extent::Excerpt);
        prop_assert_eq!(patched(&old, &diff.text), new);
    }

    #[test]
    fn a_diff_of_two_states_with_few_changes_leads_from_one_to_the_other(
        old in file(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), with in file(),
    ) {
        let at = |index: prop::sample::Index| old.floor_char_boundary(index.index(old.len() + 1));
        let (from, to) = (at(from).min(at(to)), at(from).max(at(to)));
        let new = format!("{}{with}{}", &old[..from], &old[to..]);
        let diff = between(Some(old.as_bytes()), Some(new.as_bytes()), "a.txt", Extent::Excerpt);
        prop_assert_eq!(patched(&old, &diff.text), new);
    }

    #[test]
    fn any_bytes_can_be_compared(
        old in prop::option::of(prop::collection::vec(any::<u8>(), 0..60)),
        new in prop::option::of(prop::collection::vec(any::<u8>(), 0..60)),
    ) {
        let _ = between(old.as_deref(), new.as_deref(), "a.txt", Extent::Excerpt);
        if let (Some(mut old), Some(mut new)) = (old, new) {
            // The same as UTF-16.
            old.splice(0..0, [0xFF, 0xFE]);
            new.splice(0..0, [0xFF, 0xFE]);
            let _ = between(Some(&old), Some(&new), "a.txt", Extent::Excerpt);
        }
    }
}

#[test]
fn a_written_text_is_shown_as_it_was_given() {
    let hidden = "#!/bin/sh\n# \u{1b}$B$3\u{1b}(B\n";
    for (name, old, shown) in [
        ("new", None, "@@ -0,0 +1,2 @@\n+#!/bin/sh\n+# \u{1b}$B$3\u{1b}(B\n"),
        ("over text", Some(&b"#!/bin/sh\n"[..]), "@@ -1 +1,2 @@\n #!/bin/sh\n+# \u{1b}$B$3\u{1b}(B\n"),
        (
            "over a binary file",
            Some(b"\0\x01"),
            "the old file is binary\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+# \u{1b}$B$3\u{1b}(B\n",
        ),
    ] {
        let diff = to_text(old, hidden, "f", Extent::Excerpt);
        let head = if old.is_some() { "--- a/f\n+++ b/f\n" } else { "--- /dev/null\n+++ b/f\n" };
        assert_eq!(diff.text, format!("{head}{shown}"), "{name}");
    }
    assert_eq!(to_text(Some(b"same\n"), "same\n", "f", Extent::Excerpt), Diff::default());
}
