//! What every call and every round costs in decisions alone.

use std::sync::Arc;

use reyn_core::capability::{
    AgentLayer, Narrowing, NarrowingOrigin, ProfileLayer, SandboxLayer, compose_resolved, effective,
};
use reyn_core::conversation::{Ending, Entry, Reply};
use reyn_core::gate::{Decision, Judged, Need, decide};
use reyn_core::outside::Passages;
use reyn_core::permission::{Approval, Approvals, FileOp, Scope, Target, Zones};
use reyn_core::request::messages;
use reyn_core::tool::{Args, Effect, External, Outcome, Output, ToolCall};
use reyn_core::turn::{TurnLimits, next_step};

fn main() {
    divan::main();
}

struct Call(Vec<Need>);

impl Judged for Call {
    fn tool(&self) -> &str {
        "write_file"
    }
    fn needs(&self) -> &[Need] {
        &self.0
    }
}

/// A call judged by ten narrowings of twenty names each and a hundred approvals.
#[divan::bench]
fn decide_one_call(bencher: divan::Bencher<'_, '_>) {
    let narrowing = |at: usize| Narrowing {
        tool_deny: (0..20).map(|name| format!("tool_{at}_{name}")).collect(),
        ..Narrowing::inert(NarrowingOrigin::exclude_tools())
    };
    let approval = |at: usize| {
        Approval::file(FileOp::Write, format!("/work/folder_{at}").into(), Scope::Recursive, true)
    };
    let agent = AgentLayer {
        zones: Zones::new("/work".into(), vec![]),
        approvals: Approvals((0..100).map(approval).collect()),
        ..AgentLayer::default()
    };
    let narrowings = compose_resolved((0..10).map(narrowing));
    let authority = Arc::new(effective(agent, SandboxLayer::default(), ProfileLayer::default(), narrowings));
    let target = Target {
        asked: "folder_0/a.rs".into(),
        path: "/work/folder_0/a.rs".into(),
        same_as: None,
        link: None,
    };
    bencher
        .with_inputs(|| Call(vec![Need::File { op: FileOp::Write, target: target.clone() }]))
        .bench_values(|call| assert!(matches!(decide(call, &authority), Decision::Permit(_))));
}

/// A session of 10,000 entries that ends inside a turn of 80 rounds.
fn long_log() -> Vec<Entry> {
    let call = |id: usize| ToolCall {
        id: format!("call_{id}"),
        name: "read_file".into(),
        args: Args::parse(r#"{"path": "README.md"}"#, false),
    };
    let round = |id: usize| {
        [
            Entry::Reply(Reply { calls: vec![call(id)], ..Reply::default() }),
            Entry::Started { call_id: format!("call_{id}"), effect: Effect::Reads },
            Entry::Finished {
                call_id: format!("call_{id}"),
                outcome: Outcome::Ok(Output::text("content", "hello\n")),
            },
        ]
    };
    let mut log = vec![];
    while log.len() < 9_760 {
        log.push(Entry::User { text: "go".into() });
        log.extend((0..3).flat_map(round));
        log.push(Entry::Reply(Reply { text: "done".into(), ..Reply::default() }));
        log.push(Entry::Ended { ending: Ending::Answered });
    }
    log.push(Entry::User { text: "go".into() });
    log.extend((0..79).flat_map(round));
    log
}

#[divan::bench]
fn next_step_on_ten_thousand_entries(bencher: divan::Bencher<'_, '_>) {
    let log = long_log();
    let limits = TurnLimits { rounds_max: 80, ..TurnLimits::default() };
    bencher.bench(|| next_step(divan::black_box(&log), limits));
}

#[divan::bench]
fn messages_of_ten_thousand_entries(bencher: divan::Bencher<'_, '_>) {
    let log = long_log();
    bencher.bench(|| messages(divan::black_box(&log)).len());
}

/// 7.4 MB of pages in the log, none of which a new file of 40 kB repeats.
#[divan::bench(sample_count = 20)]
fn whether_a_file_repeats_7_4_mb_that_came(bencher: divan::Bencher<'_, '_>) {
    let mut state = 7_u64;
    let mut words = |bytes: usize| {
        let mut text = String::new();
        while text.len() < bytes {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let word =
                ["word", "Larder", "棚卸し", "and", "of", "9"][usize::try_from(state >> 33).unwrap_or(0) % 6];
            text.push_str(&format!("{word}{}, ", state >> 50));
        }
        text
    };
    let page = |text: String| {
        let mut output = Output::text("content", text);
        output.external = Some(External::by("web_fetch"));
        Entry::Finished { call_id: "1".into(), outcome: Outcome::Ok(output) }
    };
    let log: Vec<Entry> = (0..148).map(|_| page(words(50_000))).collect();
    let args = Args::parse(&serde_json::json!({"path": "a", "content": words(40_000)}).to_string(), false);
    bencher.bench(|| assert_eq!(repeated(&args, &log), None));
}

fn repeated(args: &Args, log: &[Entry]) -> Option<String> {
    let passages = Passages::of(args)?;
    log.iter().find_map(|entry| passages.repeated_in(entry))
}
