//! How tools are shown to a model and how its reply is read back.
//!
//! Invariant: nothing here can make a call that the gate would refuse; every path ends in a
//! [`ToolCall`](crate::tool::ToolCall).

pub mod answer_stream;
pub mod catalog;
pub mod enumerate_all;
mod first_look;
pub mod format;
pub mod small_model;

pub use catalog::{Callable, Catalog, SessionNames, Surface};
pub use format::{Framing, Parsed, ToolFormat};
