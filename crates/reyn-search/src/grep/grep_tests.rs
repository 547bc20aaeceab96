//! Tests of finding lines.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use super::*;
use crate::tree::Tree;

fn request(pattern: &str) -> GrepRequest {
    GrepRequest {
        pattern: pattern.to_owned(),
        glob: None,
        is_case_sensitive: true,
        mode: GrepMode::Content,
        before: 0,
        after: 0,
        include_ignored: false,
        offset: 0,
        max_results: 1000,
        output_bytes_max: 1 << 20,
    }
}

fn find(root: &Root<'_>, request: &GrepRequest) -> Grepped {
    find_within(root, request, &Bounds::default())
}

fn find_within(root: &Root<'_>, request: &GrepRequest, bounds: &Bounds) -> Grepped {
    grep_within(root, request, &|_| true, &CancellationToken::new(), bounds).unwrap()
}

/// Results as a terminal would show them: `path:number:text`, with `-` for context.
fn shown(found: &Grepped) -> Vec<String> {
    let lines = found.files.iter().flat_map(|file| file.lines.iter().map(move |line| (file, line)));
    lines
        .map(|(file, line)| {
            let mark = if line.is_match { ':' } else { '-' };
            format!("{}{mark}{}{mark}{}", file.path.display(), line.number, line.text)
        })
        .collect()
}

fn skipped(found: &Grepped, skipped: Skipped) {
    assert_eq!(found.skipped, skipped);
}

#[test]
fn an_expression_finds_its_lines_and_no_others() {
    // Content, expression, whether case counts, numbers of the lines found.
    let cases: &[(&str, &str, bool, &[u64])] = &[
        ("ab\ncd\n", "b", true, &[1]),
        ("ab\ncd", "d$", true, &[2]),
        ("ab\ncd\n", "^c", true, &[2]),
        ("ab\r\ncd\r\n", "b$", true, &[1]),
        ("ab\r\ncd\r\n", "^ab$", true, &[1]),
        ("ab\r\ncd\r\n", r"\r$", true, &[1, 2]),
        ("ab\ncd\r\n", r"\r\n", true, &[2]),
        ("ab\r\n\r\ncd\r\n", "^$", true, &[2]),
        ("a\n\nb\n", "^$", true, &[2]),
        ("a\nb", "", true, &[1, 2]),
        ("a\nb\n", r"b\n|\z", true, &[2]),
        ("a\n", r"(?s)\z", true, &[]),
        ("", "", true, &[]),
        ("Ab\nab\n", "ab", true, &[2]),
        ("Ab\nab\n", "ab", false, &[1, 2]),
        ("ÄB\nÖ\n", "äb", false, &[1]),
        ("ÄB\nÖ\n", "äb", true, &[]),
        ("日本語\n中文\n", "本.", true, &[1]),
        ("foo_bar\nfoo bar\n", r"\bbar", true, &[2]),
        ("a1\nb\n", r"\d", true, &[1]),
        ("x\ta\n", r"x\sa", true, &[1]),
        ("a\nb\n", r"a\sb", true, &[]),
        ("a.c\nabc\n", r"a\.c", true, &[1]),
        ("a\nb\nc\n", r"a\nb", true, &[1, 2]),
        ("a\r\nb\r\nc\r\n", r"a\nb", true, &[1, 2]),
        ("a\r\nb\r\nc\r\n", r"a\r\nb", true, &[1, 2]),
        ("a\nb\nc\n", r"a\r\nb", true, &[]),
        ("a\nb\nc\nd\n", "(?s)b.*c", true, &[2, 3]),
        ("a\nb\nc\nd\n", r"b[\s\S]*?c", true, &[2, 3]),
        ("a\nb\nc\nd\n", "b.*c", true, &[]),
        ("\u{FEFF}abc\n", "^abc", true, &[1]),
        ("a\u{85}b\n", "b", true, &[1]),
    ];
    for (content, pattern, is_case_sensitive, numbers) in cases {
        let tree = Tree::new(&[("file", content.as_bytes())]);
        for below in ["", "file"] {
            let found = find(
                &tree.root(below),
                &GrepRequest { is_case_sensitive: *is_case_sensitive, ..request(pattern) },
            );
            let lines = found.files.iter().flat_map(|file| &file.lines);
            let found: Vec<u64> = lines.filter(|line| line.is_match).map(|line| line.number).collect();
            assert_eq!(found, *numbers, "{content:?} {pattern}");
        }
    }
}

