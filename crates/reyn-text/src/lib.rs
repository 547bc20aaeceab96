//! Between the bytes of a file and text. Pure functions: nothing here opens a file.
//!
//! Invariant: an edit is a list of byte ranges and what stands in their place. Bytes outside the ranges are
//! never decoded and written back, so they cannot change.

pub mod declared;
pub mod diff;
pub mod edit;
pub mod encoding;
pub mod fold;
pub mod near;
pub mod reader;
mod shown;
