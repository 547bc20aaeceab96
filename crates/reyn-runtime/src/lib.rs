//! Sessions: the loop, the gate, the log, configuration on disk.
//!
//! Invariant: the engine knows no terminal, no home folder and no process environment. Whoever starts it
//! passes them in.

mod approvals;
mod audit;
pub mod config;
pub mod gate;
mod inbox;
mod input_history;
pub mod log;
mod screening;
mod session;
mod sessions;
mod turn;

pub use approvals::{ACTOR, ApprovalError, ApprovalStore, GivenAnswer, KeptAnswer};
pub use audit::{AuditError, AuditLog};
pub use inbox::Inbox;
pub use input_history::InputHistory;
pub use screening::{MemoryLook, Screening};
pub use session::{Clock, DEFAULT_AGENT, Listener, Session, SessionError, SessionEvent, SessionOptions};
pub use sessions::{
    Claim, FindError, Listing, OutOfOrder, Removed, Repair, SessionSummary, Sessions, StoredSession,
};
pub use turn::{CallReport, TurnReport, ending_name, is_refusal, report};
