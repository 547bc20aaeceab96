//! What a person is asked before a call runs, and what they may answer.

use std::path::Path;

use futures::future::BoxFuture;
use reyn_core::permission::{AskReason, FileOp, Target, Zones};
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
    /// What is done to the file.
    pub op: FileOp,
    /// The real place, as shown to people.
    pub place: String,
    /// Which rule asks.
    pub rule: String,
    /// Whether the answer may cover more than this call.
    pub may_widen: bool,
    /// The folder that a wider yes covers.
    pub folder: String,
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
    /// What is done to the file.
    pub op: FileOp,
    /// The real place, as shown to people.
    pub place: String,
    /// What the call would change, when it changes a text.
    pub change: Option<Change>,
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

/// Whether a yes may cover more than the call: nobody's files but the runtime's own are excepted, and where
/// a link leads is only asked about so that the link may go.
pub(super) const fn may_widen(reason: &AskReason, target: &Target) -> bool {
    reason.allowed_by.is_some() && target.link.is_none()
}

/// A target as people are shown it.
pub(super) fn place(target: &Target, zones: &Zones) -> String {
    match &target.link {
        Some(link) => format!("{} (a link to {})", zones.display(link), zones.display(&target.path)),
        None => zones.display(&target.path),
    }
}

impl Question {
    pub(super) fn new(
        call: &ToolCall,
        op: FileOp,
        target: &Target,
        reason: &AskReason,
        zones: &Zones,
        change: Option<Change>,
    ) -> Self {
        Self {
            tool: call.name.clone(),
            op,
            place: place(target, zones),
            rule: reason.rule.clone(),
            may_widen: may_widen(reason, target) && is_seen(change.as_ref()),
            folder: zones.display(wider_place(op, target)),
            change,
            waiting: vec![],
        }
    }
}
