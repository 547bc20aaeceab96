//! Globs, matched component by component while walking.
//!
//! Invariant: a folder is entered only when a file below it can match, and it is always known which
//! components of a path the pattern names letter by letter.

use crate::bounds::{GLOB_ALTERNATIVES_MAX, PATTERN_BYTES_MAX};
use crate::wildcard::Wildcard;

/// A glob: what `{a,b}` stands for, each a list of components.
#[derive(Debug)]
pub(crate) struct Pattern {
    alternatives: Vec<Alternative>,
    /// Whether it matches folders, and files not.
    is_of_folders: bool,
}

#[derive(Debug)]
struct Alternative {
    parts: Vec<Part>,
    /// How many parts at the beginning are names without a wildcard.
    named_len: usize,
}

/// A component of a glob.
#[derive(Debug)]
enum Part {
    /// `**`: any number of folders, or every file below when it is the last part.
    AnyFolders,
    /// A name without a wildcard.
    Name(Vec<u8>),
    /// `*`.
    Any,
    /// `*` and text after it.
    Suffix(Vec<u8>),
    /// Anything else. `text` as it stands matches too, so that a folder called `[id]` is found.
    Glob { wildcard: Box<Wildcard>, text: Vec<u8> },
}

/// How far a pattern has been followed: `at` is the part that the next name has to match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    alternative: usize,
    at: usize,
}

/// Which matches count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All of them.
    Any,
    /// Of a part that begins with a dot, as hidden names do.
    Dotted,
    /// Of a name without a wildcard, and so is every part before it.
    Named,
}

impl Pattern {
    /// The pattern that matches every file.
    pub(crate) fn everything() -> Self {
        Self { alternatives: vec![Alternative::new(vec![Part::AnyFolders])], is_of_folders: false }
    }

    /// Reads a glob that may be about folders: with a wildcard and a `/` at its end it matches the folders
    /// themselves, at the place that it names (`*/`, `crates/*/`, `**/tests/`). Any other is read as
    /// [`Self::parse`] does; `src/` names a folder, and what is in it is meant.
    ///
    /// Fails with the reason.
    pub(crate) fn parse_with_folders(text: &str) -> Result<Self, String> {
        let folders = text.trim_end_matches('/');
        if folders.len() == text.len() || folders.starts_with('!') || !folders.contains(['*', '?', '[']) {
            return Self::parse(text);
        }
        Ok(Self { is_of_folders: true, ..Self::parse(&format!("/{folders}"))? })
    }

    /// Whether it matches folders, and files not.
    pub(crate) fn is_of_folders(&self) -> bool {
        self.is_of_folders
    }

