//! Finds files and lines below an open folder: ignore rules, globs, regular expressions.
//!
//! Invariant: every file and folder is opened by its name in an open folder, so what is searched lies below
//! the root handle even while the tree is being changed. Whether a file may be read or named is asked of the
//! caller; nothing here knows permissions.

pub mod bounds;
mod folder;
mod glob;
mod grep;
pub mod path_pattern;
mod pattern;
mod root;
mod rules;
mod skipped;
#[cfg(test)]
mod tree;
mod walk;
mod watch;
mod wildcard;

use std::path::Path;

pub use glob::{GlobRequest, Globbed, glob};
pub use grep::{FileHits, GrepMode, GrepRequest, Grepped, Line, grep};
pub use root::Root;
pub use skipped::Skipped;

/// A file that is about to be reported or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found<'a> {
    /// Its absolute path, real as long as [`Root::path`] is.
    pub path: &'a Path,
    /// The file behind the path, known when it is about to be read.
    pub id: Option<FileId>,
}

/// A file, whatever its name. Taken from the open file, so it is the one that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    /// The device that it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// How many names it has.
    pub links: u64,
}

/// Whether a file may be reported or read. Asked for every such file, from several threads at once.
pub type Admits<'a> = &'a (dyn Fn(&Found<'_>) -> bool + Sync);

/// The regular expression that matches exactly this text.
#[must_use]
pub fn literal(text: &str) -> String {
    let mut expression = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if "\\.+*?()|[]{}^$#&-~".contains(c) {
            expression.push('\\');
        }
        expression.push(c);
    }
    expression
}

/// Why a search has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchError {
    /// The glob or the regular expression cannot be used; says why and what to write.
    Pattern(String),
    /// The search root cannot be opened; names it and says why.
    Root(String),
    /// The caller has cancelled the search.
    Cancelled,
}

impl std::fmt::Display for SearchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pattern(reason) => f.write_str(reason),
            Self::Root(reason) => write!(f, "cannot search {reason}"),
            Self::Cancelled => f.write_str("the search was cancelled"),
        }
    }
}

impl std::error::Error for SearchError {}
