//! Tests of finding files.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use super::*;
use crate::tree::Tree;

fn request(pattern: &str) -> GlobRequest {
    GlobRequest { pattern: pattern.to_owned(), include_ignored: false, offset: 0, max_results: 1000 }
}

fn find(root: &Root<'_>, request: &GlobRequest) -> Globbed {
    glob(root, request, &|_| true, &CancellationToken::new()).unwrap()
}

fn names(found: &Globbed) -> Vec<&str> {
    found.paths.iter().map(|path| path.to_str().unwrap()).collect()
}

/// A tree with every kind of rule in it.
fn ruled() -> Tree {
    Tree::new(&[
        (".gitignore", b"# rules\n*.log\r\n/target\n!keep.log\n[\n"),
        (".ignore", b"!special.log\nsecret.txt\n"),
        ("a.rs", b""),
        ("b.log", b""),
        ("keep.log", b""),
        ("special.log", b""),
        ("secret.txt", b""),
        (".env", b""),
        (".github/workflows/ci.yml", b""),
        ("target/debug/x.log", b""),
        ("target/debug/y.rs", b""),
        ("src/.gitignore", b"!b.log\ngen/\n!.shown\n"),
        ("src/.shown", b""),
        ("src/b.log", b""),
        ("src/gen/z.rs", b""),
        ("src/lib.rs", b""),
        ("vendor/.git/config", b""),
        ("vendor/.git/info/exclude", b"excluded.txt\n"),
        ("vendor/excluded.txt", b""),
        ("vendor/secret.txt", b""),
        ("vendor/v.log", b""),
    ])
}

#[test]
fn rules_hide_what_they_say_and_exact_names_bring_it_back() {
    let tree = ruled();
    // Search root, pattern, files found, hidden, ignored.
    let cases: &[(&str, &str, &[&str], u64, u64)] = &[
        (
            "",
            "**",
            &["a.rs", "keep.log", "special.log", "src/.shown", "src/b.log", "src/lib.rs", "vendor/v.log"],
            5,
            6,
        ),
        ("", "*.log", &["keep.log", "special.log", "src/b.log", "vendor/v.log"], 1, 3),
        ("", "*.rs", &["a.rs", "src/lib.rs"], 1, 2),
        ("", "/*.rs", &["a.rs"], 0, 0),
        ("", "target/debug/*.log", &["target/debug/x.log"], 0, 0),
        ("", "target/**/*.log", &["target/debug/x.log"], 0, 0),
        ("", "target/debug/y.rs", &["target/debug/y.rs"], 0, 0),
        ("", "{target,src}/**/*.rs", &["src/lib.rs", "target/debug/y.rs"], 0, 1),
        ("", "*/debug/*.log", &[], 1, 1),
        ("", ".github/**/*.yml", &[".github/workflows/ci.yml"], 0, 0),
        ("", "**/.github/**/*.yml", &[".github/workflows/ci.yml"], 0, 2),
        ("", "**/*.yml", &[], 1, 2),
        ("", "**/.env", &[".env"], 1, 2),
        ("", ".env", &[".env"], 1, 2),
        ("", ".e*", &[".env"], 1, 2),
        ("", "*env", &[], 2, 2),
        ("", "b.log", &["b.log", "src/b.log"], 1, 2),
        ("", "secret.txt", &["secret.txt"], 1, 3),
        ("target", "**", &["target/debug/x.log", "target/debug/y.rs"], 0, 0),
        ("target/debug", "*.log", &["target/debug/x.log"], 0, 0),
        (".github", "*", &[".github/workflows/ci.yml"], 0, 0),
        ("src", "**", &["src/.shown", "src/b.log", "src/lib.rs"], 1, 1),
        ("src/gen", "**", &["src/gen/z.rs"], 0, 0),
        ("vendor", "*.txt", &[], 0, 2),
        ("vendor", "*.log", &["vendor/v.log"], 0, 0),
        ("vendor", "secret.txt", &["vendor/secret.txt"], 0, 0),
        ("", "vendor/.git/*", &["vendor/.git/config"], 0, 0),
        ("", "**/.git/*", &[], 1, 2),
        ("vendor/.git", "*", &["vendor/.git/config", "vendor/.git/info/exclude"], 0, 0),
        ("", "missing.txt", &[], 1, 2),
        ("", "src", &[], 1, 2),
    ];
    for (below, pattern, paths, hidden, ignored) in cases {
        let found = find(&tree.root(below), &request(pattern));
        assert_eq!(
            (names(&found), found.skipped),
            (paths.to_vec(), Skipped { hidden: *hidden, ignored: *ignored, ..Skipped::default() }),
            "{below} {pattern}"
        );
    }
}

