//! The single place that knows how to build a session.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use reyn_core::capability::{
    AgentLayer, Composed, Effective, Narrowing, ProfileLayer, SandboxLayer, compose_resolved, effective,
};
use reyn_core::conversation::Entry;
use reyn_core::permission::{FilePolicy, Grants, Zones};
use reyn_core::prompt::Environment;
use reyn_core::settings::AuditSettings;
use reyn_core::tool::Caller;
use reyn_core::tool_use::Framing;
use reyn_core::turn::TurnLimits;
use reyn_runtime::gate::{Answer, Person, Question};
use reyn_runtime::{Screening, Session, SessionOptions, TurnReport};
use reyn_testkit::{Scripted, ScriptedModel, transcript};
use reyn_tools::{Context, Knowledge, MemoryIndex, Registry};
use reyn_workspace::Workspace;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A workspace, and what a session in it is allowed.
pub(crate) struct Stage {
    pub _dir: TempDir,
    pub root: PathBuf,
    pub sealed: Vec<PathBuf>,
    pub policy: FilePolicy,
    pub grants: Grants,
    pub narrowings: Vec<Narrowing>,
    pub answers: Option<Vec<Answer>>,
    /// What the person does to the file `doc.txt` while the first question is open.
    pub meanwhile: Option<String>,
    pub questions: Arc<Mutex<Vec<Question>>>,
    pub limits: TurnLimits,
    pub call_time_max: Duration,
    pub registry: Arc<Registry>,
    pub framing: Framing,
    pub screening: Screening,
    pub memory_index: Option<Arc<dyn MemoryIndex>>,
    pub knowledge: Option<Knowledge>,
    pub cancel: CancellationToken,
}

impl Stage {
    /// A workspace with a `README.md` that says hello.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::write(root.join("README.md"), "hello\n").unwrap();
        Self {
            _dir: dir,
            root,
            sealed: vec![],
            policy: FilePolicy::default(),
            grants: Grants::default(),
            narrowings: vec![],
            answers: None,
            meanwhile: None,
            questions: Arc::default(),
            limits: TurnLimits::default(),
            call_time_max: Duration::from_secs(20),
            registry: Arc::new(reyn_tools::builtin()),
            framing: Framing::default(),
            screening: Screening::default(),
            memory_index: None,
            knowledge: None,
            cancel: CancellationToken::new(),
        }
    }

    pub(crate) fn zones(&self) -> Zones {
        Zones::new(self.root.clone(), self.sealed.clone())
    }

    fn context(&self) -> Context {
        let context = Context::new(Workspace::open(self.zones(), None).unwrap());
        let context = match &self.knowledge {
            Some(knowledge) => context.with_knowledge(knowledge.clone()),
            None => context,
        };
        match &self.memory_index {
            Some(index) => context.with_memory_index(Arc::clone(index)),
            None => context,
        }
    }

    fn authority(&self) -> Effective {
        let agent = AgentLayer {
            zones: self.zones(),
            files: self.policy.clone(),
            grants: self.grants.clone(),
            ..AgentLayer::default()
        };
        let contextual: Composed = compose_resolved(self.narrowings.clone());
        effective(agent, SandboxLayer::default(), ProfileLayer::default(), contextual)
    }

    /// Opens the session `s` with this script.
    pub(crate) fn session(&self, script: Vec<Scripted>) -> (Session, Arc<ScriptedModel>) {
        let model = Arc::new(ScriptedModel::new(script).framing(self.framing));
        let person = self.answers.clone().map(|answers| -> Box<dyn Person> {
            Box::new(Scribe {
                answers: answers.into(),
                questions: Arc::clone(&self.questions),
                meanwhile: self.meanwhile.clone().map(|text| (self.root.join("doc.txt"), text)),
            })
        });
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let options = SessionOptions {
            id: "s".into(),
            state: self.root.join(".reyn"),
            model: model.clone(),
            registry: Arc::clone(&self.registry),
            caller: Caller::Chat,
            context: Arc::new(self.context()),
            authority: self.authority(),
            person,
            environment: Environment::default(),
            limits: self.limits,
            call_time_max: self.call_time_max,
            screening: self.screening.clone(),
            audit: AuditSettings::default(),
            clock: Arc::new(move || now),
            emitter: "token".into(),
        };
        (Session::open(options).unwrap().0, model)
    }

    /// Runs one turn in a fresh process' place; returns how it went and the whole conversation.
    pub(crate) fn turn(&self, text: &str, script: Vec<Scripted>) -> (TurnReport, String) {
        let (mut session, model) = self.session(script);
        let report = block_on(session.turn(text, &mut |_| {}, &self.cancel)).unwrap();
        assert_eq!(model.answers_left(), 0, "the turn ended before the script");
        (report, self.shown(session.log()))
    }

    /// The conversation with this machine's paths left out.
    pub(crate) fn shown(&self, log: &[Entry]) -> String {
        transcript(log).replace(&self.root.display().to_string(), "/work")
    }

    /// The audit trail's kinds, in order.
    pub(crate) fn audit_kinds(&self) -> Vec<String> {
        self.audit().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }

    /// The audit trail.
    pub(crate) fn audit(&self) -> Vec<serde_json::Value> {
        let mut files = files_below(&self.root.join(".reyn/events"));
        files.sort();
        files
            .iter()
            .flat_map(|file| {
                std::fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
            })
            .map(|line| serde_json::from_str(&line).unwrap())
            .collect()
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.root.join(".reyn/state/sessions/s/log.jsonl")
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .unwrap()
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() { files_below(&path) } else { vec![path] }
        })
        .collect()
}

/// A person who answers from a list and remembers what was asked.
struct Scribe {
    answers: VecDeque<Answer>,
    questions: Arc<Mutex<Vec<Question>>>,
    meanwhile: Option<(PathBuf, String)>,
}

impl Person for Scribe {
    fn ask<'a>(&'a mut self, question: &'a Question) -> BoxFuture<'a, Answer> {
        self.questions.lock().unwrap().push(question.clone());
        if let Some((path, text)) = self.meanwhile.take() {
            std::fs::write(path, text).unwrap();
        }
        let answer = self.answers.pop_front().expect("an answer for every question");
        async move { answer }.boxed()
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
