//! Measures the small-model profile: `cargo run -p reyn-local --example profile -- MODEL_ID [THREADS [TOOLS]]`.
//!
//! Prints for 5 and for 30 tools (or for TOOLS alone) how many tasks a local model gets right, and each miss.
//! On a busy machine one thread is much faster than one for each core.

mod tasks;

use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use reyn_core::conversation::{Entry, Reply, Usage};
use reyn_core::tool::{Args, Outcome, Output, ToolCall};
use reyn_core::tool_use::{Framing, Surface, ToolFormat, small_model};
use reyn_llm::files::{Catalogue, ModelFile};
use reyn_llm::{ChatModel as _, ModelError};
use reyn_local::{LocalChat, LocalOptions};

use crate::tasks::{SETS, Tasks, ToolTask, TwoTurnTask, surface};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let id = arguments.next().ok_or("usage: profile MODEL_ID [THREADS [TOOLS]]")?;
    let threads = match arguments.next() {
        Some(threads) => threads.parse()?,
        None => std::thread::available_parallelism().map_or(1, |count| count.get().min(8) as u32),
    };
    let counts = match arguments.next() {
        Some(count) => vec![count.parse()?],
        None => vec![5, 30],
    };
    let catalogue = Catalogue::bundled();
    let file = catalogue.model(&id)?;
    let chat = LocalChat::open(options(file, threads)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut out = std::io::stdout();
    for count in counts {
        for tasks in &SETS {
            let mut run = Run { chat: &chat, surface: surface(count), measured: Measured::default() };
            runtime.block_on(run.all(tasks))?;
            writeln!(out, "{id}, {count} tools, {}: {}", tasks.name, run.measured.summary())?;
            for miss in &run.measured.misses {
                writeln!(out, "   miss: {miss}")?;
            }
        }
    }
    Ok(())
}

fn options(file: &ModelFile, threads: u32) -> Result<LocalOptions, Failure> {
    let folder = match std::env::var_os("REYN_TEST_MODEL_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => std::env::home_dir().ok_or("no home folder")?.join(".cache/reyn/models"),
    };
    Ok(LocalOptions {
        model_path: folder.join(&file.first().sha256),
        model_id: file.id.clone(),
        sha256: file.first().sha256.clone(),
        threads,
        context_tokens: 4096,
        state_dir: None,
    })
}

/// One model with one set of tools.
struct Run<'a> {
    chat: &'a LocalChat,
    surface: Surface,
    measured: Measured,
}

impl Run<'_> {
    async fn all(&mut self, tasks: &Tasks) -> Result<(), ModelError> {
        for task in tasks.tool {
            self.tool_task(task).await?;
        }
        for text in tasks.plain {
            self.plain(text).await?;
        }
        for task in tasks.two_turn {
            self.two_turns(task).await?;
        }
        Ok(())
    }

    async fn tool_task(&mut self, task: &ToolTask) -> Result<(), ModelError> {
        let reply = self.ask(&[said(task.said)]).await?;
        let is_right = reply
            .calls
            .first()
            .is_some_and(|call| call.name == task.tool && call.args.to_json().contains(task.argument));
        self.measured.calls.count(is_right);
        self.measured.note(is_right, task.said, &reply);
        Ok(())
    }

    async fn plain(&mut self, text: &str) -> Result<(), ModelError> {
        let reply = self.ask(&[said(text)]).await?;
        let is_right = reply.calls.is_empty() && !reply.text.trim().is_empty();
        self.measured.plain.count(is_right);
        self.measured.note(is_right, text, &reply);
        Ok(())
    }

    /// The second step is measured on its own: after a wrong call the right one stands in the log.
    async fn two_turns(&mut self, task: &TwoTurnTask) -> Result<(), ModelError> {
        let mut reply = self.ask(&[said(task.said)]).await?;
        let is_right = reply.calls.first().is_some_and(|call| call.name == task.tool);
        self.measured.first_calls.count(is_right);
        self.measured.note(is_right, task.said, &reply);
        if !is_right {
            let args = Args::parse(task.args, false);
            let call = ToolCall { id: "call_0".to_owned(), name: task.tool.to_owned(), args };
            reply = Reply { calls: vec![call], ..Reply::default() };
        }
        let outcome = Outcome::Ok(Output::text("content", task.result));
        let log =
            [said(task.said), Entry::Reply(reply), Entry::Finished { call_id: "call_0".to_owned(), outcome }];
        let reply = self.ask(&log).await?;
        let is_right =
            reply.calls.is_empty() && task.answers.iter().any(|answer| reply.text.contains(answer));
        self.measured.answers.count(is_right);
        self.measured.note(is_right, &format!("{} (result seen)", task.said), &reply);
        Ok(())
    }

    async fn ask(&mut self, log: &[Entry]) -> Result<Reply, ModelError> {
        let mut request = small_model::request(ToolFormat::Constrained, &self.surface, log, true);
        request.output_tokens_max = Some(90);
        let begun = Instant::now();
        let reply = self.chat.reply(&request, &mut |_| {}).await?;
        self.measured.step(begun.elapsed(), reply.usage);
        Ok(Framing { format: ToolFormat::Constrained }.read(reply, &|_| true))
    }
}

fn said(text: &str) -> Entry {
    Entry::User { text: text.to_owned() }
}

/// Right ones among all.
#[derive(Default)]
struct Score {
    right: u32,
    all: u32,
}

impl Score {
    fn count(&mut self, is_right: bool) {
        self.right += u32::from(is_right);
        self.all += 1;
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.right, self.all)
    }
}

#[derive(Default)]
struct Measured {
    calls: Score,
    plain: Score,
    first_calls: Score,
    answers: Score,
    misses: Vec<String>,
    steps: u32,
    took: Duration,
    usage: Usage,
}

impl Measured {
    fn step(&mut self, took: Duration, usage: Usage) {
        // The first step also loads the model and reads the static prompt.
        if usage.cached_tokens > 0 {
            self.steps += 1;
            self.took += took;
            self.usage = self.usage.plus(usage);
        }
    }

    fn note(&mut self, is_right: bool, said: &str, reply: &Reply) {
        if is_right {
            return;
        }
        let replied = match reply.calls.first() {
            Some(call) => format!("{} {}", call.name, call.args.to_json()),
            None => format!("says {:?}", reply.text),
        };
        self.misses.push(format!("{said:?} -> {}", replied.chars().take(160).collect::<String>()));
    }

    fn summary(&self) -> String {
        let steps = self.steps.max(1);
        format!(
            "calls {}, plain chat {}, two-turn calls {}, answers {}; \
             a step {:.1} s, {} prompt tokens of which {} cached, {} written",
            self.calls,
            self.plain,
            self.first_calls,
            self.answers,
            self.took.as_secs_f64() / f64::from(steps),
            self.usage.prompt_tokens / u64::from(steps),
            self.usage.cached_tokens / u64::from(steps),
            self.usage.completion_tokens / u64::from(steps),
        )
    }
}
