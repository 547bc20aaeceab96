//! Tests of writing whole files.

use super::*;
use crate::tests::Place;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn write(place: &Place, path: &str, text: &str) -> Result<Written, FileError> {
    place.write_whole(&place.to_write(path), text, None)
}

fn mode(place: &Place, path: &str) -> u32 {
    std::fs::metadata(place.at(path)).unwrap().permissions().mode() & 0o7777
}

fn set_mode(place: &Place, path: &str, mode: u32) {
    std::fs::set_permissions(place.at(path), std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_new_file_and_its_folders_are_made() {
    let place = Place::new();
    let written = write(&place, "a/b/c.txt", "hi\n").unwrap();
    assert_eq!((written.bytes, written.before), (3, Before::Nothing));
    assert_eq!((written.diff.added, written.diff.removed), (1, 0));
    assert_eq!(place.read("a/b/c.txt"), b"hi\n");
    assert_eq!(place.names("a/b"), ["c.txt"]);
}

#[test]
fn replacing_keeps_the_mode_and_leaves_nothing_beside_it() {
    let place = Place::new();
    place.put("run.sh", "old\n");
    set_mode(&place, "run.sh", 0o750);
    let written = write(&place, "run.sh", "new\n").unwrap();
    let before = Before::File { other_encoding: None, had_crlf: false, had_mark: false, other_names: 0 };
    assert_eq!((written.bytes, written.before), (4, before));
    assert_eq!((written.diff.added, written.diff.removed), (1, 1));
    assert_eq!(mode(&place, "run.sh"), 0o750);
    assert_eq!(place.names("."), ["run.sh"]);
}

#[test]
fn what_the_old_file_was_besides_its_text_is_said() {
    let place = Place::new();
    place.put(
        "sjis.txt",
        b"\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x83\x65\x83\x4c\x83\x58\x83\x67\x82\xc5\x82\xb7\r\n",
    );
    std::fs::hard_link(place.at("sjis.txt"), place.at("other")).unwrap();
    let written = write(&place, "sjis.txt", "日本語\n").unwrap();
    let before = Before::File {
        other_encoding: Some(Encoding::SHIFT_JIS),
        had_crlf: true,
        had_mark: false,
        other_names: 1,
    };
    assert_eq!(written.before, before);

    place.put("utf16.txt", [&b"\xff\xfe"[..], &Encoding::UTF_16LE.encode("a\r\n").unwrap()].concat());
    let written = write(&place, "utf16.txt", "a\n").unwrap();
    let before = Before::File {
        other_encoding: Some(Encoding::UTF_16LE),
        had_crlf: true,
        had_mark: true,
        other_names: 0,
    };
    assert_eq!(written.before, before);
}

#[test]
fn a_text_is_written_in_the_encoding_that_is_asked_for_or_not_at_all() {
    let place = Place::new();
    let target = place.to_write("a.txt");
    place.write_whole(&target, "日本", Some(Encoding::SHIFT_JIS)).unwrap();
    assert_eq!(place.read("a.txt"), b"\x93\xfa\x96\x7b");
    for (text, says) in [("日本😀", "has no `😀`"), ("日本〜", "has no `〜`; it has `～` for it")]
    {
        let error = place.write_whole(&target, text, Some(Encoding::SHIFT_JIS)).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot write `a.txt`: `shift_jis` {says}"));
    }
    assert_eq!(place.read("a.txt"), b"\x93\xfa\x96\x7b");
    place.write_whole(&target, "日本", Some(Encoding::UTF_16LE)).unwrap();
    assert_eq!(place.read("a.txt"), b"\xff\xfe\xe5\x65\x2c\x67");
}

#[test]
fn new_content_does_not_run_with_the_owners_rights() {
    let place = Place::new();
    place.put("run", "old");
    set_mode(&place, "run", 0o6755);
    write(&place, "run", "new").unwrap();
    assert_eq!(mode(&place, "run"), 0o755);
}

#[test]
fn a_file_marked_as_read_only_is_not_replaced() {
    let place = Place::new();
    place.put("kept", "old");
    set_mode(&place, "kept", 0o444);
    let error = write(&place, "kept", "new").unwrap_err();
    assert_eq!(error.to_string(), "cannot write `kept`: it is marked as read-only");
    assert_eq!(place.read("kept"), b"old");
    set_mode(&place, "kept", 0o644);
    write(&place, "kept", "new").unwrap();
    assert_eq!(place.read("kept"), b"new");
}

#[test]
fn attributes_of_the_old_file_are_kept() {
    let place = Place::new();
    place.put("a", "old");
    let set = |name: &str, value: &[u8]| {
        rustix::fs::setxattr(place.at("a"), name, value, rustix::fs::XattrFlags::empty())
    };
    set("user.origin", b"mail").unwrap();
    // Owner rw, user 12345 r, group r, mask r, others none.
    let list = b"\x02\0\0\0\x01\0\x06\0\xff\xff\xff\xff\x02\0\x04\0\x39\x30\0\0\x04\0\x04\0\xff\xff\xff\xff\x10\0\x04\0\xff\xff\xff\xff\x20\0\0\0\xff\xff\xff\xff";
    let has_lists = set("system.posix_acl_access", list).is_ok();
    write(&place, "a", "new").unwrap();
    let get = |name: &str| {
        let mut value = vec![0; 256];
        let len = rustix::fs::getxattr(place.at("a"), name, &mut value).ok()?;
        value.truncate(len);
        Some(value)
    };
    assert_eq!(get("user.origin").as_deref(), Some(&b"mail"[..]));
    assert_eq!(get("system.posix_acl_access").is_some(), has_lists);
    assert_eq!(place.read("a"), b"new");
}

#[test]
fn a_link_planted_after_the_path_was_judged_is_not_followed() {
    let place = Place::new();
    let outside = || std::fs::read_dir(place.outside()).unwrap().count();
    let target = place.to_write("sub/file");
    symlink(place.outside(), place.at("sub")).unwrap();
    let error = place.write_whole(&target, "x", None).unwrap_err();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    assert_eq!(outside(), 0);

    let target = place.to_write("file");
    symlink(place.outside().join("file"), place.at("file")).unwrap();
    assert!(place.write_whole(&target, "x", None).is_err());
    assert_eq!(outside(), 0);
}

#[test]
fn a_folder_and_a_pipe_are_not_replaced() {
    let place = Place::new();
    std::fs::create_dir(place.at("d")).unwrap();
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, place.at("pipe"), kind, Mode::RUSR | Mode::WUSR, 0).unwrap();
    for (path, says) in [("d", "it is a folder"), ("pipe", "it is a pipe")] {
        let error = write(&place, path, "x").unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
    assert_eq!(place.names("."), ["d", "pipe"]);
}

#[test]
fn a_file_that_holds_keys_is_written_without_showing_what_changed() {
    let place = Place::with(|zones| {
        let home = zones.root().to_owned();
        zones.with_credentials_of(&home)
    });
    place.put(".ssh/config", "Host old\n");
    let written = write(&place, ".ssh/config", "Host new\n").unwrap();
    assert_eq!(written.diff, hidden_diff());
    place.put("plain", "old\n");
    assert!(write(&place, "plain", "new\n").unwrap().diff.text.contains("-old"));
}
