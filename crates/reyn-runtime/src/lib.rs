//! Sessions: the loop, the gate, the log, configuration on disk.
//!
//! Invariant: the engine knows no terminal, no home folder and no process environment. Whoever starts it
//! passes them in.

mod approvals;
mod audit;
pub mod config;
pub mod gate;
pub mod log;
mod session;
mod turn;

pub use approvals::{ACTOR, ApprovalError, ApprovalStore, KeptAnswer};
pub use audit::{AuditError, AuditLog};
pub use session::{Clock, DEFAULT_AGENT, Listener, Session, SessionError, SessionEvent, SessionOptions};
pub use turn::{CallReport, TurnReport, ending_name, is_refusal, report};
