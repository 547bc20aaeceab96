//! What a person is asked before a call runs, and what they may answer.

use std::path::Path;

use futures::future::BoxFuture;
use reyn_core::gate::Need;
use reyn_core::limits::COMMAND_LINES_SHOWN;
use reyn_core::permission::{AskReason, Command, FileOp, Target, WebOp, Zones};
use reyn_core::text::shell_word;
use reyn_core::tool::ToolCall;
use reyn_tools::ProposedChange;

/// A person who can be asked.
pub trait Person: Send {
    /// Puts a question; resolves when it is answered. Dropping it withdraws the question.
    fn ask<'a>(&'a mut self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The tool that wants it.
    pub tool: String,
    /// What is done.
    pub deed: Deed,
    /// To what: the real place of a file, or the whole command, as shown to people.
    pub place: String,
    /// What else must be known of it, one line each: where it runs, what it is given to read.
    pub details: Vec<String>,
    /// Which rule asks.
    pub rule: String,
    /// Whether the answer may cover more than this call.
    pub may_widen: bool,
    /// What a wider yes covers: a folder, or how a command begins. `None` when there is nothing wider.
    pub wider: Option<String>,
    /// What the call would change, when it changes a text.
    pub change: Option<Change>,
    /// Further calls of the same reply that would be asked about next, in their order.
    pub waiting: Vec<Waiting>,
}

/// A call that waits behind the one that is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The tool that wants it.
    pub tool: String,
    /// What is done.
    pub deed: Deed,
    /// To what.
    pub place: String,
    /// What the call would change, when it changes a text.
    pub change: Option<Change>,
}

/// What a person is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Something done to a file.
    File(FileOp),
    /// A program that is run.
    Run,
    /// A host that is reached.
    Reach(WebOp),
}

impl Deed {
    pub(super) const fn of(need: &Need) -> Self {
        match need {
            Need::File { op, .. } => Self::File(*op),
            Need::Exec { .. } => Self::Run,
            Need::Web { op, .. } => Self::Reach(*op),
        }
    }

    /// What it does, as in "wants to … `place`".
    #[must_use]
    pub const fn verb(self) -> &'static str {
        match self {
            Self::File(op) => op.verb(),
            Self::Run => "run",
            Self::Reach(op) => op.verb(),
        }
    }

    /// Whether it covers what is found below a folder.
    #[must_use]
    pub const fn is_search(self) -> bool {
        match self {
            Self::File(op) => op.is_search(),
            Self::Run | Self::Reach(_) => false,
        }
    }
}

/// What a person is shown of a change before it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A change of a text.
    Diff(TextChange),
    /// Why it is not shown.
    NotShown(&'static str),
}

/// A change of a text, as unified diffs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChange {
    /// What is shown with the question, and once more as what was done: at most 400 lines.
    pub excerpt: String,
    /// All of it; `None` when the excerpt is that.
    pub whole: Option<String>,
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
    /// Whether even `whole` leaves something out.
    pub is_cut: bool,
}

impl TextChange {
    /// Everything that can be shown of it.
    #[must_use]
    pub fn all(&self) -> &str {
        self.whole.as_deref().unwrap_or(&self.excerpt)
    }
}

impl From<ProposedChange> for TextChange {
    fn from(proposed: ProposedChange) -> Self {
        let ProposedChange { excerpt, whole } = proposed;
        let is_cut = whole.as_ref().unwrap_or(&excerpt).is_cut;
        let whole = whole.filter(|whole| whole.text != excerpt.text).map(|whole| whole.text);
        Self { excerpt: excerpt.text, whole, added: excerpt.added, removed: excerpt.removed, is_cut }
    }
}

/// What a person is shown of a call beside what it wants.
pub(super) struct Shown {
    /// What it would change.
    pub change: Option<Change>,
    /// What else must be known.
    pub details: Vec<String>,
}

