//! Sessions on a real file system, with what a project could put among them.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use reyn_core::conversation::{Ending, Reply};
use tempfile::TempDir;

use super::*;

const NOW: &str = "2026-01-02T03:04:05Z";

/// A project's state folder.
struct Place {
    dir: TempDir,
    sessions: Sessions,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let sessions = Sessions::new(dir.path());
        Self { dir, sessions }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("state/sessions")
    }

    fn log(&self, id: &str) -> PathBuf {
        self.folder().join(id).join(LOG_FILE)
    }

    /// A session of one turn, last written `age` seconds ago.
    fn add(&self, id: &str, message: &str, age: u64) {
        let (mut log, _) = ConversationLog::open(&self.folder(), id, NOW).unwrap();
        for entry in [
            Entry::User { text: message.into() },
            Entry::Reply(Reply { text: "yes".into(), ..Reply::default() }),
            Entry::Ended { ending: Ending::Answered },
        ] {
            log.append(entry, NOW).unwrap();
        }
        drop(log);
        let file = File::options().write(true).open(self.log(id)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }

    fn ids(&self) -> Vec<String> {
        self.sessions.ids().unwrap()
    }
}

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

#[test]
fn sessions_are_listed_newest_first_with_the_first_line_of_their_message() {
    let place = Place::new();
    assert_eq!(place.sessions.all().unwrap(), Listing::default());
    place.add("old", "\n  日本語の\u{1b}[2J題名\u{202e}\tと  続き  \n二行目", 100);
    place.add("new", "hello", 10);
    place.add("oldest", "x", 1000);
    let listing = place.sessions.latest(2).unwrap();
    let shown: Vec<_> =
        listing.sessions.iter().map(|one| (one.id.as_str(), one.title.as_deref(), one.turns)).collect();
    assert_eq!(shown, [("new", Some("hello"), Some(1)), ("old", Some("日本語の[2J題名 と  続き"), Some(1))]);
    assert_eq!(listing.total, 3);
    assert_eq!(listing.sessions[0].started, Some(now()));
    assert_eq!(place.sessions.latest_id().unwrap().as_deref(), Some("new"));
}

#[test]
fn a_title_is_bounded_and_of_a_long_log_nothing_but_the_beginning_is_read() {
    let place = Place::new();
    place.add("long", &format!("題{}", "x\\\"".repeat(1 << 20)), 0);
    let one = place.sessions.all().unwrap().sessions.remove(0);
    let title = one.title.unwrap();
    assert_eq!((title.chars().count(), title.starts_with("題x\\\"")), (SESSION_TITLE_CHARS_MAX + 1, true));
    assert_eq!((one.turns, one.started), (None, Some(now())));
    assert_eq!(place.sessions.read("long").unwrap().summary.turns, Some(1));
}

#[test]
fn a_title_keeps_how_its_words_are_spelled_and_is_a_line_that_is_seen() {
    let place = Place::new();
    place.add(
        "emoji",
        "\u{200b}\u{fe0f}\u{2800}\n\u{feff}❤\u{fe0f} 👩\u{200d}👧\u{a0}می\u{200c}خواهم\u{e0041}\u{fff9}",
        0,
    );
    let title = place.sessions.all().unwrap().sessions.remove(0).title;
    assert_eq!(title.as_deref(), Some("❤\u{fe0f} 👩\u{200d}👧 می\u{200c}خواهم"));
}