    /// Reads a glob. Without a `/` it matches at any depth.
    ///
    /// Fails with the reason.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > PATTERN_BYTES_MAX {
            return Err(format!("it is longer than {PATTERN_BYTES_MAX} bytes"));
        }
        if text.starts_with('!') {
            return Err(
                "a leading `!` is not supported; a name that begins with it is written `[!]`".to_owned()
            );
        }
        let mut alternatives = vec![];
        for expanded in expand_braces(text)? {
            let parts = read_parts(&expanded)?;
            if text.contains('/') {
                alternatives.push(Alternative::new(parts));
                continue;
            }
            let [part] = <[Part; 1]>::try_from(parts)
                .map_err(|_| "it is empty; `**` matches every file".to_owned())?;
            match part {
                Part::AnyFolders => alternatives.push(Alternative::new(vec![part])),
                // The file directly in the search root is named exactly, the others are not.
                Part::Name(name) => {
                    alternatives.push(Alternative::new(vec![Part::Name(name.clone())]));
                    alternatives.push(Alternative::new(vec![Part::AnyFolders, Part::Name(name)]));
                }
                Part::Any | Part::Suffix(_) | Part::Glob { .. } => {
                    alternatives.push(Alternative::new(vec![Part::AnyFolders, part]));
                }
            }
        }
        Ok(Self { alternatives, is_of_folders: false })
    }

    /// The places in the search root.
    pub(crate) fn start(&self) -> Vec<Place> {
        let mut places = vec![];
        for alternative in 0..self.alternatives.len() {
            self.push(Place { alternative, at: 0 }, &mut places);
        }
        places
    }

    /// Whether a file, or a folder where folders are meant, with this name in a folder with `places` matches.
    pub(crate) fn is_match(&self, places: &[Place], name: &[u8], reach: Reach) -> bool {
        places.iter().any(|place| {
            let alternative = &self.alternatives[place.alternative];
            place.at + 1 == alternative.parts.len() && alternative.is_match(place.at, name, reach)
        })
    }

    /// Whether a file below the folder `name` in a folder with `places` can match.
    pub(crate) fn can_enter(&self, places: &[Place], name: &[u8]) -> bool {
        places.iter().any(|place| self.follow(*place, name, Reach::Any).is_some())
    }

    /// The places in the folder `name` of a folder with `places`; none when nothing below it can match.
    pub(crate) fn enter(&self, places: &[Place], name: &[u8], reach: Reach) -> Vec<Place> {
        let mut entered = Vec::with_capacity(places.len());
        for place in places {
            if let Some(next) = self.follow(*place, name, reach) {
                self.push(next, &mut entered);
            }
        }
        entered
    }

    /// Whether a place in the folder `name` is reached by names without a wildcard alone.
    pub(crate) fn is_named(&self, places: &[Place], name: &[u8]) -> bool {
        places.iter().any(|place| self.follow(*place, name, Reach::Named).is_some())
    }

    /// The names that can match in a folder with `places`, sorted; None when it has to be listed.
    pub(crate) fn names<'a>(&'a self, places: &[Place]) -> Option<Vec<&'a [u8]>> {
        let mut names = vec![];
        for place in places {
            match &self.alternatives[place.alternative].parts[place.at] {
                Part::Name(name) => names.push(name.as_slice()),
                Part::AnyFolders | Part::Any | Part::Suffix(_) | Part::Glob { .. } => return None,
            }
        }
        names.sort_unstable();
        names.dedup();
        Some(names)
    }

    fn follow(&self, place: Place, name: &[u8], reach: Reach) -> Option<Place> {
        let alternative = &self.alternatives[place.alternative];
        if !alternative.is_match(place.at, name, reach) {
            return None;
        }
        if matches!(alternative.parts[place.at], Part::AnyFolders) {
            return Some(place);
        }
        (place.at + 1 < alternative.parts.len()).then_some(Place { at: place.at + 1, ..place })
    }

    fn push(&self, place: Place, places: &mut Vec<Place>) {
        let parts = &self.alternatives[place.alternative].parts;
        let is_any = matches!(parts[place.at], Part::AnyFolders) && place.at + 1 < parts.len();
        let after = is_any.then_some(Place { at: place.at + 1, ..place });
        for place in std::iter::once(place).chain(after) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
}

impl Alternative {
    fn new(parts: Vec<Part>) -> Self {
        let named_len = parts.iter().take_while(|part| matches!(part, Part::Name(_))).count();
        Self { parts, named_len }
    }

    fn is_match(&self, at: usize, name: &[u8], reach: Reach) -> bool {
        let part = &self.parts[at];
        let is_reached = match reach {
            Reach::Any => true,
            Reach::Dotted => part.begins_with_dot(),
            Reach::Named => at < self.named_len,
        };
        is_reached && part.is_match(name)
    }
}

impl Part {
    fn is_match(&self, name: &[u8]) -> bool {
        match self {
            Self::AnyFolders | Self::Any => true,
            Self::Name(text) => name == text,
            Self::Suffix(text) => name.ends_with(text),
            Self::Glob { wildcard, text } => wildcard.is_match(name) || name == text,
        }
    }

    fn begins_with_dot(&self) -> bool {
        match self {
            Self::AnyFolders | Self::Any | Self::Suffix(_) => false,
            Self::Name(text) => text.starts_with(b"."),
            Self::Glob { text, .. } => text.starts_with(b".") || text.starts_with(b"\\."),
        }
    }
}

