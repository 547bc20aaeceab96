//! `reyn events --verify`: every line is an event, none is missing, none is out of order.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use reyn_core::audit::{AuditEvent, KINDS};
use serde_json::{Value, json};

use super::{Line, LineReader, counted, files};
use crate::exit::{Exit, Failure};
use crate::output;

/// Faults that are told one by one.
const FAULTS_SHOWN_MAX: usize = 100;

/// What one process wrote into one file, without a fault in between.
#[derive(Debug, Clone)]
struct Stretch {
    file: usize,
    first_line: u64,
    first_seq: u64,
    last_seq: u64,
    first_time: Timestamp,
    last_time: Timestamp,
}

/// Something that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    file: usize,
    line: u64,
    message: String,
}

/// What was looked at, and what is wrong.
#[derive(Debug, Default)]
struct Verification {
    /// As they are shown.
    files: Vec<String>,
    /// `YYYY-MM` folders that the files are in; empty for one that is in none.
    months: Vec<String>,
    events: u64,
    /// By the token of the process that wrote them.
    stretches: BTreeMap<String, Vec<Stretch>>,
    faults: Vec<Fault>,
    /// Processes whose first events were removed with their month.
    begun_before: u64,
}

/// One event, as far as its order goes.
struct Placed {
    emitter: String,
    seq: u64,
    time: Timestamp,
}

/// Checks everything below a path. Faults are exit code 1.
pub(super) fn run(path: &Path, as_json: bool) -> Result<Exit, Failure> {
    let mut verification = Verification::default();
    for file in files(path)? {
        verification.read(path, &file)?;
    }
    verification.compare_stretches();
    let exit = if verification.faults.is_empty() { Exit::Done } else { Exit::Failed };
    if as_json {
        output::json(&verification.to_json(exit));
    } else {
        output::result(&verification.in_words());
    }
    Ok(exit)
}

impl Verification {
    fn read(&mut self, root: &Path, path: &Path) -> Result<(), Failure> {
        let file = self.files.len();
        let shown = path.strip_prefix(root).ok().filter(|rest| !rest.as_os_str().is_empty()).unwrap_or(path);
        self.files.push(output::visible(&shown.display().to_string()));
        let month = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        self.months.push(month.filter(|name| is_month(name)).unwrap_or_default());
        let mut reader = LineReader::open(path, 0)?;
        let mut number = 0;
        let mut current: BTreeMap<String, Stretch> = BTreeMap::new();
        while let Some(line) = reader.next_line()? {
            number += 1;
            let placed = match placed(&line) {
                Ok(placed) => placed,
                Err(message) => {
                    self.faults.push(Fault { file, line: number, message });
                    continue;
                }
            };
            self.events += 1;
            match current.get_mut(&placed.emitter) {
                None => {
                    current.insert(placed.emitter.clone(), Stretch::new(file, number, &placed));
                }
                Some(stretch) => {
                    let faults = stretch.go_on(&placed);
                    self.faults.extend(faults.into_iter().map(|message| Fault {
                        file,
                        line: number,
                        message,
                    }));
                }
            }
        }
        for (emitter, stretch) in current {
            self.stretches.entry(emitter).or_default().push(stretch);
        }
        Ok(())
    }

    /// A process that goes on in another file goes on with the next number, and later.
    fn compare_stretches(&mut self) {
        let oldest_month = self.months.iter().filter(|month| !month.is_empty()).min().cloned();
        for stretches in self.stretches.values_mut() {
            stretches.sort_by_key(|stretch| stretch.first_seq);
            let Some(first) = stretches.first() else { continue };
            if first.first_seq > 1 {
                // Old months are removed whole, so that only the oldest one can begin in the middle.
                let may_be_cut = oldest_month.as_ref() == Some(&self.months[first.file]);
                if may_be_cut {
                    self.begun_before += 1;
                } else {
                    let missing = numbers(1, first.first_seq - 1);
                    self.faults.push(first.fault(format!("{missing} of this process before it")));
                }
            }
            for pair in stretches.windows(2) {
                let [before, after] = pair else { continue };
                if after.first_seq <= before.last_seq {
                    let message = format!("number {} stands twice for this process", after.first_seq);
                    self.faults.push(after.fault(message));
                } else if after.first_seq > before.last_seq + 1 {
                    let missing = numbers(before.last_seq + 1, after.first_seq - 1);
                    self.faults.push(after.fault(format!("{missing} of this process before it")));
                }
                if after.first_time < before.last_time {
                    self.faults.push(after.fault(earlier(after.first_time, before.last_time)));
                }
            }
        }
        self.faults.sort_by_key(|fault| (fault.file, fault.line));
    }