#[test]
fn a_rule_of_gitignore_goes_before_one_of_exclude_wherever_they_are() {
    let tree = Tree::new(&[
        (".git/info/exclude", b"!a.log\n*.txt\n"),
        (".gitignore", b"*.log\n!a.txt\n"),
        ("below/a.log", b""),
        ("below/a.txt", b""),
        ("below/b.txt", b""),
    ]);
    let found = find(&tree.root(""), &request("below/*"));
    assert_eq!((names(&found), found.skipped.ignored), (vec!["below/a.txt"], 2));
}

#[test]
fn a_name_that_no_rule_hides_switches_no_rule_off() {
    let tree = Tree::new(&[(".gitignore", b"*.log\n"), ("src/a.log", b""), ("src/a.rs", b"")]);
    for (below, pattern) in [("", "src/*"), ("src", "*")] {
        let found = find(&tree.root(below), &request(pattern));
        assert_eq!((names(&found), found.skipped.ignored), (vec!["src/a.rs"], 1));
    }
}

#[test]
fn everything_but_git_folders_is_found_when_ignored_files_are_included() {
    let tree = ruled();
    let found = find(&tree.root(""), &GlobRequest { include_ignored: true, ..request("**") });
    assert_eq!(found.paths.len(), 19);
    assert!(names(&found).contains(&"target/debug/x.log"));
    assert!(!names(&found).iter().any(|path| path.contains(".git/")));
    assert_eq!(found.skipped, Skipped::default());
}

#[test]
fn paths_are_sorted_by_component() {
    let tree =
        Tree::new(&[("a/b", b""), ("a.b", b""), ("a-b/c", b""), ("B", b""), ("a/b.c/d", b""), ("ab", b"")]);
    let found = find(&tree.root(""), &request("**"));
    assert_eq!(names(&found), ["B", "a/b", "a/b.c/d", "a-b/c", "a.b", "ab"]);
    assert!(found.paths.is_sorted());
}

#[test]
fn pages_together_are_one_large_page() {
    let tree = ruled();
    let whole = find(&tree.root(""), &request("**"));
    let mut paths = vec![];
    let mut pages = 0;
    loop {
        let page =
            find(&tree.root(""), &GlobRequest { offset: paths.len(), max_results: 3, ..request("**") });
        paths.extend(page.paths);
        pages += 1;
        if !page.has_more {
            break;
        }
    }
    assert_eq!((paths, pages), (whole.paths, 3));
    // The page that is exactly full knows that nothing follows.
    let page = find(&tree.root(""), &GlobRequest { max_results: 7, ..request("**") });
    assert_eq!((page.paths.len(), page.has_more), (7, false));
}

#[test]
fn links_pipes_and_sockets_are_passed_over() {
    let outside = Tree::new(&[("secret.txt", b"")]);
    let tree = Tree::new(&[("folder/a.txt", b"")]);
    symlink(".", tree.path("loop")).unwrap();
    symlink(outside.path(""), tree.path("folder/out")).unwrap();
    symlink(outside.path("secret.txt"), tree.path("folder/b.txt")).unwrap();
    tree.pipe("folder/c.txt");
    let _socket = std::os::unix::net::UnixListener::bind(tree.path("folder/d.txt")).unwrap();
    for include_ignored in [false, true] {
        let found = find(&tree.root(""), &GlobRequest { include_ignored, ..request("**") });
        assert_eq!((names(&found), found.skipped), (vec!["folder/a.txt"], Skipped::default()));
    }
    assert_eq!(names(&find(&tree.root(""), &request("folder/b.txt"))), Vec::<&str>::new());
    assert_eq!(names(&find(&tree.root(""), &request("loop/folder/a.txt"))), Vec::<&str>::new());
    assert_eq!(names(&find(&tree.root(""), &request("folder/a.txt"))), ["folder/a.txt"]);
}

