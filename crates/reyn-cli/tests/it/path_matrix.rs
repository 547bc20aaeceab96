//! One verdict for one path, whatever reaches it: a file tool, `exec`, or an op of a skill's step.

use std::path::Path;

use reyn_testkit::{FakeServer, call, calls, says};
use serde_json::{Value, json};

use crate::op_forms::Stage;
use crate::place::Place;

/// What is done to a file, with the tool of its own for it and the line that does it in a program.
#[derive(Clone, Copy, Debug)]
enum Act {
    Write,
    Edit,
    Delete,
    Replace,
}

impl Act {
    fn by_tool(self, path: &str) -> Option<(&'static str, Value)> {
        match self {
            Self::Write => Some(("write_file", json!({"path": path, "content": "new"}))),
            Self::Edit => {
                Some(("edit_file", json!({"path": path, "old_string": "old", "new_string": "new"})))
            }
            Self::Delete => Some(("delete_file", json!({ "path": path }))),
            Self::Replace => None,
        }
    }

    const fn in_sh(self) -> &'static str {
        match self {
            Self::Write => "printf new > \"$1\"",
            Self::Edit => "sed s/old/new/ \"$1\" > t.tmp && cat t.tmp > \"$1\"",
            Self::Delete => "rm \"$1\"",
            Self::Replace => "printf new > t.tmp && mv t.tmp \"$1\"",
        }
    }
}

/// The ways to a file; each is allowed all that can be allowed.
const ROUTES: [&str; 4] = ["file tool", "exec", "sandboxed_exec", "shell"];

/// Whether this changes a file of a fresh place; nothing where no tool does it.
fn changes(route: &str, act: Act, path: &str) -> Option<bool> {
    let argv = ["sh", "-c", act.in_sh(), "sh", path];
    let (tool, args) = match route {
        "file tool" => act.by_tool(path)?,
        "exec" => ("exec", json!({ "argv": argv })),
        "sandboxed_exec" => (
            "sandboxed_exec",
            json!({"argv": argv, "write_paths": ["{{workspace}}", path], "allow_subprocess": true}),
        ),
        "shell" => ("shell", json!({ "cmd": format!("set -- '{path}'; {}", act.in_sh()) })),
        other => panic!("{other}"),
    };
    let script = [calls([call("a", tool, args.clone())]), says("done")];
    let server = FakeServer::script(script);
    let place = Place::with(&server).file("notes.md", "old").file("sub/a.md", "old").config("# old\n");
    let place =
        place.file(".git/config", "# old\n").file(".git/hooks/old", "old").file(".git/HEAD", "ref: x\n");
    let place =
        place.file(".reyn/memory/old.md", "old").file(".reyn/capability_profiles/old.yaml", "old: 1\n");
    std::fs::write(place.outside.join("a.md"), "old").unwrap();
    std::fs::write(place.home.join(".reyn/secrets.env"), "OLD=old\n").unwrap();
    for (to, link) in [("../outside/a.md", "link-out"), ("reyn.yaml", "link-config"), ("notes.md", "link-in")]
    {
        std::os::unix::fs::symlink(to, place.root.join(link)).unwrap();
    }
    if path == "twin" {
        std::fs::hard_link(place.root.join("reyn.yaml"), place.root.join("twin")).unwrap();
    }
    let state = || {
        let read = |path: &Path| std::fs::read(path).ok();
        let places = [
            "notes.md",
            "sub/a.md",
            "sub/new.md",
            "reyn.yaml",
            "reyn.local.yaml",
            ".reyn/approvals.yaml",
            ".reyn/config.yaml",
            ".reyn/notes.md",
            ".reyn/memory/a.md",
            ".reyn/capability_profiles/reader.yaml",
            ".git/config",
            ".git/hooks/old",
            ".git/hooks/new",
            "twin",
        ];
        let inside = places.iter().map(|name| read(&place.root.join(name)));
        let links = ["link-out", "link-config", "link-in"].map(|link| place.root.join(link).is_symlink());
        let others = [place.outside.join("a.md"), place.home.join(".reyn/secrets.env")];
        (inside.chain(others.iter().map(|path| read(path))).collect::<Vec<_>>(), links)
    };
    let before = state();
    if matches!(tool, "sandboxed_exec" | "shell") {
        let _ = Stage::at(&place.root).with_shell().calls(tool, &[args]);
    } else {
        let args = ["ask", "go", "--allow", "file.write", "--allow", "exec"];
        let _ = crate::running::Running::new(place.command(&args), place.masks()).finish();
    }
    Some(before != state())
}

#[test]
fn the_same_path_has_the_same_verdict_by_every_route() {
    // Path, and whether it may be written, edited, deleted by each.
    let table = [
        ("notes.md", true),
        ("sub/a.md", true),
        ("link-in", true),
        ("reyn.yaml", false),
        (".git/config", false),
        (".git/hooks/old", false),
        ("../outside/a.md", false),
        ("link-out", false),
        ("link-config", false),
        ("twin", false),
    ];
    for (path, is_open) in table {
        let is_link = path.starts_with("link");
        for act in [Act::Write, Act::Edit, Act::Delete, Act::Replace] {
            // A link is a name in the workspace: a program may drop it, and what it leads to stays.
            if !(is_link && matches!(act, Act::Delete | Act::Replace)) {
                is_the_same_by_every_route(act, path, is_open);
            }
        }
    }
    let new = [
        ("sub/new.md", true),
        ("reyn.local.yaml", false),
        (".reyn/approvals.yaml", false),
        (".reyn/config.yaml", false),
        (".git/hooks/new", false),
    ];
    for (path, is_open) in new {
        for act in [Act::Write, Act::Replace] {
            is_the_same_by_every_route(act, path, is_open);
        }
    }
}

/// What is written below `.reyn/` counts by what it says: a memory is scanned, a profile may not widen what the
/// session may do. A file tool brings its text to the gate. What a program is going to write nobody can read
/// before, so that it writes nothing there, by no route.
#[test]
fn where_a_change_is_judged_by_what_it_says_a_program_makes_none() {
    for path in [".reyn/notes.md", ".reyn/memory/a.md", ".reyn/capability_profiles/reader.yaml"] {
        for route in ROUTES {
            for act in [Act::Write, Act::Replace] {
                let is_expected = act.by_tool(path).filter(|_| route == "file tool").is_some();
                assert_eq!(changes(route, act, path).unwrap_or(false), is_expected, "{route} {act:?} {path}");
            }
        }
    }
}

#[track_caller]
fn is_the_same_by_every_route(act: Act, path: &str, is_open: bool) {
    for route in ROUTES {
        if let Some(is_changed) = changes(route, act, path) {
            assert_eq!(is_changed, is_open, "{route} {act:?} {path}");
        }
    }
}