#[test]
fn a_line_is_shown_without_its_ending() {
    let tree = Tree::new(&[("a", b"one\r\ntwo x\nthree x\r\n"), ("b/c", b"x")]);
    let found = find(&tree.root(""), &request("x"));
    assert_eq!(shown(&found), ["a:2:two x", "a:3:three x", "b/c:1:x"]);
    assert_eq!((found.matches, found.files_with_matches, found.has_more), (3, 2, false));
    assert_eq!(found.files.iter().map(|file| file.matches).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn context_of_near_matches_is_shown_once() {
    let tree = Tree::new(&[("a", b"1\n2\nx3\n4\nx5\n6\n7\n8\n9\nx10\n")]);
    let with = |before, after| {
        let found = find(&tree.root(""), &GrepRequest { before, after, ..request("x") });
        shown(&found).iter().map(|line| line[1..].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(with(0, 0), [":3:x3", ":5:x5", ":10:x10"]);
    assert_eq!(with(1, 0), ["-2-2", ":3:x3", "-4-4", ":5:x5", "-9-9", ":10:x10"]);
    assert_eq!(with(0, 1), [":3:x3", "-4-4", ":5:x5", "-6-6", ":10:x10"]);
    assert_eq!(
        with(2, 2),
        ["-1-1", "-2-2", ":3:x3", "-4-4", ":5:x5", "-6-6", "-7-7", "-8-8", "-9-9", ":10:x10"]
    );
}

#[test]
fn files_are_counted_or_only_named() {
    let tree = Tree::new(&[("a", b"x\nx\n"), ("b", b"y\n"), ("c", b"xx\n")]);
    let with = |mode| {
        let found = find(&tree.root(""), &GrepRequest { mode, ..request("x") });
        let files = found.files.iter().map(|file| (file.path.to_str().unwrap().to_owned(), file.matches));
        assert!(found.files.iter().all(|file| file.lines.is_empty()));
        (files.collect::<Vec<_>>(), found.matches, found.files_with_matches)
    };
    assert_eq!(with(GrepMode::Count), (vec![("a".to_owned(), 2), ("c".to_owned(), 1)], 3, 2));
    assert_eq!(with(GrepMode::FilesWithMatches), (vec![("a".to_owned(), 1), ("c".to_owned(), 1)], 2, 2));
}

/// Search root, glob, files found, how many are hidden and ignored.
type Chosen<'a> = (&'a str, Option<&'a str>, &'a [&'a str], [u64; 2]);

#[test]
fn a_glob_and_the_rules_choose_the_files() {
    let tree = Tree::new(&[
        (".gitignore", b"*.log\ntarget\n"),
        (".hidden", b"x"),
        ("a.rs", b"x"),
        ("b.log", b"x"),
        ("src/c.rs", b"x"),
        ("target/d.rs", b"x"),
    ]);
    let cases: &[Chosen<'_>] = &[
        ("", None, &["a.rs", "src/c.rs"], [2, 2]),
        ("", Some("*.rs"), &["a.rs", "src/c.rs"], [0, 1]),
        ("", Some("src/*.rs"), &["src/c.rs"], [0, 0]),
        ("", Some("target/**"), &["target/d.rs"], [0, 0]),
        ("", Some("*.{log,rs}"), &["a.rs", "src/c.rs"], [0, 2]),
        ("target", None, &["target/d.rs"], [0, 0]),
        ("b.log", None, &["b.log"], [0, 0]),
        (".hidden", None, &[".hidden"], [0, 0]),
        ("b.log", Some("*.rs"), &["b.log"], [0, 0]),
    ];
    for (below, glob, paths, [hidden, ignored]) in cases {
        let glob = glob.map(str::to_owned);
        let found = find(&tree.root(below), &GrepRequest { glob: glob.clone(), ..request("x") });
        let found_paths: Vec<&str> = found.files.iter().map(|file| file.path.to_str().unwrap()).collect();
        assert_eq!(found_paths, *paths, "{below} {glob:?}");
        skipped(&found, Skipped { hidden: *hidden, ignored: *ignored, ..Skipped::default() });
    }
    let found = find(&tree.root(""), &GrepRequest { include_ignored: true, ..request("x") });
    assert_eq!((found.matches, found.skipped), (5, Skipped::default()));
}

fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{FEFF}{text}").encode_utf16().flat_map(to_bytes).collect()
}

/// Text in Shift_JIS, long enough to be told from other encodings, without a byte order mark.
fn shift_jis(lines: usize) -> (String, Vec<u8>) {
    let text: String =
        (1..=lines).map(|number| format!("これは日本語の文書です。{number}行目\r\n")).collect();
    let bytes = encoding_rs::SHIFT_JIS.encode(&text).0.into_owned();
    (text, bytes)
}

#[test]
fn text_of_any_encoding_is_searched_as_text() {
    let (_, japanese) = shift_jis(30);
    let little = utf16("one\r\n日本語 x\r\n", u16::to_le_bytes);
    let big = utf16("one\r\n日本語 x\r\n", u16::to_be_bytes);
    let tree = Tree::new(&[
        ("big", &big),
        ("damaged", b"a\xFFb x\n"),
        ("japanese", &japanese),
        ("little", &little),
        ("plain", "日本語 x\n".as_bytes()),
    ]);
    let found = find(&tree.root(""), &request("日本.* x$|7行目$"));
    assert_eq!(
        shown(&found),
        [
            "big:2:日本語 x",
            "japanese:7:これは日本語の文書です。7行目",
            "japanese:17:これは日本語の文書です。17行目",
            "japanese:27:これは日本語の文書です。27行目",
            "little:2:日本語 x",
            "plain:1:日本語 x",
        ]
    );
    let encodings: Vec<_> = found.files.iter().map(|file| file.encoding).collect();
    assert_eq!(encodings, [Some("utf-16be"), Some("shift_jis"), Some("utf-16le"), None]);
    skipped(&found, Skipped::default());
    assert_eq!(find(&tree.root("damaged"), &request("x$")).matches, 1);
}

#[test]
fn a_large_file_is_searched_as_it_is_read() {
    let (text, japanese) = shift_jis(1800);
    let utf8 = format!("\u{FEFF}{text}");
    let tree = Tree::new(&[("japanese", &japanese), ("utf8", utf8.as_bytes())]);
    let whole = find(&tree.root(""), &request("^これは日本語.*1799行目$"));
    assert_eq!(
        shown(&whole),
        ["japanese:1799:これは日本語の文書です。1799行目", "utf8:1799:これは日本語の文書です。1799行目"]
    );
    // Also where the bound falls into a character.
    for whole_file_bytes_max in [0, 1001, 65_535, 66_000] {
        let bounds = Bounds { whole_file_bytes_max, ..Bounds::default() };
        let count = GrepRequest { mode: GrepMode::Count, ..request("^これは日本語.*行目$") };
        assert_eq!(find_within(&tree.root(""), &count, &bounds).matches, 3600);
    }
}

#[test]
fn a_file_that_is_no_text_is_skipped() {
    let with_nul_at = |at: usize| [&b"x\n"[..], &vec![b'a'; at - 2], b"\0"].concat();
    let (early, late) = (with_nul_at(8191), with_nul_at(8192));
    let tree = Tree::new(&[("binary", b"x\0x"), ("early", &early), ("late", &late), ("text", b"x")]);
    let found = find(&tree.root(""), &request("^x"));
    assert_eq!(shown(&found), ["late:1:x", "text:1:x"]);
    skipped(&found, Skipped { binary: 2, ..Skipped::default() });
}

#[test]
fn utf_16_is_text_also_without_a_mark() {
    let little: Vec<u8> = "one x\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let tree = Tree::new(&[("utf16", &little), ("zeros", &[b'x', 0, 0, 0])]);
    let found = find(&tree.root(""), &request("x"));
    assert_eq!(shown(&found), ["utf16:1:one x"]);
    skipped(&found, Skipped { binary: 1, ..Skipped::default() });
}

#[test]
fn a_file_without_a_size_is_read_to_its_end() {
    let slash = File::open("/").unwrap();
    let below = format!("proc/{}/status", std::process::id());
    let root = Root { folder: slash.as_fd(), below: Path::new(&below), path: Path::new("/") };
    let found = find(&root, &request("^Name:"));
    assert_eq!((found.matches, found.files[0].lines[0].number), (1, 1));
}

#[test]
fn links_and_pipes_are_not_searched() {
    let outside = Tree::new(&[("secret", b"x")]);
    let tree = Tree::new(&[("a", b"x"), ("b", b"y")]);
    symlink(".", tree.path("loop")).unwrap();
    symlink(outside.path("secret"), tree.path("secret")).unwrap();
    tree.pipe("pipe");
    let found = find(&tree.root(""), &request("x"));
    assert_eq!(shown(&found), ["a:1:x"]);
    skipped(&found, Skipped::default());
    for below in ["secret", "loop/a", "pipe"] {
        assert!(
            grep(&tree.root(below), &request("x"), &|_| true, &CancellationToken::new()).is_err(),
            "{below}"
        );
    }
    assert_eq!(find(&tree.root("a"), &request("x")).matches, 1);
}

#[test]
fn a_file_that_becomes_a_link_is_not_read() {
    let outside = Tree::new(&[("secret", b"x")]);
    let tree = Tree::new(&[("a", b"x"), ("b", b"x"), ("c", b"x")]);
    let admits = |found: &crate::Found<'_>| {
        if found.path.ends_with("a") {
            std::fs::remove_file(tree.path("b")).unwrap();
            symlink(outside.path("secret"), tree.path("b")).unwrap();
        }
        true
    };
    let found = grep(&tree.root(""), &request("x"), &admits, &CancellationToken::new()).unwrap();
    assert_eq!(shown(&found), ["a:1:x", "c:1:x"]);
    skipped(&found, Skipped { unreadable: 1, ..Skipped::default() });
}

#[test]
fn names_that_are_no_text_are_searched() {
    let tree = Tree::new(&[]);
    tree.write(b"fol\xFFder/a\xFE", b"x");
    let found = find(&tree.root(""), &request("x"));
    assert_eq!(found.files[0].path, Path::new(OsStr::from_bytes(b"fol\xFFder/a\xFE")));
}

#[test]
fn a_file_that_is_not_admitted_is_not_read() {
    let tree = Tree::new(&[("a", b"x"), ("b/c", b"x")]);
    std::fs::hard_link(tree.path("a"), tree.path("d")).unwrap();
    let asked = Mutex::new(vec![]);
    let admits = |found: &crate::Found<'_>| {
        asked.lock().unwrap().push((found.path.to_owned(), found.id));
        found.id.is_some_and(|id| id.links == 1)
    };
    let found = grep(&tree.root(""), &request("x"), &admits, &CancellationToken::new()).unwrap();
    assert_eq!(shown(&found), ["b/c:1:x"]);
    skipped(&found, Skipped { not_permitted: 2, ..Skipped::default() });
    let id = |path: &str| {
        let data = std::fs::metadata(tree.path(path)).unwrap();
        Some(crate::FileId { device: data.dev(), inode: data.ino(), links: data.nlink() })
    };
    let real = tree.path("").canonicalize().unwrap();
    let expected: Vec<_> = ["a", "b/c", "d"].map(|path| (real.join(path), id(path))).to_vec();
    assert_eq!(asked.into_inner().unwrap(), expected);
}

/// Files with different numbers of matches, some of them near each other.
fn many(files: u32) -> Tree {
    let tree =
        Tree::new(&[(".hidden", b"x"), ("binary", b"x\0\0"), ("m/.hidden", b"x"), ("z/binary", b"x\0\0")]);
    for file in 0..files {
        let lines: String =
            (0..40_u32)
                .map(|line| {
                    if (file * 7 + line * line) % 11 == 3 {
                        format!("x{line}\n")
                    } else {
                        format!("{line}\n")
                    }
                })
                .collect();
        let lines = if file % 3 == 0 { String::new() } else { lines };
        tree.write(format!("{}/{file}", ["a", "m", "z"][file as usize % 2]).as_bytes(), lines.as_bytes());
    }
    tree
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let tree = many(400);
    for mode in [GrepMode::Content, GrepMode::FilesWithMatches, GrepMode::Count] {
        for (offset, max_results) in [(0, 1), (0, 50), (137, 20), (0, 10_000), (700, 10_000)] {
            let request = GrepRequest { mode, offset, max_results, before: 1, after: 2, ..request("x") };
            let with = |threads_max, files_before_threads| {
                let bounds = Bounds { threads_max, files_before_threads, ..Bounds::default() };
                find_within(&tree.root(""), &request, &bounds)
            };
            let one = with(1, 0);
            assert!(
                !one.files.is_empty()
                    || (offset, mode) == (700, GrepMode::Count)
                    || (offset, mode) == (700, GrepMode::FilesWithMatches)
            );
            for threads in 1..=4 {
                assert_eq!(with(threads, 0), one);
            }
            assert_eq!(with(4, 64), one);
        }
    }
    let all = find(&tree.root(""), &request("x"));
    skipped(&all, Skipped { hidden: 2, binary: 2, ..Skipped::default() });
    let first = find(&tree.root(""), &GrepRequest { max_results: 1, ..request("x") });
    skipped(&first, Skipped { hidden: 1, ..Skipped::default() });
}

#[test]
fn pages_together_are_one_large_page() {
    let tree = many(60);
    let results = |found: &Grepped| -> Vec<String> {
        shown(found).into_iter().filter(|line| line.contains(':')).collect()
    };
    for (before, after) in [(0, 0), (1, 3)] {
        let request = GrepRequest { before, after, max_results: 10_000, ..request("x") };
        let whole = find(&tree.root(""), &request);
        for (max_results, output_bytes_max) in
            [(1, 1 << 20), (7, 1 << 20), (1000, 1 << 20), (50, 300), (50, 1)]
        {
            let (mut pages, mut offset) = (vec![], 0);
            loop {
                let page = find(
                    &tree.root(""),
                    &GrepRequest { offset, max_results, output_bytes_max, ..request.clone() },
                );
                let page_results = results(&page);
                assert_eq!(
                    page.files.iter().map(|file| file.matches).sum::<u64>(),
                    page_results.len() as u64
                );
                assert!(page_results.len() <= max_results);
                pages.extend(page_results);
                assert_eq!(page.next_offset.is_some(), page.has_more);
                let Some(next) = page.next_offset else {
                    assert_eq!(
                        (page.matches, page.files_with_matches),
                        (whole.matches, whole.files_with_matches)
                    );
                    break;
                };
                assert_eq!(next, pages.len());
                offset = next;
            }
            assert_eq!(pages, results(&whole));
        }
    }
}

#[test]
fn a_page_shows_the_context_of_its_results_alone() {
    let tree = Tree::new(&[("a", b"x1\n2\nx3\n4\nx5\n6\n")]);
    let with = |offset, max_results| {
        shown(&find(
            &tree.root(""),
            &GrepRequest { offset, max_results, before: 2, after: 2, ..request("x") },
        ))
    };
    assert_eq!(with(0, 1), ["a:1:x1", "a-2-2", "a-3-x3"]);
    assert_eq!(with(1, 1), ["a-1-x1", "a-2-2", "a:3:x3", "a-4-4", "a-5-x5"]);
    assert_eq!(with(2, 1), ["a-3-x3", "a-4-4", "a:5:x5", "a-6-6"]);
    assert_eq!(with(3, 1), Vec::<String>::new());
}

#[test]
fn output_ends_before_it_is_too_large() {
    let tree = Tree::new(&[("a", b"x1\nx2\nx3\n"), ("b", b"x4\n")]);
    let with = |mode, output_bytes_max| {
        let found = find(&tree.root(""), &GrepRequest { mode, output_bytes_max, ..request("x") });
        (found.files.iter().map(|file| file.matches).collect::<Vec<_>>(), found.next_offset)
    };
    // A file is 1 byte and 8, a line 2 and 8.
    assert_eq!(with(GrepMode::Content, 58), (vec![3, 1], None));
    assert_eq!(with(GrepMode::Content, 57), (vec![3], Some(3)));
    assert_eq!(with(GrepMode::Content, 38), (vec![2], Some(2)));
    assert_eq!(with(GrepMode::Content, 0), (vec![1], Some(1)));
    assert_eq!(with(GrepMode::Count, 18), (vec![3, 1], None));
    assert_eq!(with(GrepMode::Count, 17), (vec![3], Some(1)));
    assert_eq!(with(GrepMode::Count, 0), (vec![3], Some(1)));
}

#[test]
fn lines_that_no_page_can_show_are_not_kept() {
    let tree = Tree::new(&[]);
    let request = GrepRequest { output_bytes_max: 100, before: 1, after: 1, ..request("x") };
    let matching = Matching::new(&request).unwrap();
    let (bounds, cancel) = (Bounds::default(), CancellationToken::new());
    let watch = Watch::start(&cancel, bounds.time_max);
    let root = tree.root("");
    let search = Search {
        root: &root,
        request: &request,
        matching: &matching,
        admits: &|_| true,
        watch: &watch,
        bounds: &bounds,
    };
    tree.write(b"a", "x\ny\n".repeat(900).as_bytes());
    let folder = Arc::new(OwnedFd::from(tree.handle().try_clone().unwrap()));
    let job = Job { folder, path: b"a".to_vec(), name_begin: 0, skipped: Skipped::default() };
    let with = |begin, len| {
        let outcome = search.file_search().search(&job, Window { begin, len });
        (outcome.results, outcome.window, outcome.rows.first().map(|row| row.number), outcome.rows.len())
    };
    assert_eq!(with(0, 3), (900, Window { begin: 0, len: 3 }, Some(1), 6));
    assert_eq!(with(0, 900), (900, Window { begin: 0, len: 6 }, Some(1), 12));
    assert_eq!(with(500, 400), (900, Window { begin: 500, len: 6 }, Some(1000), 13));
}

#[test]
fn a_long_line_is_cut_around_its_match() {
    let line = format!("{}needle{}\n", "あ".repeat(3000), "い".repeat(3000));
    let tree = Tree::new(&[("a", line.as_bytes())]);
    let found = find(&tree.root(""), &request("needle"));
    let text = &found.files[0].lines[0].text;
    assert_eq!(*text, format!("…{}needle{}…", "あ".repeat(246), "い".repeat(246)));
    assert_eq!(text.chars().count(), 500);
}

#[test]
fn a_line_that_is_too_long_ends_its_file_and_keeps_what_came_before() {
    let tree = Tree::new(&[("b", b"needle\n")]);
    // A sparse file: its long line has no end, and takes no space.
    let mut file = OpenOptions::new().create_new(true).write(true).open(tree.path("a")).unwrap();
    write!(file, "needle\n{}", "a".repeat(10_000)).unwrap();
    file.set_len(128 << 20).unwrap();
    let found = find(&tree.root(""), &request("needle"));
    assert_eq!(shown(&found), ["a:1:needle", "b:1:needle"]);
    skipped(&found, Skipped { long_lines: 1, ..Skipped::default() });
    let across = find(&tree.root(""), &request(r"needle\n"));
    assert_eq!(shown(&across), ["b:1:needle"]);
    skipped(&across, Skipped { too_large: 1, ..Skipped::default() });
}

#[test]
fn a_match_across_many_lines_is_shown_in_part_and_counts_once() {
    let lines: String = (1..=100).map(|number| format!("{number}\n")).collect();
    let tree = Tree::new(&[("a", lines.as_bytes())]);
    let found = find(&tree.root(""), &request("(?s)^10$.*^90$"));
    let numbers: Vec<u64> = found.files[0].lines.iter().map(|line| line.number).collect();
    assert_eq!(numbers, (10..60).collect::<Vec<u64>>());
    assert_eq!((found.matches, found.has_more), (1, false));
    // The second match begins on a line of the first that is not shown.
    let found = find(&tree.root(""), &request("(?s)^10$.*^9|9\n100"));
    let numbers: Vec<u64> = found.files[0].lines.iter().map(|line| line.number).collect();
    assert_eq!(numbers, (10..60).chain(99..=100).collect::<Vec<u64>>());
}

/// Content, expression, lines of each match.
type Across<'a> = (String, &'a str, Vec<&'a [u64]>);

#[test]
fn each_match_across_lines_is_a_result_with_its_own_lines() {
    let lines: Vec<[u64; 1]> = (1..=60).map(|number| [number]).collect();
    let sixty: Vec<&[u64]> = lines.iter().map(|line| &line[..]).collect();
    let crlf = format!("{}bar\n", "foo\r\n".repeat(60));
    let lf = format!("{}bar\n", "foo\n".repeat(60));
    let text = |text: &str| text.to_owned();
    let cases: Vec<Across<'_>> = vec![
        (crlf.clone(), r"\r$", sixty.clone()),
        (crlf.clone(), r"\r\n", sixty.clone()),
        (crlf.clone(), r"(?s)foo$", sixty.clone()),
        (lf.clone(), r"foo\n", sixty.clone()),
        (lf, r"(?s)^foo", sixty),
        (text("a\nb\na\nb\n"), r"a\nb\n", vec![&[1, 2], &[3, 4]]),
        (text("a\nb a\nb\n"), r"a\nb", vec![&[1, 2], &[2, 3]]),
        (text("a a\nb\n"), "(?s)a", vec![&[1], &[1]]),
        (text("a\n\nb\n"), r"\n", vec![&[1], &[2], &[3]]),
        (text("a\n\n\nb\n"), r"\n\n", vec![&[1, 2]]),
        // Matches of no width.
        (text("ab\nc\n"), "(?s)x*", vec![&[1], &[1], &[1], &[2], &[2]]),
        (text("日\n"), "(?s)x*", vec![&[1], &[1]]),
        (text("a\n\nb\n\n"), "(?s)^$", vec![&[2], &[4]]),
        (text("a\nb"), r"(?s)\z", vec![&[2]]),
        (text("a\nb\n"), r"(?s)\z", vec![]),
        (text("a\nb\n"), "(?s).*", vec![&[1, 2]]),
        // The text begins and ends once, and a match does not begin a line.
        (text("x\nx\n"), r"\Ax\n", vec![&[1]]),
        (text("x\nx\n"), r"(?s)\Ax", vec![&[1]]),
        (text("x\nx\n"), r"x\n\z", vec![&[2]]),
        (text("aa\n"), r"(?s)^a", vec![&[1]]),
        (text("ab\nc\n"), r"a|^b\n|b\nc", vec![&[1], &[1, 2]]),
    ];
    for (content, pattern, results) in cases {
        let tree = Tree::new(&[("a", content.as_bytes())]);
        let count = find(&tree.root(""), &GrepRequest { mode: GrepMode::Count, ..request(pattern) });
        assert_eq!(count.matches, results.len() as u64, "{content:?} {pattern}");
        let mut numbers: Vec<u64> = results.concat();
        numbers.dedup();
        let matching = |found: &Grepped| -> Vec<u64> {
            let lines = found.files.iter().flat_map(|file| &file.lines).filter(|line| line.is_match);
            lines.map(|line| line.number).collect()
        };
        for (before, after) in [(0, 0), (1, 2)] {
            let request = GrepRequest { before, after, ..request(pattern) };
            let whole = find(&tree.root(""), &request);
            assert_eq!(matching(&whole), numbers, "{content:?} {pattern}");
            assert_eq!((whole.matches, whole.next_offset), (results.len() as u64, None));
            let shown = whole.files.iter().flat_map(|file| &file.lines).map(|line| line.number);
            assert!(shown.is_sorted_by(|left, right| left < right), "{content:?} {pattern}");
            for (offset, result) in results.iter().enumerate() {
                let page = find(&tree.root(""), &GrepRequest { offset, max_results: 1, ..request.clone() });
                assert_eq!(matching(&page), *result, "{content:?} {pattern} {offset}");
                let next = (offset + 1 < results.len()).then_some(offset + 1);
                assert_eq!(page.next_offset, next, "{content:?} {pattern} {offset}");
            }
        }
    }
}

#[test]
fn a_page_of_matches_across_lines_shows_its_own_and_their_context() {
    let tree = Tree::new(&[("a", b"1\nimport a;\nimport b;\n4\n5\n6\nimport c;\nimport d;\n9\n")]);
    let with = |offset, max_results, before, after| {
        let request = GrepRequest { offset, max_results, before, after, ..request(r"import \w;\n") };
        let found = find(&tree.root(""), &request);
        let lines: String = shown(&found).iter().map(|line| format!("{} ", &line[1..])).collect();
        (lines, found.next_offset)
    };
    let cases = [
        ((0, 1, 0, 0), ":2:import a; ", Some(1)),
        ((1, 2, 0, 0), ":3:import b; :7:import c; ", Some(3)),
        ((3, 9, 0, 0), ":8:import d; ", None),
        ((0, 1, 1, 1), "-1-1 :2:import a; -3-import b; ", Some(1)),
        ((1, 1, 2, 1), "-1-1 -2-import a; :3:import b; -4-4 ", Some(2)),
        ((1, 2, 1, 1), "-2-import a; :3:import b; -4-4 -6-6 :7:import c; -8-import d; ", Some(3)),
        ((0, 9, 0, 2), ":2:import a; :3:import b; -4-4 -5-5 :7:import c; :8:import d; -9-9 ", None),
    ];
    for ((offset, max_results, before, after), lines, next) in cases {
        assert_eq!(with(offset, max_results, before, after), (lines.to_owned(), next));
    }
}

#[test]
fn matches_that_share_a_line_fit_the_output_together() {
    let tree = Tree::new(&[("a", b"x x x\nx\n")]);
    let with = |offset, output_bytes_max| {
        let found = find(&tree.root(""), &GrepRequest { offset, output_bytes_max, ..request("(?s)x") });
        (shown(&found), found.files.iter().map(|file| file.matches).sum(), found.next_offset)
    };
    let (first, second) = ("a:1:x x x".to_owned(), "a:2:x".to_owned());
    // The file is 1 byte and 8, its lines 5 and 1 and 8 each.
    assert_eq!(with(0, 31), (vec![first.clone(), second.clone()], 4, None));
    assert_eq!(with(0, 30), (vec![first.clone()], 3, Some(3)));
    assert_eq!(with(0, 0), (vec![first], 1, Some(1)));
    assert_eq!(with(3, 0), (vec![second], 1, None));
}

#[test]
fn time_that_is_up_is_said() {
    let tree = Tree::new(&[("a", b"x")]);
    let bounds = Bounds { time_max: Duration::ZERO, ..Bounds::default() };
    for below in ["", "a"] {
        let found = find_within(&tree.root(below), &request("x"), &bounds);
        assert_eq!(found.files, []);
        let reason = "the search was ended after 0 s; name a smaller folder or a more exact pattern";
        assert_eq!(found.partial.as_deref(), Some(reason));
    }
    assert_eq!(find(&tree.root(""), &request("x")).partial, None);
}

#[test]
fn a_bound_of_the_walk_is_said_and_what_was_found_is_kept() {
    let tree = Tree::new(&[("a/1", b"x"), ("a/2", b"x"), ("b", b"x")]);
    let bounds = Bounds { folder_entries_max: 1, ..Bounds::default() };
    let found = find_within(&tree.root("a"), &request("x"), &bounds);
    let reason = "only 1 entries of the folder `a` were looked at; it has more";
    assert_eq!((found.matches, found.partial.as_deref()), (1, Some(reason)));
    assert_eq!(find(&tree.root("a"), &request("x")).partial, None);
}

#[test]
fn cancelling_is_noticed_inside_a_file() {
    let content = "x\n".repeat(200_000);
    let tree = Tree::new(&[("a", content.as_bytes())]);
    for pattern in ["x", "y"] {
        let request = GrepRequest { mode: GrepMode::Count, ..request(pattern) };
        let cancel = CancellationToken::new();
        // Nothing but the search of the file itself looks at the token after this.
        let cancels = |_: &crate::Found<'_>| {
            cancel.cancel();
            true
        };
        assert_eq!(
            grep(&tree.root("a"), &request, &cancels, &cancel),
            Err(SearchError::Cancelled),
            "{pattern}"
        );
        assert!(grep(&tree.root("a"), &request, &|_| true, &CancellationToken::new()).is_ok());
        assert_eq!(grep(&tree.root(""), &request, &|_| true, &cancel), Err(SearchError::Cancelled));
    }
}

#[test]
fn cancelling_ends_the_reading_of_an_endless_file() {
    let cancel = CancellationToken::new();
    let watch = Watch::start(&cancel, Duration::from_secs(3600));
    let mut reader = content::Watched::new(std::io::repeat(b'a'), &watch);
    let mut buffer = [0; 16];
    assert_eq!(std::io::Read::read(&mut reader, &mut buffer).unwrap(), 16);
    cancel.cancel();
    assert!(std::io::Read::read(&mut reader, &mut buffer).is_err());
    assert_eq!(reader.stop, Some(Stop::Cancelled));
}

#[test]
fn every_text_can_be_searched_for_as_it_is() {
    let text: String = (' '..='~').collect();
    let tree = Tree::new(&[("a", text.as_bytes()), ("b", "日本(語)[x]".as_bytes())]);
    assert_eq!(find(&tree.root(""), &request(&crate::literal(&text))).matches, 1);
    assert_eq!(find(&tree.root(""), &request(&crate::literal("日本(語)[x]"))).matches, 1);
    assert_eq!(crate::literal("#[test]"), r"\#\[test\]");
}