#[test]
fn names_that_are_no_text_are_found() {
    let tree = Tree::new(&[]);
    tree.write(b"fol\xFFder/a\xFE.rs", b"");
    for pattern in ["**", "*.rs", "fol?der/*", "*/a*"] {
        let found = find(&tree.root(""), &request(pattern));
        assert_eq!(found.paths, [Path::new(OsStr::from_bytes(b"fol\xFFder/a\xFE.rs"))], "{pattern}");
    }
}

#[test]
fn a_file_in_the_place_of_a_folder_is_not_found_and_no_folder_is_one() {
    let tree = Tree::new(&[("A", b""), ("src", b""), ("x/A", b""), ("B/f", b""), ("x/B/f", b"")]);
    for include_ignored in [false, true] {
        let cases: &[(&str, &[&str])] = &[
            ("A/*", &[]),
            ("A/", &[]),
            ("A/**", &[]),
            ("A/x/*", &[]),
            ("A/x", &[]),
            ("src/**/日*", &[]),
            ("*/A/*", &[]),
            ("{A,B}/*", &["B/f"]),
            ("{A,A/*}", &["A"]),
            ("/A", &["A"]),
            ("*/A", &["x/A"]),
            ("x/B", &[]),
            ("*/B/*", &["x/B/f"]),
            ("B/", &["B/f"]),
        ];
        for (pattern, paths) in cases {
            let found = find(&tree.root(""), &GlobRequest { include_ignored, ..request(pattern) });
            assert_eq!((names(&found), found.skipped), (paths.to_vec(), Skipped::default()), "{pattern}");
        }
    }
}

#[test]
fn a_wildcard_and_a_slash_at_the_end_find_folders() {
    let tree = ruled();
    // Pattern, folders found, hidden, ignored.
    let cases: &[(&str, &[&str], u64, u64)] = &[
        ("*/", &["src", "vendor"], 1, 1),
        ("s*/", &["src"], 0, 0),
        ("/*/", &["src", "vendor"], 1, 1),
        ("./*//", &["src", "vendor"], 1, 1),
        ("**/", &["src", "vendor"], 1, 2),
        ("target/*/", &["target/debug"], 0, 0),
        ("src/*/", &[], 0, 1),
        (".*/", &[".github"], 0, 0),
        (".github/*/", &[".github/workflows"], 0, 0),
        ("**/workflows/", &[], 1, 2),
        ("vendor/*/", &[], 0, 0),
        ("vendor/.git/*/", &["vendor/.git/info"], 0, 0),
        ("{s,v}*/", &["src", "vendor"], 0, 0),
        ("x*/", &[], 0, 0),
    ];
    for (pattern, paths, hidden, ignored) in cases {
        let found = find(&tree.root(""), &request(pattern));
        assert_eq!(
            (names(&found), found.skipped),
            (paths.to_vec(), Skipped { hidden: *hidden, ignored: *ignored, ..Skipped::default() }),
            "{pattern}"
        );
    }
    let found = find(&tree.root(""), &GlobRequest { include_ignored: true, ..request("**/") });
    let all = [".github", ".github/workflows", "src", "src/gen", "target", "target/debug", "vendor"];
    assert_eq!(names(&found), all);
    let page = find(&tree.root(""), &GlobRequest { offset: 1, max_results: 1, ..request("*/") });
    assert_eq!((names(&page), page.has_more), (vec!["vendor"], false));
    assert_eq!(
        names(&find(&tree.root("src"), &GlobRequest { include_ignored: true, ..request("*/") })),
        ["src/gen"]
    );
}

#[test]
fn a_folder_that_is_not_admitted_is_not_found() {
    let tree = Tree::new(&[("a/f", b""), ("b/f", b"")]);
    let root = tree.root("");
    let admits = |found: &crate::Found<'_>| !found.path.ends_with("a");
    let found = glob(&root, &request("*/"), &admits, &CancellationToken::new()).unwrap();
    assert_eq!((names(&found), found.skipped.not_permitted), (vec!["b"], 1));
}