#[test]
fn what_is_no_session_is_left_out_and_never_followed() {
    let place = Place::new();
    place.add("good", "hello", 0);
    let outside = Place::new();
    outside.add("theirs", "secret", 0);
    let folder = place.folder();
    symlink(outside.folder().join("theirs"), folder.join("linked")).unwrap();
    fs::create_dir(folder.join("inside")).unwrap();
    symlink(outside.log("theirs"), folder.join("inside/log.jsonl")).unwrap();
    fs::create_dir(folder.join("pipe")).unwrap();
    let mode = Mode::RUSR | Mode::WUSR;
    rustix::fs::mknodat(CWD, folder.join("pipe/log.jsonl"), FileType::Fifo, mode, 0).unwrap();
    fs::create_dir_all(folder.join("folder/log.jsonl")).unwrap();
    fs::create_dir(folder.join("empty")).unwrap();
    fs::create_dir_all(folder.join("é")).unwrap();
    fs::write(folder.join("é/log.jsonl"), "").unwrap();
    fs::write(folder.join("file"), "").unwrap();
    assert_eq!(place.ids(), ["good"]);
    for id in ["linked", "inside", "pipe", "folder", "empty", "é", "file", ".."] {
        assert!(place.sessions.read(id).is_err(), "{id}");
        assert!(place.sessions.repair(id, now()).is_err(), "{id}");
        assert!(place.sessions.find(id).is_err(), "{id}");
    }
    for id in ["linked", "é", "file", ".."] {
        assert!(place.sessions.remove(id, now()).is_err(), "{id}");
    }
    let left = place.sessions.remove("inside", now()).unwrap().left;
    assert_eq!(left, ["log.jsonl"], "a link in the place of a log is not ours");
    assert_eq!(outside.sessions.read("theirs").unwrap().records.len(), 3);

    let linked = tempfile::tempdir().unwrap();
    fs::create_dir(linked.path().join("state")).unwrap();
    symlink(outside.folder(), linked.path().join("state/sessions")).unwrap();
    let error = Sessions::new(linked.path()).ids().unwrap_err().to_string();
    assert!(error.contains("is not a folder of its own"), "{error}");
}

#[test]
fn a_name_is_found_by_its_beginning_and_the_newest_by_its_place() {
    let place = Place::new();
    assert!(matches!(place.sessions.find("x"), Err(FindError::Nothing)));
    place.add("20260101-000000-aaaa", "x", 10);
    place.add("20260102-000000-bbbb", "x", 100);
    place.add("20260102-000000", "x", 1000);
    let found = |wanted: &str| place.sessions.find(wanted).map_err(|error| error.to_string());
    for (wanted, id) in [
        ("@", "20260101-000000-aaaa"),
        ("latest", "20260101-000000-aaaa"),
        ("20260102-000000", "20260102-000000"),
        ("20260102-000000-", "20260102-000000-bbbb"),
        ("20260101", "20260101-000000-aaaa"),
    ] {
        assert_eq!(found(wanted).as_deref(), Ok(id), "{wanted}");
    }
    for (wanted, says) in [
        ("202601", "3 sessions begin with `202601`: `20260101-000000-aaaa`, `20260102-000000-bbbb`"),
        ("20260103-000000-aaaa", "did you mean `20260101-000000-aaaa`?; `reyn sessions list` shows them"),
        ("", "no session is named ``; `reyn sessions list`"),
        ("../x", "no session is named `../x`"),
    ] {
        let error = found(wanted).unwrap_err();
        assert!(error.contains(says), "{wanted}: {error}");
    }
    place.add("latest", "x", 5000);
    assert_eq!(found("latest").as_deref(), Ok("latest"), "a whole name counts before its meaning");
}

#[test]
fn every_damaged_byte_is_named_and_a_repair_loses_nothing_good() {
    let place = Place::new();
    place.add("s", "hello", 0);
    let sound = fs::read(place.log("s")).unwrap();
    let read = place.sessions.read("s").unwrap();
    assert!(read.is_sound());
    assert_eq!(read.lines().collect::<Vec<_>>().concat(), sound);
    let before = place.sessions.repair("s", now()).unwrap();
    assert_eq!((before.records, before.report.damaged_bytes), (3, 0));
    assert_eq!(fs::read(place.log("s")).unwrap(), sound, "a sound session stays as it is");

    let first = sound.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let damaged = [&sound[..first], b"\0\0junk\n", &sound[first..], b"{\"v\":1,\"crc"].concat();
    fs::write(place.log("s"), &damaged).unwrap();
    let read = place.sessions.read("s").unwrap();
    assert_eq!(read.damage, [first..first + 7, damaged.len() - 11..damaged.len()]);
    assert_eq!((read.records.len(), read.is_sound()), (3, false));
    let repaired = place.sessions.repair("s", now()).unwrap();
    assert_eq!((repaired.records, repaired.report.damaged_bytes), (3, 18));
    assert_eq!(fs::read(place.log("s")).unwrap(), sound);
    assert!(place.sessions.read("s").unwrap().is_sound());
}

