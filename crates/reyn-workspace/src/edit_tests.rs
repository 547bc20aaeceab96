//! Tests of changing a part of a file; what an edit does to the text is tested where it is planned.

use super::*;
use crate::tests::Place;
use std::os::unix::fs::PermissionsExt as _;

fn request(old: &str, new: &str) -> EditRequest {
    EditRequest { old: old.into(), new: new.into(), replace_all: false, encoding: None }
}

fn edit(place: &Place, path: &str, request: &EditRequest) -> Result<Edited, FileError> {
    place.edit(&place.to_write(path), request, true, &CancellationToken::new())
}

#[test]
fn an_edit_changes_one_place_and_says_where() {
    let place = Place::new();
    place.put("a.py", "a = 1\r\nb = 2\r\n# caf\u{e9}\r\n");
    std::fs::set_permissions(place.at("a.py"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let edited = edit(&place, "a.py", &request("b = 2", "b = 3")).unwrap();
    assert_eq!((edited.replacements, edited.lines), (1, vec![2]));
    assert!(
        edited.diff.text.contains("-b = 2") && edited.diff.text.contains("+b = 3"),
        "{}",
        edited.diff.text
    );
    assert_eq!(place.read("a.py"), "a = 1\r\nb = 3\r\n# caf\u{e9}\r\n".as_bytes());
    let mode = std::fs::metadata(place.at("a.py")).unwrap().permissions().mode();
    assert_eq!((mode & 0o777, place.names(".")), (0o755, vec!["a.py".to_owned()]));
}

#[test]
fn a_failed_edit_leaves_the_file_and_helps() {
    let place = Place::new();
    place.put("a.py", "value = compute(1)\nother\nother\n");
    let before = std::fs::metadata(place.at("a.py")).unwrap().modified().unwrap();
    let failed = |old: &str, may_show: bool| {
        let cancel = CancellationToken::new();
        let error = place.edit(&place.to_write("a.py"), &request(old, "x"), may_show, &cancel).unwrap_err();
        let FileError::Failed { message, hint, .. } = error else { panic!("failed") };
        format!("{message}\n{}", hint.unwrap_or_default())
    };
    assert!(failed("value = computed(1)", true).contains("value = compute(1)"));
    assert!(!failed("value = computed(1)", false).contains("compute(1)"));
    assert!(failed("other", true).contains("lines 2 and 3"), "{}", failed("other", true));
    assert_eq!(place.read("a.py"), b"value = compute(1)\nother\nother\n");
    assert_eq!(std::fs::metadata(place.at("a.py")).unwrap().modified().unwrap(), before);
}

#[test]
fn what_cannot_be_edited_is_refused_and_stays() {
    let place = Place::new();
    place.put("d/x", "x");
    place.put("bin", b"\0\x01\x02");
    place.put("kept", "a");
    std::fs::set_permissions(place.at("kept"), std::fs::Permissions::from_mode(0o444)).unwrap();
    for (path, says) in [
        ("missing", "no such file"),
        ("d", "it is a folder"),
        ("/dev/null", "a device"),
        ("kept", "read-only"),
    ] {
        let error = edit(&place, path, &request("a", "b")).unwrap_err();
        assert!(error.to_string().contains(says), "{path}: {error}");
    }
    let error = edit(&place, "bin", &request("é", "b")).unwrap_err();
    assert!(error.to_string().contains("not text"), "{error}");
    assert_eq!((place.read("bin"), place.read("kept")), (b"\0\x01\x02".to_vec(), b"a".to_vec()));
}

#[test]
fn other_names_of_an_edited_file_are_counted() {
    let place = Place::new();
    place.put("a", "one");
    std::fs::hard_link(place.at("a"), place.at("b")).unwrap();
    let edited = edit(&place, "a", &request("one", "two")).unwrap();
    assert_eq!((edited.other_names, place.read("a"), place.read("b")), (1, b"two".to_vec(), b"one".to_vec()));
}

#[test]
fn a_cancelled_edit_changes_nothing() {
    let place = Place::new();
    place.put("a", "one");
    let cancel = CancellationToken::new();
    cancel.cancel();
    let result = place.edit(&place.to_write("a"), &request("one", "two"), true, &cancel);
    assert_eq!((result, place.read("a")), (Err(FileError::Cancelled), b"one".to_vec()));
}