#[test]
fn a_wildcard_stands_for_a_character_of_a_name() {
    let tree = Tree::new(&[("é.rs", b""), ("日本.md", b""), ("日/é/x", b""), ("a.rs", b"")]);
    let cases: &[(&str, &[&str])] = &[
        ("日?.md", &["日本.md"]),
        ("?.rs", &["a.rs", "é.rs"]),
        ("??.rs", &[]),
        ("[é].rs", &["é.rs"]),
        ("[!a].rs", &["é.rs"]),
        ("?/?/x", &["日/é/x"]),
        ("??/?/x", &[]),
    ];
    for (pattern, paths) in cases {
        assert_eq!(names(&find(&tree.root(""), &request(pattern))), *paths, "{pattern}");
    }
}

#[test]
fn a_file_that_is_not_admitted_is_counted_and_not_shown() {
    let tree = Tree::new(&[("a", b""), ("b/c", b""), ("d", b"")]);
    let asked = Mutex::new(vec![]);
    let admits = |found: &crate::Found<'_>| {
        asked.lock().unwrap().push((found.path.to_owned(), found.id));
        !found.path.ends_with("b/c")
    };
    let found = glob(&tree.root(""), &request("**"), &admits, &CancellationToken::new()).unwrap();
    assert_eq!(names(&found), ["a", "d"]);
    assert_eq!(found.skipped, Skipped { not_permitted: 1, ..Skipped::default() });
    let real = tree.path("").canonicalize().unwrap();
    let expected: Vec<_> = ["a", "b/c", "d"].map(|path| (real.join(path), None)).to_vec();
    assert_eq!(asked.into_inner().unwrap(), expected);
}

#[test]
fn another_file_system_is_entered_only_as_the_search_root() {
    let slash = File::open("/").unwrap();
    let root = |below| Root { folder: slash.as_fd(), below: Path::new(below), path: Path::new("/") };
    let found = find(&root(""), &request("proc/version"));
    assert_eq!(names(&found), Vec::<&str>::new());
    assert_eq!(found.skipped, Skipped { other_file_systems: 1, ..Skipped::default() });
    assert_eq!(names(&find(&root("proc"), &request("/version"))), ["proc/version"]);
}

#[test]
fn a_folder_that_cannot_be_listed_is_counted() {
    let tree = Tree::new(&[("a/b", b""), ("c", b"")]);
    // The walk knows `a` as a folder, and it is a link when it is entered.
    let admits = |found: &crate::Found<'_>| {
        if found.path.ends_with("Z") {
            std::fs::rename(tree.path("a"), tree.path("moved")).unwrap();
            symlink("moved", tree.path("a")).unwrap();
        }
        true
    };
    tree.write(b"Z", b"");
    let found = glob(&tree.root(""), &request("**"), &admits, &CancellationToken::new()).unwrap();
    assert_eq!(names(&found), ["Z", "c"]);
    assert_eq!(found.skipped, Skipped { unreadable: 1, ..Skipped::default() });
    let found = glob(&tree.root("moved"), &request("**"), &admits, &CancellationToken::new()).unwrap();
    assert_eq!(names(&found), ["moved/b"]);
}

#[test]
fn a_bound_that_is_met_is_said_and_what_was_found_is_kept() {
    let tree = Tree::new(&[("deep/1/2/3/file", b""), ("other", b"")]);
    for number in 0..300 {
        tree.write(format!("many/{number:03}").as_bytes(), b"");
    }
    let within = |pattern: &str, bounds: Bounds| {
        let root = tree.root("");
        let found =
            glob_within(&root, &request(pattern), &|_| true, &CancellationToken::new(), &bounds).unwrap();
        (found.paths.len(), found.partial)
    };
    let bounds = Bounds::default;
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(within("**", bounds()), (302, None));
    assert_eq!(
        within("**", Bounds { folder_entries_max: 100, ..bounds() }),
        (102, some("only 100 entries of the folder `many` were looked at; it has more"))
    );
    assert_eq!(within("**", Bounds { folder_entries_max: 300, ..bounds() }), (302, None));
    assert_eq!(
        within("**", Bounds { depth_max: 4, ..bounds() }),
        (301, some("folders more than 4 deep were not entered; name one of them"))
    );
    assert_eq!(within("**", Bounds { depth_max: 5, ..bounds() }), (302, None));
    assert_eq!(
        within("**", Bounds { entries_max: 10, ..bounds() }),
        (1, some("the search was ended after 10 files and folders; name a smaller folder"))
    );
    assert_eq!(
        within("**", Bounds { time_max: Duration::ZERO, ..bounds() }),
        (0, some("the search was ended after 0 s; name a smaller folder or a more exact pattern"))
    );
}

