//! What configuration, the command line and people have said about files.
//!
//! Invariant: paths here are absolute and free of links; whoever makes a [`Target`] resolves it first.

mod approval;
mod policy;
mod zones;

pub use approval::{Approval, Approvals, Scope};
pub use policy::{AskReason, FileAxis, FileOp, FilePolicy, Grant, Grants, PathRule, Rule, file_verdict};
pub use zones::{SCRATCH_PREFIX, Target, Zones};
