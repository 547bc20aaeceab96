//! What the conversation log costs.

use reyn_core::conversation::{Entry, Reply};
use reyn_core::tool::{Effect, Outcome, Output};
use reyn_runtime::log::ConversationLog;

fn main() {
    divan::main();
}

const NOW: &str = "2026-01-02T03:04:05Z";

fn round(id: usize) -> [Entry; 3] {
    let reply = Reply { text: format!("reply {id}"), ..Reply::default() };
    let outcome = Outcome::Ok(Output::text("content", "a line of some file\n".repeat(10)));
    [
        Entry::Reply(reply),
        Entry::Started { call_id: id.to_string(), effect: Effect::Reads },
        Entry::Finished { call_id: id.to_string(), outcome },
    ]
}

/// Opening a session of 10,000 records.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn open_ten_thousand_records(bencher: divan::Bencher<'_, '_>) {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut log, _) = ConversationLog::open(dir.path(), "s", NOW).expect("a new log");
    for entry in (0..3_334).flat_map(round) {
        log.append(entry, NOW).expect("written");
    }
    drop(log);
    bencher.bench(|| {
        let (log, _) = ConversationLog::open(dir.path(), "s", NOW).expect("opened");
        assert!(log.entries().len() >= 10_000);
    });
}

/// One record, written and not synced.
#[divan::bench]
fn append_one_record(bencher: divan::Bencher<'_, '_>) {
    let dir = tempfile::tempdir().expect("a folder");
    let log = ConversationLog::open(dir.path(), "s", NOW).expect("a new log").0;
    let log = std::cell::RefCell::new(log);
    bencher
        .with_inputs(|| Entry::User { text: "hello".into() })
        .bench_local_values(|entry| log.borrow_mut().append(entry, NOW).expect("written"));
}
