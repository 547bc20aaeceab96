//! Tests of putting a file in its place.

use super::*;
use crate::tests::Place;

fn folder(place: &Place) -> OwnedFd {
    place.open_real(place.root(), FOLDER_FLAGS).unwrap()
}

fn stat(place: &Place, path: &str) -> Stat {
    place.lstat(&place.at(path)).unwrap()
}

#[test]
fn a_file_that_changed_since_it_was_read_is_left_alone() {
    let place = Place::new();
    place.put("a", "read");
    let read = stat(&place, "a");
    place.put("a", "changed by somebody");
    let old = Old { stat: &read, is_read: true };
    let result = put(&folder(&place), OsStr::new("a"), Some(old), b"new");
    assert_eq!(result, Err(ReplaceError::Changed));
    assert_eq!(place.read("a"), b"changed by somebody");
    let now = stat(&place, "a");
    put(&folder(&place), OsStr::new("a"), Some(Old { stat: &now, is_read: true }), b"new").unwrap();
    assert_eq!((place.read("a"), place.names(".")), (b"new".to_vec(), vec!["a".to_owned()]));
}

#[test]
fn a_file_that_appeared_meanwhile_is_not_taken_for_nothing() {
    let place = Place::new();
    place.put("a", "somebody's");
    let result = put(&folder(&place), OsStr::new("a"), None, b"new");
    assert_eq!(result, Err(ReplaceError::System(Errno::EXIST)));
    assert_eq!((place.read("a"), place.names(".")), (b"somebody's".to_vec(), vec!["a".to_owned()]));
}

#[test]
fn what_a_dead_process_left_is_removed_and_what_a_living_one_holds_is_not() {
    let place = Place::new();
    place.put("a", "old");
    let stem = scratch_stem(OsStr::new("a"));
    let held = std::fs::File::create(place.at(&format!("{stem}-1"))).unwrap();
    rustix::fs::flock(&held, FlockOperation::NonBlockingLockExclusive).unwrap();
    for left in [0, 2] {
        place.put(&format!("{stem}-{left}"), "half");
    }
    let other = scratch_stem(OsStr::new("b"));
    place.put(&format!("{other}-0"), "of another file");
    let read = stat(&place, "a");
    put(&folder(&place), OsStr::new("a"), Some(Old { stat: &read, is_read: true }), b"new").unwrap();
    let mut expected = vec![format!("{other}-0"), format!("{stem}-1"), "a".to_owned()];
    expected.sort();
    assert_eq!(place.names("."), expected);

    drop(held);
    place.recover(&place.to_write("a"));
    place.recover(&place.to_write("b"));
    assert_eq!(place.names("."), ["a"]);
}

#[test]
fn files_are_put_in_place_also_where_a_file_without_a_name_cannot_be_made() {
    let place = Place::new();
    let folder = folder(&place);
    let scratch = Scratch::create_named(folder.as_fd(), &scratch_stem(OsStr::new("a")), Mode::RUSR).unwrap();
    (&scratch.file).write_all(b"new").unwrap();
    scratch.name_new(OsStr::new("a")).unwrap();
    drop(scratch);
    assert_eq!((place.read("a"), place.names(".")), (b"new".to_vec(), vec!["a".to_owned()]));

    let read = stat(&place, "a");
    let scratch = Scratch::create_named(folder.as_fd(), &scratch_stem(OsStr::new("a")), Mode::RUSR).unwrap();
    (&scratch.file).write_all(b"newer").unwrap();
    scratch.replace(OsStr::new("a"), &Old { stat: &read, is_read: true }).unwrap();
    drop(scratch);
    assert_eq!((place.read("a"), place.names(".")), (b"newer".to_vec(), vec!["a".to_owned()]));
}

#[test]
fn a_write_that_is_given_up_leaves_nothing() {
    let place = Place::new();
    let folder = folder(&place);
    let stem = scratch_stem(OsStr::new("a"));
    drop(Scratch::create_named(folder.as_fd(), &stem, Mode::RUSR).unwrap());
    drop(Scratch::create(folder.as_fd(), OsStr::new("a"), Mode::RUSR).unwrap());
    assert_eq!(place.names("."), Vec::<String>::new());
}

#[test]
fn a_folder_full_of_names_like_those_of_scratch_files_is_written_nevertheless() {
    let place = Place::new();
    place.put("a", "old");
    let stem = scratch_stem(OsStr::new("a"));
    for count in 0..WRITERS_MAX {
        std::os::unix::fs::symlink("nowhere", place.at(&format!("{stem}-{count}"))).unwrap();
    }
    let old = stat(&place, "a");
    put(&folder(&place), OsStr::new("a"), Some(Old { stat: &old, is_read: true }), b"new").unwrap();
    assert_eq!((place.read("a"), place.names(".").len()), (b"new".to_vec(), 17));
}

#[test]
fn a_list_that_the_folder_gives_to_new_files_does_not_open_a_file_that_had_none() {
    let place = Place::new();
    place.put("a", "old");
    // Owner rwx, user 1234 rwx, group and others nothing, for whatever is made in the folder.
    let list = b"\x02\0\0\0\x01\0\x07\0\xff\xff\xff\xff\x02\0\x07\0\xd2\x04\0\0\x04\0\0\0\xff\xff\xff\xff\x10\0\x07\0\xff\xff\xff\xff\x20\0\0\0\xff\xff\xff\xff";
    let name = "system.posix_acl_default";
    rustix::fs::setxattr(place.root(), name, list, XattrFlags::empty()).unwrap();
    place.put("inherits", "x");
    let has_list = |path: &str| {
        rustix::fs::getxattr(place.at(path), "system.posix_acl_access", &mut vec![0_u8; 256]).is_ok()
    };
    let mode = |path: &str| stat(&place, path).st_mode & 0o777;
    let before = mode("a");
    let old = stat(&place, "a");
    put(&folder(&place), OsStr::new("a"), Some(Old { stat: &old, is_read: true }), b"new").unwrap();
    assert_eq!((has_list("inherits"), has_list("a"), mode("a")), (true, false, before));
}

#[test]
fn of_two_writers_that_read_the_same_only_one_goes_through() {
    let place = Place::new();
    place.put("count", "0");
    let add = || {
        let folder = folder(&place);
        let mut done = 0;
        for _ in 0..200 {
            let old = stat(&place, "count");
            let value: u64 = String::from_utf8(place.read("count")).unwrap().parse().unwrap();
            let new = (value + 1).to_string();
            let result =
                put(&folder, OsStr::new("count"), Some(Old { stat: &old, is_read: true }), new.as_bytes());
            match result {
                Ok(()) => done += 1,
                Err(error) => assert_eq!(error, ReplaceError::Changed),
            }
        }
        done
    };
    let done: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(add)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(place.read("count"), done.to_string().as_bytes());
}
