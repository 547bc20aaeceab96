//! `reyn events --follow`: goes on as events are written, across rotation and new files.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::{Filter, Merged, Part, counted, files};
use crate::exit::{Exit, Failure};
use crate::output;
use crate::signals::cancel_on_signal;
use crate::wiring::runtime;

/// Time between two looks at the files.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Events that are shown of what is there already.
const LAST_EVENTS_MAX: usize = 20;

/// How much of each file was read, in bytes.
#[derive(Default)]
struct Followed {
    positions: BTreeMap<PathBuf, u64>,
    bad_lines: u64,
}

/// Prints the last events that fit, or all since `--since`, then each that is written, until ctrl-C or until
/// nobody reads them.
pub(super) fn run(path: &Path, filter: &Filter<'_>) -> Result<Exit, Failure> {
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        let cancel = CancellationToken::new();
        let signals = tokio::spawn(cancel_on_signal(cancel.clone()));
        let result = follow(path, filter, &cancel).await;
        signals.abort();
        result
    });
    runtime.shutdown_background();
    result
}

async fn follow(path: &Path, filter: &Filter<'_>, cancel: &CancellationToken) -> Result<Exit, Failure> {
    let mut followed = Followed::default();
    let mut last = VecDeque::new();
    followed.read(path, &mut |event| match (filter.fits(&event), filter.since) {
        (false, _) => {}
        (true, Some(_)) => filter.print(&event),
        (true, None) => {
            last.push_back(event);
            if last.len() > LAST_EVENTS_MAX {
                last.pop_front();
            }
        }
    })?;
    last.iter().for_each(|event| filter.print(event));
    if followed.positions.is_empty() {
        output::note("reyn: there are no events yet; they are shown as they are written");
    }
    let mut ticks = tokio::time::interval(POLL_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Ends when somebody says so; each round waits.
    while !output::is_closed() {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(Exit::Interrupted),
            _ = ticks.tick() => {}
        }
        let bad_lines = followed.bad_lines;
        followed.read(path, &mut |event| {
            if filter.fits(&event) {
                filter.print(&event);
            }
        })?;
        if followed.bad_lines > bad_lines {
            let count = counted(followed.bad_lines - bad_lines, "line", "lines");
            output::note(&format!(
                "reyn: {count} left out that are no events; `reyn events --verify` says which"
            ));
        }
    }
    Ok(Exit::Done)
}

impl Followed {
    /// Reads what was written since the last time, in the order of its times. What is removed is forgotten.
    fn read(&mut self, path: &Path, on_event: &mut dyn FnMut(Value)) -> Result<(), Failure> {
        let files = if path.exists() { files(path)? } else { vec![] };
        self.positions.retain(|path, _| path.exists());
        let mut grown = vec![];
        for file in files {
            let position = self.positions.get(&file).copied().unwrap_or(0);
            // It may be gone since it was listed.
            let Ok(found) = std::fs::metadata(&file) else { continue };
            let start = if found.len() < position { 0 } else { position };
            if found.len() > start {
                grown.push(Part { path: file, start });
            } else {
                self.positions.insert(file, start);
            }
        }
        let mut events = Merged::new(grown, false);
        while let Some(event) = events.next()? {
            on_event(event);
        }
        self.bad_lines += events.bad_lines;
        self.positions.extend(events.ended.into_iter().map(|part| (part.path, part.start)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn write(path: &Path, text: &str) {
        let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn read(followed: &mut Followed, path: &Path) -> Vec<String> {
        let mut kinds = vec![];
        followed.read(path, &mut |event| kinds.push(event["type"].as_str().unwrap().to_owned())).unwrap();
        kinds
    }

    #[test]
    fn every_line_is_read_once_and_whole_across_files() {
        let dir = tempfile::tempdir().unwrap();
        let [first, second] = ["2026-01-02T1.jsonl", "2026-01-02T2.jsonl"].map(|name| dir.path().join(name));
        let mut followed = Followed::default();
        assert_eq!(read(&mut followed, &dir.path().join("not/yet")), Vec::<String>::new());
        write(&first, "{\"type\":\"a\"}\n{\"type\":");
        assert_eq!(read(&mut followed, dir.path()), ["a"]);
        write(&first, "\"b\"}\nno event\n");
        write(&second, "{\"type\":\"c\"}\n");
        assert_eq!(read(&mut followed, dir.path()), ["b", "c"]);
        assert_eq!((read(&mut followed, dir.path()), followed.bad_lines), (vec![], 1));
    }

    #[test]
    fn a_file_that_is_removed_and_one_that_begins_anew_are_no_error() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.jsonl");
        let mut followed = Followed::default();
        write(&file, "{\"type\":\"a\"}\n{\"type\":\"b\"}\n");
        assert_eq!(read(&mut followed, dir.path()), ["a", "b"]);
        std::fs::write(&file, "{\"type\":\"c\"}\n").unwrap();
        assert_eq!(read(&mut followed, dir.path()), ["c"]);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(read(&mut followed, dir.path()), Vec::<String>::new());
        write(&file, "{\"type\":\"d\"}\n");
        assert_eq!(read(&mut followed, dir.path()), ["d"]);
    }
}
