//! Which files are read, and which are refused.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use expect_test::expect;
use reyn_core::permission::{FileAxis, Grant, Grants, Rule, Scope};
use reyn_core::settings::Settings;

use super::super::files::real_path;
use super::super::{Allowed, Places, Secrets, init, parse_allow};
use super::{Place, loaded};

#[test]
fn a_state_folder_that_is_a_link_or_a_file_is_an_error() {
    let place = Place::with(&[(".reyn", "")]);
    expect![[r#"
        .reyn: `.reyn` is not a folder
          hint: move it away; `reyn init` makes the folder
    "#]]
    .assert_eq(&place.problems());
    fs::remove_file(place.path(".reyn")).unwrap();
    symlink(place.path("~/"), place.path(".reyn")).unwrap();
    expect![[r#"
        .reyn: `.reyn` is a symbolic link
          hint: make it a folder of the project itself
    "#]]
    .assert_eq(&place.problems());
}

#[test]
fn a_pipe_is_not_opened_and_odd_files_are_refused() {
    let place = Place::with(&[("reyn.local.yaml", "")]);
    let status = std::process::Command::new("mkfifo").arg(place.path("reyn.yaml")).status().unwrap();
    assert!(status.success());
    fs::create_dir_all(place.path(".reyn/config.yaml")).unwrap();
    let large = "#".repeat(usize::try_from(reyn_core::limits::CONFIG_FILE_BYTES_MAX).unwrap() + 1);
    fs::write(place.path("reyn.local.yaml"), large).unwrap();
    expect![[r#"
        reyn.yaml: not a regular file

        reyn.local.yaml: larger than 1024 KiB
          hint: is it the right file?

        .reyn/config.yaml: not a regular file
    "#]]
    .assert_eq(&place.problems());
    let place = Place::with(&[]);
    fs::write(place.path("reyn.yaml"), b"llm:\n  model: \"caf\xe9\"\n").unwrap();
    expect![[r#"
        reyn.yaml:2:14: not UTF-8 text
          |   model: "caf�"
          |              ^
          hint: save the file as UTF-8
    "#]]
    .assert_eq(&place.problems());
}

#[test]
fn the_secrets_file_is_read_line_by_line() {
    let (secrets, warnings) = Secrets::parse(
        "# a comment\nA=1\nexport B = two words # comment\nC='single # $x'\nD=\"a\\\"b\\nc\" # x\nE=\nF=x#y\n\
         no assignment\n1X=2\nG='open\nH=\"a\" b\n",
    );
    let values: Vec<_> = ["A", "B", "C", "D", "E", "F"].map(|name| secrets.get(name).unwrap()).to_vec();
    assert_eq!(values, ["1", "two words", "single # $x", "a\"b\nc", "", "x#y"]);
    expect![[r#"
        ~/.reyn/secrets.env:8: line skipped: it has no `=`
        ~/.reyn/secrets.env:9: line skipped: what stands before `=` is no variable name
        ~/.reyn/secrets.env:10: line skipped: a quote is not closed
        ~/.reyn/secrets.env:11: line skipped: something follows the closing quote"#]]
    .assert_eq(&warnings.join("\n"));
    assert_eq!(format!("{secrets:?}"), r#"Secrets{"A", "B", "C", "D", "E", "F"}"#);
}

#[test]
fn a_secrets_file_that_others_can_read_is_closed_and_it_is_said() {
    let place = Place::with(&[("~/.reyn/secrets.env", "A=hush\n")]);
    let path = place.path("~/.reyn/secrets.env");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let config = place.load();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    expect!["~/.reyn/secrets.env could be read by others (mode 644); its mode is now 600"]
        .assert_eq(&config.notices.join("\n"));
    assert_eq!(place.load().notices, Vec::<String>::new());
    assert!(!format!("{config:?}").contains("hush"));
    assert!(config.zones().is_sealed(&path.canonicalize().unwrap()));
}

#[test]
fn where_a_linked_configuration_leads_is_protected() {
    let place =
        Place::with(&[("conf/main.yaml", ""), ("data/x", ""), (".reyn/x", ""), ("~/dotfiles/reyn/x", "")]);
    symlink("conf/main.yaml", place.path("reyn.yaml")).unwrap();
    symlink(place.path("data"), place.path(".reyn/events")).unwrap();
    symlink(place.path("~/dotfiles/reyn"), place.path("~/.reyn")).unwrap();
    let zones = place.load().zones();
    for (path, protected) in [
        ("conf/main.yaml", true),
        ("conf/other.yaml", false),
        ("data/2026-01/a.jsonl", true),
        ("~/dotfiles/reyn/config.yaml", true),
        ("~/dotfiles/other", false),
    ] {
        let real = place.path(path).parent().unwrap().canonicalize();
        let real =
            real.map_or_else(|_| place.path(path), |folder| folder.join(path.rsplit('/').next().unwrap()));
        assert_eq!(zones.is_protected(&real), protected, "{path}");
    }
}

#[test]
fn a_secrets_file_that_is_a_link_is_refused() {
    let place = Place::with(&[("~/.reyn/x", ""), ("other", "A=1\n")]);
    symlink(place.path("other"), place.path("~/.reyn/secrets.env")).unwrap();
    expect![[r#"
        ~/.reyn/secrets.env: it is a symbolic link
          hint: put the file itself there
    "#]]
    .assert_eq(&place.problems());
}

#[test]
fn paths_of_permissions_are_taken_at_their_real_place() {
    let place = Place::with(&[(
        "reyn.yaml",
        "permissions.file.write: [src, ~/notes, escape/x, \"../project/a/../b\", {path: one.txt, scope: just_path}, dangling/y]\n",
    )]);
    symlink("/usr", place.path("escape")).unwrap();
    symlink("/nowhere/at/all", place.path("dangling")).unwrap();
    let config = place.load();
    let Some(Rule::Only(rules)) = &config.file_policy.write else { panic!() };
    let home = config.home.clone().unwrap();
    let real = |path: &str| real_path(Path::new(path)).unwrap();
    let expected = [
        (config.root.join("src"), Scope::Recursive),
        (home.join("notes"), Scope::Recursive),
        (real("/usr").join("x"), Scope::Recursive),
        (config.root.join("b"), Scope::Recursive),
        (config.root.join("one.txt"), Scope::JustPath),
        ("/nowhere/at/all/y".into(), Scope::Recursive),
    ];
    let found: Vec<_> = rules.iter().map(|rule| (rule.path.clone(), rule.scope)).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_link_that_leads_to_itself_is_an_error() {
    let place = Place::with(&[("reyn.yaml", "permissions.file.read: [loop/x]\n")]);
    symlink("loop", place.path("loop")).unwrap();
    expect![[r#"
        reyn.yaml:1:25: `permissions.file.read`: cannot resolve `loop/x`: too many symbolic links
          | permissions.file.read: [loop/x]
          |                         ^
    "#]]
    .assert_eq(&place.problems());
}

#[test]
fn allow_takes_a_key_and_perhaps_a_path() {
    let place = Place::with(&[]);
    let base = place.path("").canonicalize().unwrap();
    let places = Places { base: &base, home: None };
    let parse = |value: &str| parse_allow(&[value.to_owned()], places);
    let grant = |axis, path: Option<&str>| {
        let files = Grants(vec![Grant { axis, path: path.map(|path| base.join(path)) }]);
        Ok(Allowed { files, ..Allowed::default() })
    };
    let command = |words: &[&str]| {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        Ok(Allowed { files: Grants::default(), commands: vec![words], ..Allowed::default() })
    };
    assert_eq!(parse("exec"), command(&[]));
    assert_eq!(parse("exec:cargo test"), command(&["cargo", "test"]));
    assert_eq!(parse("exec:echo 'a: b'"), command(&["echo", "a: b"]));
    assert_eq!(parse("file.write"), grant(FileAxis::Write, None));
    assert_eq!(parse("file.read:/etc"), grant(FileAxis::Read, Some("/etc")));
    assert_eq!(parse("file.write:out/../a:b"), grant(FileAxis::Write, Some("a:b")));
    fs::write(base.join("two\nlines"), "").unwrap();
    assert_eq!(parse("file.write:two\\x0alines"), grant(FileAxis::Write, Some("two\nlines")));
    assert_eq!(parse("file.write:new\\x0alines"), grant(FileAxis::Write, Some("new\\x0alines")));
    let errors: Vec<String> = [
        "file.wirte",
        "write_file",
        "zzz",
        "file.write:",
        "file.read:~/x",
        "file.read:~root/x",
        "exce",
        "exec:",
        "exec:echo 'x",
    ]
    .map(|value| parse(value).unwrap_err().to_string())
    .to_vec();
    expect![[r#"
        `--allow file.wirte`: no permission is called `file.wirte`; did you mean `file.write`?
        `--allow write_file`: no permission is called `write_file`; did you mean `file.write`?
        `--allow zzz`: no permission is called `zzz`; it takes `file.read`, `file.write`, `exec`, `web.fetch` or `web.search`
        `--allow file.write:`: the path is empty
        `--allow file.read:~/x`: `~` means nothing: the home folder is not known
        `--allow file.read:~root/x`: `~` stands only for your own home folder; write the whole path
        `--allow exce`: no permission is called `exce`; did you mean `exec`?
        `--allow exec:`: the command is empty; write it as in `cargo test`
        `--allow exec:echo 'x`: a quote in `echo 'x` does not end"#]]
    .assert_eq(&errors.join("\n"));
}

#[test]
fn init_makes_a_project_that_loads_and_changes_nothing_the_second_time() {
    let place = Place::with(&[(".gitignore", "target")]);
    let lines = |lines: Vec<super::super::InitLine>| {
        lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    expect![[r#"
        Created reyn.yaml
        Created reyn.local.yaml.example
        Created .reyn/
        Created .reyn/.gitignore
        Extended .gitignore"#]]
    .assert_eq(&lines(init(&place.path("")).unwrap()));
    assert_eq!(fs::read_to_string(place.path(".gitignore")).unwrap(), "target\n.reyn/\nreyn.local.yaml\n");
    assert_eq!(fs::read_to_string(place.path(".reyn/.gitignore")).unwrap(), "*\n");
    assert_eq!(place.load().settings, Settings::default());
    expect![[r#"
        Exists reyn.yaml
        Exists reyn.local.yaml.example
        Exists .reyn/
        Exists .reyn/.gitignore
        Exists .gitignore"#]]
    .assert_eq(&lines(init(&place.path("")).unwrap()));
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), 4);
}

#[test]
fn what_init_suggests_is_right_when_uncommented() {
    let uncommented = |text: &str| -> String {
        let is_sample = |line: &&str| {
            let bare = line.trim_start();
            let sample = bare.trim_start_matches("# ").trim_start();
            !bare.starts_with('#')
                || (sample.contains(": ") || sample.ends_with(':')) && !sample.contains(['`', ','])
                || sample.starts_with("file.")
        };
        text.lines().filter(is_sample).map(|line| line.replacen("# ", "", 1) + "\n").collect()
    };
    let text = uncommented(include_str!("../init/reyn.yaml"));
    let settings = loaded(&text).settings;
    assert_eq!(settings.llm.resolve("strong").unwrap().name(), "openai/gpt-4o", "{text}");
    assert_eq!(settings.models.threads, Some(4));
    assert!(settings.permissions.file.delete.is_some());
}

#[test]
fn init_never_writes_through_a_link() {
    let place = Place::with(&[("~/victim", "mine\n")]);
    symlink(place.path("~/victim"), place.path(".gitignore")).unwrap();
    expect!["`.gitignore` is a symbolic link; move it away and try again"]
        .assert_eq(&init(&place.path("")).unwrap_err().to_string());
    assert_eq!(fs::read_to_string(place.path("~/victim")).unwrap(), "mine\n");
    let place = Place::with(&[("~/folder/x", "")]);
    symlink(place.path("~/folder"), place.path(".reyn")).unwrap();
    expect!["`.reyn` is a symbolic link; move it away and try again"]
        .assert_eq(&init(&place.path("")).unwrap_err().to_string());
    assert_eq!(fs::read_dir(place.path("~/folder")).unwrap().count(), 1);
}
