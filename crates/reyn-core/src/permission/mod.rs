//! What configuration, the command line and people have said about files, commands and hosts.
//!
//! Invariant: paths here are absolute and free of links; whoever makes a [`Target`] resolves it first.

mod approval;
mod exec;
mod policy;
mod process;
mod web;
mod zones;

pub use approval::{About, Approval, Approvals, Scope};
pub use exec::{Command, EXEC_KEY, ExecPolicy, ExecRule, command_words, exec_verdict};
pub use policy::{AskReason, FileAxis, FileOp, FilePolicy, Grant, Grants, PathRule, Rule, file_verdict};
pub use process::{ProcessReach, process_reach};
pub use web::{WebOp, WebPolicy, WebRule, covers_host, web_verdict};
pub use zones::{Place, SCRATCH_PREFIX, Target, Zones};