#[test]
fn a_cancelled_search_has_no_result() {
    let tree = Tree::new(&[("a", b""), ("b/c", b"")]);
    let cancel = CancellationToken::new();
    let admits = |_: &crate::Found<'_>| {
        cancel.cancel();
        true
    };
    assert_eq!(glob(&tree.root(""), &request("**"), &admits, &cancel), Err(SearchError::Cancelled));
    assert_eq!(find(&tree.root(""), &request("**")).paths.len(), 2);
}

#[test]
fn a_root_that_cannot_be_searched_is_refused_with_the_reason() {
    let tree = Tree::new(&[("folder/file", b"")]);
    symlink("folder", tree.path("link")).unwrap();
    let cases = [
        ("missing", "cannot search `missing`: no such file or folder"),
        ("link", "cannot search `link`: not a folder"),
        ("link/file", "cannot search `link/file`: not a folder"),
        ("folder/file", "cannot search `folder/file`: not a folder"),
        ("../x", "cannot search `../x`: not a plain path below a folder"),
        ("/folder", "cannot search `/folder`: not a plain path below a folder"),
    ];
    for (below, reason) in cases {
        let error =
            glob(&tree.root(below), &request("**"), &|_| true, &CancellationToken::new()).unwrap_err();
        assert_eq!(error.to_string(), reason);
    }
    assert_eq!(names(&find(&tree.root("./folder"), &request("**"))), ["folder/file"]);
}

#[test]
fn a_bad_glob_is_refused_and_quoted() {
    let tree = Tree::new(&[]);
    let error = glob(&tree.root(""), &request("{a"), &|_| true, &CancellationToken::new()).unwrap_err();
    assert_eq!(error.to_string(), "`{a` is no glob: a `{` is not closed; `[{]` stands for the character");
}

#[test]
fn rules_of_a_folder_that_is_a_link_or_a_pipe_do_not_count_and_do_not_hang() {
    let tree =
        Tree::new(&[("a/x.log", b""), ("rules", b"*.log\n"), ("b/.gitignore", b"*.log\n"), ("b/x.log", b"")]);
    tree.pipe("a/.gitignore");
    symlink("../rules", tree.path("a/.ignore")).unwrap();
    let found = find(&tree.root(""), &request("*.log"));
    assert_eq!(names(&found), ["a/x.log"]);
    assert_eq!(found.skipped.ignored, 1);
}

#[test]
fn rules_beyond_those_that_may_be_in_force_do_not_count() {
    let many: String = (0..crate::bounds::IGNORE_RULES_MAX).map(|at| format!("name-{at}\n")).collect();
    let rules = format!("ignored\n{many}");
    let folders: Vec<String> = (1..=5).map(|depth| "d/".repeat(depth)).collect();
    let mut files: Vec<(String, &[u8])> = vec![];
    for folder in &folders {
        files.push((format!("{folder}.gitignore"), rules.as_bytes()));
        files.push((format!("{folder}seen"), b""));
    }
    files.push(("d/d/d/d/d/other".to_owned(), b""));
    let tree = Tree::new(&[]);
    for (path, content) in &files {
        tree.write(path.as_bytes(), content);
    }
    // The fifth folder has a rule for `other` that comes too late.
    tree.write(b"d/d/d/d/d/.gitignore", b"other\n");
    tree.write(b"d/other2/.gitignore", b"other\n");
    tree.write(b"d/other2/other", b"");
    let found = find(&tree.root(""), &request("other"));
    assert_eq!(names(&found), ["d/d/d/d/d/other"]);
}