fn read_parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = vec![];
    for component in text.split('/').filter(|component| !component.is_empty() && *component != ".") {
        if component == ".." {
            return Err(GOES_UP.to_owned());
        }
        let part = read_part(component)?;
        let is_repeated = matches!(part, Part::AnyFolders) && matches!(parts.last(), Some(Part::AnyFolders));
        if !is_repeated {
            parts.push(part);
        }
    }
    if parts.is_empty() {
        return Err("it is empty; `**` matches every file".to_owned());
    }
    if text.ends_with('/') && !matches!(parts.last(), Some(Part::AnyFolders)) {
        parts.push(Part::AnyFolders);
    }
    Ok(parts)
}

const GOES_UP: &str = "`..` is not supported; search the folder above instead";

fn read_part(text: &str) -> Result<Part, String> {
    let is_wild = |text: &str| text.contains(['*', '?', '[', '{', '}', '\\']);
    match text {
        "**" => return Ok(Part::AnyFolders),
        "*" => return Ok(Part::Any),
        _ => {}
    }
    if let Some(name) = without_escapes(text) {
        // With escapes, what is written as something else may still be these.
        if name == "." || name == ".." {
            return Err(GOES_UP.to_owned());
        }
        return Ok(Part::Name(name.into_bytes()));
    }
    if let Some(suffix) = text.strip_prefix('*')
        && !is_wild(suffix)
    {
        return Ok(Part::Suffix(suffix.as_bytes().to_vec()));
    }
    Ok(Part::Glob { wildcard: Box::new(Wildcard::new(text)?), text: text.as_bytes().to_vec() })
}

/// The name that a component without a wildcard stands for.
fn without_escapes(text: &str) -> Option<String> {
    let mut name = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '*' | '?' | '[' | '{' | '}' => return None,
            '\\' => name.push(rest.next()?),
            other => name.push(other),
        }
    }
    Some(name)
}

/// What a glob with `{a,b}` stands for, in the order written.
fn expand_braces(text: &str) -> Result<Vec<String>, String> {
    let mut pending = vec![text.to_owned()];
    let mut expanded = vec![];
    while let Some(text) = pending.pop() {
        let Some(group) = first_group(&text)? else {
            expanded.push(text);
            continue;
        };
        for choice in group.choices.iter().rev() {
            pending.push(format!("{}{choice}{}", &text[..group.begin], &text[group.end..]));
        }
        if pending.len() + expanded.len() > GLOB_ALTERNATIVES_MAX {
            return Err(format!("its `{{…}}` stand for more than {GLOB_ALTERNATIVES_MAX} globs"));
        }
    }
    Ok(expanded)
}

struct Group<'a> {
    begin: usize,
    end: usize,
    choices: Vec<&'a str>,
}

fn first_group(text: &str) -> Result<Option<Group<'_>>, String> {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut begin, mut choice) = (0, 0_usize, 0, 0);
    let mut choices = vec![];
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'[' => at = class_end(bytes, at),
            b'{' => {
                if depth == 0 {
                    (begin, choice) = (at, at + 1);
                }
                depth += 1;
            }
            b',' if depth == 1 => {
                choices.push(&text[choice..at]);
                choice = at + 1;
            }
            b'}' if depth == 1 => {
                choices.push(&text[choice..at]);
                return Ok(Some(Group { begin, end: at + 1, choices }));
            }
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    if depth > 0 {
        return Err("a `{` is not closed; `[{]` stands for the character".to_owned());
    }
    Ok(None)
}