    fn to_json(&self, exit: Exit) -> Value {
        let fault = |fault: &Fault| json!({"file": self.files[fault.file], "line": fault.line, "message": fault.message});
        json!({
            "status": if exit == Exit::Done { "ok" } else { "error" },
            "exit_code": exit.code(),
            "files": self.files.len(),
            "events": self.events,
            "processes": self.stretches.len(),
            "begun_before_the_oldest_month": self.begun_before,
            "faults_count": self.faults.len(),
            "faults": self.faults.iter().take(FAULTS_SHOWN_MAX).map(fault).collect::<Vec<_>>(),
        })
    }

    fn in_words(&self) -> String {
        let mut text = String::new();
        for fault in self.faults.iter().take(FAULTS_SHOWN_MAX) {
            text.push_str(&format!("{}:{}: {}\n", self.files[fault.file], fault.line, fault.message));
        }
        if self.faults.len() > FAULTS_SHOWN_MAX {
            text.push_str(&format!("… {} more faults\n", self.faults.len() - FAULTS_SHOWN_MAX));
        }
        let looked = format!(
            "{} of {} in {}",
            counted(self.events, "event", "events"),
            counted(self.stretches.len() as u64, "process", "processes"),
            counted(self.files.len() as u64, "file", "files")
        );
        if self.faults.is_empty() {
            text.push_str(&format!("the trail is whole: {looked}\n"));
        } else {
            let faults = counted(self.faults.len() as u64, "fault", "faults");
            text.push_str(&format!("the trail is not whole: {faults} in {looked}\n"));
        }
        if self.begun_before > 0 {
            let processes = counted(self.begun_before, "process", "processes");
            text.push_str(&format!("{processes} began before the oldest month that is kept\n"));
        }
        text
    }
}

impl Stretch {
    const fn new(file: usize, line: u64, placed: &Placed) -> Self {
        let Placed { seq, time, .. } = *placed;
        Self { file, first_line: line, first_seq: seq, last_seq: seq, first_time: time, last_time: time }
    }

    /// Takes the next event in; says what is wrong with its place.
    fn go_on(&mut self, placed: &Placed) -> Vec<String> {
        let mut faults = vec![];
        if placed.seq <= self.last_seq {
            faults.push(format!("number {} after {} of the same process", placed.seq, self.last_seq));
        } else if placed.seq > self.last_seq + 1 {
            faults.push(format!("{} of this process before it", numbers(self.last_seq + 1, placed.seq - 1)));
        }
        if placed.time < self.last_time {
            faults.push(earlier(placed.time, self.last_time));
        }
        self.first_seq = self.first_seq.min(placed.seq);
        self.last_seq = self.last_seq.max(placed.seq);
        self.last_time = placed.time;
        faults
    }

    const fn fault(&self, message: String) -> Fault {
        Fault { file: self.file, line: self.first_line, message }
    }
}

fn numbers(first: u64, last: u64) -> String {
    if first == last {
        format!("number {first} is missing")
    } else {
        format!("numbers {first} to {last} are missing")
    }
}

fn earlier(time: Timestamp, than: Timestamp) -> String {
    format!("its time {time} is before {than}, the one of the event before")
}

/// Reads a line as an event with its place, or says why it is none.
fn placed(line: &Line) -> Result<Placed, String> {
    if line.bytes.iter().all(u8::is_ascii_whitespace) {
        return Err("no event: the line is empty".to_owned());
    }
    if !line.is_whole {
        return Err("no event: the line is cut short".to_owned());
    }
    let value: Value = serde_json::from_slice(&line.bytes).map_err(|error| format!("no event: {error}"))?;
    if let Some(kind) = value["type"].as_str().filter(|kind| !KINDS.contains(kind)) {
        return Err(format!("no event: `{}` is no kind of event", output::visible(kind)));
    }
    let time = value["timestamp"].as_str().and_then(|text| text.parse().ok());
    let time: Timestamp = time.ok_or("no event: it has no `timestamp`")?;
    let emitter = value["data"]["emitter"].as_str().ok_or("no event: it has no `data.emitter`")?.to_owned();
    let seq = value["data"]["audit_seq"].as_u64().filter(|seq| *seq > 0);
    let seq = seq.ok_or("no event: it has no `data.audit_seq` from 1 up")?;
    serde_json::from_value::<AuditEvent>(value).map_err(|error| format!("no event: {error}"))?;
    Ok(Placed { emitter, seq, time })
}

