//! What an agent may do: the intersection of four layers.
//!
//! Invariant: a layer can only narrow. Nothing here turns a refusal of one layer into a permission of
//! another, and every narrowing term says where it comes from, why it holds and what lifts it.

mod compose;
mod effective;
mod origin;
mod profile;

pub use compose::{Composed, Narrowing, compose_resolved};
pub use effective::{AgentLayer, Axis, Effective, ProfileLayer, SandboxLayer, Verdict, effective};
pub use origin::{DelegateFloor, NarrowingOrigin, NarrowingPath};
pub use profile::{CapabilityProfile, CategoryName};