/// Where the class that begins at `at` ends; `at` itself when it has no end.
fn class_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    if matches!(bytes.get(end), Some(b'!' | b'^')) {
        end += 1;
    }
    // A `]` in the first place stands for itself.
    end += 1;
    memchr::memchr(b']', bytes.get(end..).unwrap_or_default()).map_or(at, |found| end + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `pattern` matches a path, followed as a walk does.
    fn is_match(pattern: &Pattern, path: &str) -> bool {
        let mut places = pattern.start();
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        for folder in folders.split('/').filter(|folder| !folder.is_empty()) {
            assert_eq!(
                pattern.can_enter(&places, folder.as_bytes()),
                !pattern.enter(&places, folder.as_bytes(), Reach::Any).is_empty()
            );
            places = pattern.enter(&places, folder.as_bytes(), Reach::Any);
        }
        pattern.is_match(&places, name.as_bytes(), Reach::Any)
    }

    #[test]
    fn a_glob_matches_what_it_says_and_nothing_else() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("*.rs", &["a.rs", "b/c/a.rs", ".rs"], &["a.rst", "a.rs/b"]),
            ("Cargo.toml", &["Cargo.toml", "a/Cargo.toml"], &["Cargo.toml/a", "a/xCargo.toml"]),
            ("/Cargo.toml", &["Cargo.toml"], &["a/Cargo.toml"]),
            ("./src/*.rs", &["src/a.rs"], &["a.rs", "src/b/a.rs", "b/src/a.rs"]),
            ("src/**/*.rs", &["src/a.rs", "src/b/c/a.rs"], &["a.rs", "x/src/a.rs"]),
            ("**/src/**", &["src/a", "x/src/b/a"], &["src", "x/a"]),
            ("**/**/a", &["a", "b/a", "b/c/a"], &["a/b"]),
            ("src/", &["src/a", "src/b/a"], &["src", "a/src"]),
            ("a?c.txt", &["abc.txt", "x/abc.txt"], &["ac.txt", "a/c.txt"]),
            ("[a-c]x", &["ax", "cx", "[a-c]x"], &["dx"]),
            ("[!a]x", &["bx"], &["ax"]),
            ("app/[id]/page.tsx", &["app/[id]/page.tsx", "app/i/page.tsx"], &["app/id/page.tsx"]),
            (r"app/\[id\]/*", &["app/[id]/a"], &["app/i/a"]),
            ("{src,tests}/*.rs", &["src/a.rs", "tests/a.rs"], &["a.rs", "other/a.rs"]),
            ("*.{ts,tsx}", &["a.ts", "b/a.tsx"], &["a.t", "a.tss"]),
            ("a{,b}", &["a", "ab"], &["b"]),
            ("{a,{b,c}/d}", &["a", "b/d", "c/d"], &["d", "b"]),
            ("[{]a", &["{a", "x/{a"], &["a"]),
            (r"\*", &["*", "x/*"], &["a"]),
            ("日本*", &["日本語.txt"], &["日.txt"]),
            ("A*", &["Ab"], &["ab"]),
            ("日?.md", &["日本.md"], &["日.md", "日本本.md"]),
            ("?.rs", &["é.rs", "日.rs", "😀.rs", "a.rs"], &["éé.rs", ".rs"]),
            ("??.rs", &["éa.rs", "ab.rs"], &["é.rs", "a.rs"]),
            ("[é].rs", &["é.rs"], &["e.rs", "è.rs"]),
            ("[!a].rs", &["é.rs", "b.rs"], &["a.rs", "éé.rs"]),
            ("[^é]x", &["èx", "ax"], &["éx"]),
            ("[à-ü]x", &["éx"], &["ax", "Àx"]),
            ("[a-é]x", &["zx", "~x", "éx"], &["Zx", "日x"]),
            ("[]é]x", &["]x", "éx"], &["ax"]),
            ("[[:alpha:]é]x", &["ax", "éx"], &["1x"]),
            ("*[é]*日?", &["aéb日c", "é日本"], &["e日本", "é日"]),
            (r"?\?\xc3", &["é?xc3"], &["éxxc3", "éé?xc3", "?Ã"]),
            ("?[\\\\]xc3", &[r"é\xc3"], &["éÃ"]),
            ("a?c\n", &["aéc\n", "a\nc\n"], &["aéc"]),
            ("?.{rs,日}", &["é.rs", "é.日"], &["é.md"]),
            ("é*?", &["é日", "éab"], &["é"]),
        ];
        for (text, matching, others) in cases {
            let pattern = Pattern::parse(text).unwrap();
            for path in *matching {
                assert!(is_match(&pattern, path), "{text} {path}");
            }
            for path in *others {
                assert!(!is_match(&pattern, path), "{text} {path}");
            }
        }
    }

    /// A glob, names that match and names that do not.
    type Named<'a> = (&'a str, &'a [&'a [u8]], &'a [&'a [u8]]);

    #[test]
    fn a_name_that_is_no_text_is_matched_by_its_bytes() {
        let cases: &[Named<'_>] = &[
            ("a?", &[b"a\xFF"], &[b"a\xFF\xFF"]),
            ("[!a]?", &[b"\xFFa"], &[b"a\xFF"]),
            ("???é", &[b"\xFFab\xC3\xA9"], &[b"\xFFa\xC3\xA9"]),
            ("???", &[b"\xC3\xA9\xFF"], &[b"a\xC3\xA9\xFF"]),
        ];
        for (text, matching, others) in cases {
            let pattern = Pattern::parse(text).unwrap();
            let places = pattern.start();
            for name in *matching {
                assert!(pattern.is_match(&places, name, Reach::Any), "{text} {name:?}");
            }
            for name in *others {
                assert!(!pattern.is_match(&places, name, Reach::Any), "{text} {name:?}");
            }
        }
    }

    #[test]
    fn a_bad_glob_is_refused_with_the_reason() {
        let many = "{a,b}".repeat(7);
        let long = "a".repeat(PATTERN_BYTES_MAX + 1);
        let cases = [
            ("", "it is empty; `**` matches every file"),
            ("./", "it is empty; `**` matches every file"),
            ("../a", GOES_UP),
            (r"\.\./a", GOES_UP),
            (r"a/.\./b", GOES_UP),
            (r"{\..,b}/a", GOES_UP),
            (r"\./a", GOES_UP),
            ("{a,b", "a `{` is not closed; `[{]` stands for the character"),
            (
                "[a",
                "unclosed character class; missing ']'; a special character stands for itself in brackets, as in `[[]`",
            ),
            ("!a", "a leading `!` is not supported; a name that begins with it is written `[!]`"),
            (&many, "its `{…}` stand for more than 64 globs"),
            (&long, "it is longer than 16384 bytes"),
        ];
        for (text, reason) in cases {
            assert_eq!(Pattern::parse(text).map(drop), Err(reason.to_owned()), "{text}");
        }
        assert!(Pattern::parse(&"{a,b}".repeat(6)).is_ok());
    }

    #[test]
    fn only_a_folder_that_can_hold_a_match_is_entered() {
        let pattern = Pattern::parse("src/*/a.rs").unwrap();
        let root = pattern.start();
        assert!(!pattern.can_enter(&root, b"tests"));
        let src = pattern.enter(&root, b"src", Reach::Any);
        let below = pattern.enter(&src, b"x", Reach::Any);
        assert_eq!(below.len(), 1);
        assert!(!pattern.can_enter(&below, b"y"));
        assert_eq!(pattern.names(&root), Some(vec![&b"src"[..]]));
        assert_eq!(pattern.names(&src), None);
    }

    #[test]
    fn a_hidden_name_is_reached_by_a_dot_that_is_written() {
        let cases = [
            ("**/.env", ".env", true),
            ("**/.e*", ".env", true),
            (r"**/\.e*", ".env", true),
            ("{.env,a}", ".env", true),
            ("**/*env", ".env", false),
            ("**/*", ".env", false),
            ("**", ".env", false),
            ("**/[.]env", ".env", false),
        ];
        for (text, name, is_reached) in cases {
            let pattern = Pattern::parse(text).unwrap();
            let places = pattern.start();
            assert!(pattern.is_match(&places, name.as_bytes(), Reach::Any), "{text}");
            assert_eq!(pattern.is_match(&places, name.as_bytes(), Reach::Dotted), is_reached, "{text}");
        }
    }

    #[test]
    fn a_name_is_exact_only_behind_exact_names() {
        let pattern = Pattern::parse("target/debug/*.log").unwrap();
        let target = pattern.enter(&pattern.start(), b"target", Reach::Named);
        assert!(pattern.is_named(&target, b"debug"));
        let debug = pattern.enter(&target, b"debug", Reach::Named);
        assert!(pattern.is_match(&debug, b"a.log", Reach::Any));
        assert!(!pattern.is_match(&debug, b"a.log", Reach::Named));
        let pattern = Pattern::parse("*/debug/a.log").unwrap();
        assert!(pattern.enter(&pattern.start(), b"target", Reach::Named).is_empty());
        let pattern = Pattern::parse("**/debug/a.log").unwrap();
        assert!(!pattern.is_named(&pattern.start(), b"debug"));
    }
}