#[test]
fn records_that_do_not_count_up_are_damage_and_missing_ones_are_counted() {
    let place = Place::new();
    place.add("s", "hello", 0);
    let bytes = fs::read(place.log("s")).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    fs::write(place.log("s"), [lines[0], lines[2]].concat()).unwrap();
    let read = place.sessions.read("s").unwrap();
    assert_eq!((read.missing, read.is_sound()), (1, true));
    fs::write(place.log("s"), [lines[1], lines[0], lines[0]].concat()).unwrap();
    let read = place.sessions.read("s").unwrap();
    let (second, third) = (lines[1].len(), lines[1].len() + lines[0].len());
    let expected = [OutOfOrder { seq: 1, after: 2, at: second }, OutOfOrder { seq: 1, after: 1, at: third }];
    assert_eq!((read.out_of_order.as_slice(), read.is_sound()), (&expected[..], false));
}

#[test]
fn looking_at_a_session_in_use_disturbs_nobody_and_names_the_holder() {
    let place = Place::new();
    place.add("s", "hello", 0);
    assert_eq!(place.sessions.read("s").unwrap().summary.holder, None, "a lock file that nobody holds");
    let (mut log, _) = ConversationLog::open(&place.folder(), "s", NOW).unwrap();
    let holder = Some(Holder { pid: std::process::id(), since: NOW.into() });
    assert_eq!(place.sessions.all().unwrap().sessions[0].holder, holder);
    assert_eq!(place.sessions.read("s").unwrap().summary.holder, holder);
    for error in [
        place.sessions.repair("s", now()).unwrap_err(),
        place.sessions.remove("s", now()).unwrap_err(),
        place.sessions.claim("s", now()).map(drop).unwrap_err(),
    ] {
        assert!(matches!(error, LogError::InUse { .. }), "{error}");
    }
    log.append(Entry::Nudged, NOW).unwrap();
    let torn = fs::read(place.log("s")).unwrap();
    fs::write(place.log("s"), [&torn[..], b"{\"v\":1,"].concat()).unwrap();
    assert!(place.sessions.read("s").unwrap().is_sound(), "the last record is being written");
    drop(log);
    assert!(!place.sessions.read("s").unwrap().is_sound());
}

#[test]
fn of_a_removed_session_only_what_is_not_ours_stays() {
    let place = Place::new();
    for id in ["a", "b"] {
        place.add(id, "hello", 0);
        fs::write(place.folder().join(id).join("log.damaged"), "x").unwrap();
    }
    fs::write(place.folder().join("b/notes.txt"), "mine").unwrap();
    assert_eq!(place.sessions.remove("a", now()).unwrap(), Removed::default());
    assert_eq!(place.sessions.remove("b", now()).unwrap(), Removed { left: vec!["notes.txt".into()] });
    assert_eq!(place.ids(), Vec::<String>::new());
    assert!(!place.folder().join("a").exists());
    assert_eq!(fs::read_to_string(place.folder().join("b/notes.txt")).unwrap(), "mine");
    assert!(place.sessions.remove("a", now()).is_err());
}

#[test]
fn a_claim_that_is_dropped_leaves_the_session_as_it_was() {
    let place = Place::new();
    place.add("s", "hello", 0);
    let claim = place.sessions.claim("s", now()).unwrap();
    assert_eq!(claim.id(), "s");
    assert!(matches!(ConversationLog::open(&place.folder(), "s", NOW), Err(LogError::InUse { .. })));
    drop(claim);
    assert_eq!(ConversationLog::open(&place.folder(), "s", NOW).unwrap().0.entries().len(), 3);
}