/// Whether a person can see all of what they decide on. What they cannot is decided one call at a time.
pub(super) fn is_seen(change: Option<&Change>) -> bool {
    match change {
        Some(Change::Diff(text)) => !text.is_cut,
        Some(Change::NotShown(_)) => false,
        None => true,
    }
}

/// What a person answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Yes, for this call.
    Once,
    /// Yes, for this call and every one that waits behind it, as they were shown.
    All,
    /// Yes, for this session.
    Session,
    /// Yes, always for this path.
    JustPath,
    /// Yes, always for its folder and all below.
    Recursive,
    /// No. The reason goes to the model.
    No {
        /// Why, in the person's words.
        reason: Option<String>,
    },
}

impl Answer {
    /// No, and nothing more.
    pub const NO: Self = Self::No { reason: None };
}

/// The folder that a wider yes covers. Who lets a folder be searched means what is in it, and nothing
/// beside it.
pub(super) fn wider_place(op: FileOp, target: &Target) -> &Path {
    if op.is_search() { &target.path } else { target.path.parent().unwrap_or(&target.path) }
}

/// Whether a yes may cover more than the call: nobody's files but the runtime's own are excepted, where
/// a link leads is only asked about so that the link may go, and what a program is given to read is a program of
/// its own.
pub(super) const fn may_widen(reason: &AskReason, need: &Need) -> bool {
    reason.allowed_by.is_some()
        && match need {
            Need::File { target, .. } => target.link.is_none(),
            Need::Exec { command } => !command.has_stdin,
            Need::Web { .. } => true,
        }
}

/// What is needed, as people are shown it.
pub(super) fn place(need: &Need, zones: &Zones) -> String {
    match need {
        Need::File { target, .. } => match &target.link {
            Some(link) => format!("{} (a link to {})", zones.display(link), zones.display(&target.path)),
            None => zones.display(&target.path),
        },
        Need::Exec { command } => command.line(),
        Need::Web { host, .. } => host.clone(),
    }
}

/// What a wider yes covers, in words.
fn wider(need: &Need, zones: &Zones) -> Option<String> {
    match need {
        Need::File { op, target } => Some(zones.display(wider_place(*op, target))),
        Need::Exec { command } => {
            let words = command.beginning()?;
            Some(words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "))
        }
        Need::Web { .. } => None,
    }
}

/// The arguments of a command that have lines, line by line: the command itself is on one.
fn argument_lines(command: &Command) -> Vec<String> {
    let several = command.argv.iter().enumerate().filter(|(_, argument)| argument.trim_end().contains('\n'));
    several
        .flat_map(|(at, argument)| {
            let head = std::iter::once(format!("argument {at}:"));
            head.chain(argument.lines().map(|line| format!("  {line}")))
        })
        .collect()
}

/// What a person sees of a command beside its line.
pub(super) fn details(need: &Need, told: Vec<String>) -> Vec<String> {
    match need {
        Need::File { .. } => vec![],
        Need::Web { .. } => told,
        Need::Exec { command } => {
            let mut lines = argument_lines(command);
            lines.extend(told);
            if lines.len() > COMMAND_LINES_SHOWN {
                let rest = lines.len() - COMMAND_LINES_SHOWN;
                lines.truncate(COMMAND_LINES_SHOWN);
                lines.push(format!("… {rest} more lines"));
            }
            lines
        }
    }
}

impl Question {
    pub(super) fn new(call: &ToolCall, need: &Need, reason: &AskReason, zones: &Zones, shown: Shown) -> Self {
        let Shown { change, details } = shown;
        let is_cut = details.len() > COMMAND_LINES_SHOWN;
        Self {
            tool: call.name.clone(),
            deed: Deed::of(need),
            place: place(need, zones),
            details,
            rule: reason.rule.clone(),
            may_widen: may_widen(reason, need) && is_seen(change.as_ref()) && !is_cut,
            wider: wider(need, zones),
            change,
            waiting: vec![],
        }
    }
}
