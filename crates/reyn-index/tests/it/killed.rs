//! A writer is killed many times at moments that differ, and no row that it said was committed is lost.
//!
//! The writer is this test binary, started again with the place of the store in its environment.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use reyn_index::{Filters, Removal};

use crate::fixture::{DIMENSIONS, docs, mixed, near, options, row, vector};
use crate::place::{Place, on_both_stores};

on_both_stores!(a_hundred_kills_lose_no_committed_row);

const PLACE: &str = "REYN_INDEX_KILLED";
const BEGIN: &str = "REYN_INDEX_BEGIN";
const KILLS: u64 = 100;
/// Rows of one write of the writer.
const BATCH: usize = 7;
/// How long a writer takes to start, and a write and a removal take, about, in microseconds.
const START_MICROS_MAX: u64 = 60_000;
const WRITE_MICROS_MAX: u64 = 10_000;
/// How long a commit is waited for.
const START_MAX: Duration = Duration::from_secs(10);

/// Writes batches and prints the first number after each commit, until it is killed. No test unless started so.
#[test]
fn writer() {
    let (Ok(told), Ok(begin)) = (std::env::var(PLACE), std::env::var(BEGIN)) else { return };
    let store = Place::from_told(&told).open();
    let begin: usize = begin.parse().unwrap();
    for from in (begin..begin + 100_000).step_by(BATCH) {
        let rows: Vec<_> =
            (from..from + BATCH).map(|at| row(&format!("{at}.md"), at, &format!("number{at}"))).collect();
        store.write(&docs(), &rows, &options()).unwrap();
        // A row of the batch goes again, so that removing is killed too.
        store.remove(&docs(), Removal::Path(&format!("{from}.md"))).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "committed {from}").unwrap();
        out.flush().unwrap();
    }
}

fn a_hundred_kills_lose_no_committed_row(place: &Place) {
    let mut committed: Vec<usize> = vec![];
    for kill in 0..KILLS {
        let begin = usize::try_from(kill).unwrap() * 1_000_000;
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::writer", "--nocapture", "--test-threads=1"])
            .env(PLACE, place.told())
            .env(BEGIN, begin.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = child.stdout.take().unwrap();
        let (sent, committed_now) = mpsc::channel();
        let reader = thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let number: Option<usize> =
                    line.strip_prefix("committed ").and_then(|number| number.parse().ok());
                if number.is_some_and(|number| sent.send(number).is_err()) {
                    return;
                }
            }
        });
        // A quarter dies while it starts, the others in the write after some that were committed.
        let lived: Vec<usize> =
            (0..kill % 4).map_while(|_| committed_now.recv_timeout(START_MAX).ok()).collect();
        let rest_micros_max = if kill % 4 == 0 { START_MICROS_MAX } else { WRITE_MICROS_MAX };
        thread::park_timeout(Duration::from_micros(mixed(kill) % rest_micros_max));
        child.kill().unwrap();
        child.wait().unwrap();
        reader.join().unwrap();
        committed.extend(lived.into_iter().chain(committed_now));
    }
    assert!(committed.len() > 50, "{} batches in {KILLS} lives: too few to say anything", committed.len());
    let store = place.open();
    let hashes = store.content_hashes(&docs()).unwrap();
    for from in &committed {
        for at in from + 1..from + BATCH {
            assert!(hashes.contains_key(&format!("{at}.md")), "row {at} was committed and is not there");
        }
        assert!(!hashes.contains_key(&format!("{from}.md")), "row {from} was removed and is there");
    }
    let stats = store.stats(&docs()).unwrap();
    assert_eq!(stats.rows, stats.vectors);
    assert_eq!(stats.rows, hashes.len() as u64);
    assert_eq!(store.sources().unwrap()[0].rows, stats.rows);
    let some = committed[committed.len() / 2] + 1;
    let hits = near(&*store, &vector(some as u64, DIMENSIONS), &Filters::default(), 1);
    assert_eq!(hits[0].metadata.chunk_index, some as u64);
    store.write(&docs(), &[row("after", 5, "after")], &options()).unwrap();
}
