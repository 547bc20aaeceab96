//! The decision that every call passes: run it, ask a person, or refuse.

use std::fmt;
use std::sync::Arc;

use crate::capability::{Axis, Effective, NarrowingOrigin, Verdict};
use crate::permission::{AskReason, Command, EXEC_KEY, FileOp, ProcessReach, Target, WebOp, process_reach};
use crate::text::shown_path;
use crate::tool::{CallError, ErrorKind};

/// Something a call touches, beyond the tool itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// A file or folder.
    File {
        /// What is done to it.
        op: FileOp,
        /// Which one, resolved.
        target: Target,
    },
    /// Running a program.
    Exec {
        /// Which one, with its arguments.
        command: Command,
    },
    /// Reaching a host.
    Web {
        /// What for.
        op: WebOp,
        /// The host as an address names it, or the search engine.
        host: String,
    },
}

impl Need {
    /// The name of what is needed, e.g. `file.write`.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::File { op, .. } if op.is_memory() || op.is_index() => op.key(),
            Self::File { op, .. } => op.axis().key(),
            Self::Exec { .. } => EXEC_KEY,
            Self::Web { op, .. } => op.key(),
        }
    }

    /// Which path or name is needed.
    #[must_use]
    pub fn subject(&self) -> String {
        match self {
            Self::File { target, .. } => shown_path(&target.path),
            Self::Exec { command } => command.line(),
            Self::Web { host, .. } => host.clone(),
        }
    }

    fn axis(&self) -> Axis<'_> {
        match self {
            Self::File { op, target } => Axis::File { op: *op, target },
            Self::Exec { command } => Axis::Exec { command },
            Self::Web { op, host } => Axis::Web { op: *op, host },
        }
    }
}

/// A call that the gate can judge.
pub trait Judged {
    /// The tool's name, never a wrapper's.
    fn tool(&self) -> &str;
    /// Everything the call touches.
    fn needs(&self) -> &[Need];
}

/// A call that the gate permitted. Only [`decide`] makes one, and it owns the call, so a permit can be
/// neither forged nor spent on another call.
#[derive(Debug)]
pub struct Permitted<C> {
    call: C,
    reach: Reach,
}

impl<C> Permitted<C> {
    /// What was permitted, before it runs.
    #[must_use]
    pub const fn peek(&self) -> &C {
        &self.call
    }

    /// Spends the permit.
    #[must_use]
    pub fn into_parts(self) -> (C, Reach) {
        (self.call, self.reach)
    }
}

/// The authority that a call was permitted under, for what turns up while it runs: a search finds files
/// that no argument named, and each is judged as if one had. Only [`decide`] makes one.
#[derive(Debug, Clone)]
pub struct Reach(Arc<Effective>);

impl Reach {
    /// Where a program that the call runs may go.
    #[must_use]
    pub fn of_processes(&self) -> ProcessReach {
        let agent = self.0.agent();
        process_reach(&agent.zones, &agent.files, &agent.approvals)
    }

    /// Whether this host may be reached without asking: one that a redirect leads to.
    #[must_use]
    pub fn admits_host(&self, op: WebOp, host: &str) -> bool {
        self.0.verdict(Axis::Web { op, host }) == Verdict::Allow
    }

    /// Whether this may be done to the file without asking.
    #[must_use]
    pub fn admits(&self, op: FileOp, target: &Target) -> bool {
        self.0.verdict(Axis::File { op, target }) == Verdict::Allow
    }
}

/// What to do with a call.
#[derive(Debug)]
pub enum Decision<C> {
    /// Run it.
    Permit(Permitted<C>),
    /// Put this need to a person; with a yes recorded, decide again.
    Ask {
        /// The call, to be judged again.
        call: C,
        /// The first need that no rule settles.
        need: Need,
        /// Why it is asked.
        reason: AskReason,
    },
    /// Tell the model why not.
    Refuse {
        /// What is refused: a need, or the tool itself.
        need: Option<Need>,
        /// Why.
        refusal: Refusal,
    },
}

/// Decides on one call: the tool first, then each need in order.
#[must_use]
pub fn decide<C: Judged>(call: C, authority: &Arc<Effective>) -> Decision<C> {
    let tool = Axis::Tool { name: call.tool() };
    match authority.verdict(tool) {
        Verdict::Allow => {}
        Verdict::Deny(refusal) => return Decision::Refuse { need: None, refusal },
        Verdict::Ask(_) => unreachable!("no layer asks about a tool's name"),
    }
    let mut open: Option<(Need, AskReason)> = None;
    for need in call.needs() {
        match authority.verdict(need.axis()) {
            Verdict::Allow => {}
            Verdict::Deny(refusal) => return Decision::Refuse { need: Some(need.clone()), refusal },
            Verdict::Ask(reason) => open = open.or_else(|| Some((need.clone(), reason))),
        }
    }
    match open {
        Some((need, reason)) => Decision::Ask { call, need, reason },
        None => Decision::Permit(Permitted { call, reach: Reach(Arc::clone(authority)) }),
    }
}

/// Why a call may not run: the rule, and what lifts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// `tool_excluded` for a narrowing, `permission_denied` for a permission.
    pub kind: ErrorKind,
    /// What is refused, by which rule, and why.
    pub message: String,
    /// What would allow it.
    pub lifts_when: String,
    /// Whether a person could have said yes but none was there.
    pub wants_person: bool,
}

impl Refusal {
    /// The one text for everything that a narrowing takes away.
    #[must_use]
    pub fn excluded(subject: &str, name: &str, origin: &NarrowingOrigin) -> Self {
        Self {
            kind: ErrorKind::ToolExcluded,
            message: format!(
                "the {subject} `{name}` is taken away by {}: {}",
                origin.label(),
                origin.cause()
            ),
            lifts_when: format!(
                "it comes back when {}. Do not try it another way in this turn",
                origin.lifts_when()
            ),
            wants_person: false,
        }
    }

    /// The refusal as the call's outcome.
    #[must_use]
    pub fn into_error(self) -> CallError {
        CallError {
            kind: self.kind,
            message: self.message,
            suggestions: vec![],
            hint: Some(self.lifts_when),
            wants_person: self.wants_person,
            cause: String::new(),
            external: None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.lifts_when)
    }
}