/// Whether a folder's name is `YYYY-MM`.
fn is_month(name: &str) -> bool {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    name.split_once('-').is_some_and(|(year, month)| {
        year.len() == 4 && month.len() == 2 && is_digits(year) && is_digits(month)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event of the process `emitter`, so many seconds after the hour.
    fn event(emitter: &str, seq: u64, second: u64) -> String {
        json!({
            "type": "turn_started",
            "timestamp": format!("2026-01-02T03:00:{second:02}Z"),
            "data": {"chain_id": "s.1", "emitter": emitter, "audit_seq": seq},
        })
        .to_string()
    }

    /// What is wrong with these files, each with its lines.
    fn faults(files: &[(&str, &[String])]) -> Vec<String> {
        verified(files).in_words().lines().map(str::to_owned).collect()
    }

    fn verified(list: &[(&str, &[String])]) -> Verification {
        let dir = tempfile::tempdir().unwrap();
        for (name, lines) in list {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        }
        let mut verification = Verification::default();
        for file in files(dir.path()).unwrap() {
            verification.read(dir.path(), &file).unwrap();
        }
        verification.compare_stretches();
        verification
    }

    #[test]
    fn a_trail_of_several_processes_and_files_is_whole() {
        let found = faults(&[
            ("2026-01/1.jsonl", &[event("a", 1, 0), event("a", 2, 1)]),
            ("2026-01/2.jsonl", &[event("b", 1, 0), event("b", 2, 0)]),
            ("2026-01/3.jsonl", &[event("a", 3, 2)]),
        ]);
        assert_eq!(found, ["the trail is whole: 5 events of 2 processes in 3 files"]);
    }

    #[test]
    fn each_fault_is_told_with_its_line() {
        let whole = event("a", 1, 0);
        for (lines, told) in [
            (
                vec![event("a", 1, 0), event("a", 3, 0)],
                "f.jsonl:2: number 2 is missing of this process before it",
            ),
            (
                vec![event("a", 1, 0), event("a", 5, 0)],
                "f.jsonl:2: numbers 2 to 4 are missing of this process before it",
            ),
            (vec![event("a", 1, 0), event("a", 1, 0)], "f.jsonl:2: number 1 after 1 of the same process"),
            (vec![event("a", 2, 0)], "f.jsonl:1: number 1 is missing of this process before it"),
            (
                vec![event("a", 1, 5), event("a", 2, 4)],
                "f.jsonl:2: its time 2026-01-02T03:00:04Z is before 2026-01-02T03:00:05Z, the one of the event before",
            ),
            (vec![whole.clone(), String::new()], "f.jsonl:2: no event: the line is empty"),
            (
                vec![whole.replace("turn_started", "turn_begun")],
                "f.jsonl:1: no event: `turn_begun` is no kind of event",
            ),
            (vec![whole.replace("chain_id", "chain")], "f.jsonl:1: no event: missing field `chain_id`"),
            (
                vec![whole.replace("audit_seq", "seq")],
                "f.jsonl:1: no event: it has no `data.audit_seq` from 1 up",
            ),
            (vec![whole.replace("emitter", "by")], "f.jsonl:1: no event: it has no `data.emitter`"),
            (vec![whole.replace("2026-01-02T", "")], "f.jsonl:1: no event: it has no `timestamp`"),
            (vec![whole[..20].to_owned()], "f.jsonl:1: no event: EOF while parsing"),
        ] {
            let found = faults(&[("f.jsonl", &lines)]);
            assert!(found[0].starts_with(told), "{told}\n{found:#?}");
        }
    }

    #[test]
    fn a_file_taken_from_the_middle_is_missed() {
        let found =
            faults(&[("2026-01/1.jsonl", &[event("a", 1, 0)]), ("2026-01/3.jsonl", &[event("a", 4, 0)])]);
        assert_eq!(found[0], "2026-01/3.jsonl:1: numbers 2 to 3 are missing of this process before it");
    }

    #[test]
    fn only_the_oldest_month_may_begin_in_the_middle() {
        let old = [event("a", 7, 0)];
        let new = [event("b", 7, 0)];
        let found = faults(&[("2026-01/1.jsonl", &old), ("2026-02/2.jsonl", &new)]);
        assert_eq!(
            found,
            [
                "2026-02/2.jsonl:1: numbers 1 to 6 are missing of this process before it",
                "the trail is not whole: 1 fault in 2 events of 2 processes in 2 files",
                "1 process began before the oldest month that is kept",
            ]
        );
    }

    #[test]
    fn a_line_cut_short_at_the_end_is_a_fault() {
        let line = Line { bytes: event("a", 1, 0).into_bytes(), is_whole: false };
        assert_eq!(placed(&line).err().as_deref(), Some("no event: the line is cut short"));
    }

    #[test]
    fn the_files_of_one_second_are_in_the_order_of_their_numbers() {
        let first = [event("a", 1, 0)];
        let lines: Vec<[String; 1]> = (2..13).map(|seq| [event("a", seq, 0)]).collect();
        let names: Vec<String> = (1..12).map(|at| format!("2026-01/x_{at}.jsonl")).collect();
        let mut list: Vec<(&str, &[String])> = vec![("2026-01/x.jsonl", &first)];
        list.extend(names.iter().map(String::as_str).zip(lines.iter().map(|line| &line[..])));
        assert_eq!(verified(&list).faults, []);
    }
}
