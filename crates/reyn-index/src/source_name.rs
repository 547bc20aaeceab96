//! The name of a source: one component of a path that is safe on every system.

use std::fmt;

use crate::bounds::NAME_BYTES_MAX;
use crate::error::IndexError;

/// A checked name: letters and digits of any language, `-`, `_` and `.`, not beginning with a dot.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceName(String);

/// Names that some systems keep for devices.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

impl SourceName {
    /// Checks a name.
    ///
    /// # Errors
    /// [`IndexError::SourceName`] with the reason.
    pub fn new(name: &str) -> Result<Self, IndexError> {
        let why = if name.is_empty() {
            "it is empty"
        } else if name.len() > NAME_BYTES_MAX {
            "it is longer than 64 bytes"
        } else if name.starts_with('.') {
            "it begins with a dot"
        } else if name.ends_with('.') {
            "it ends with a dot"
        } else if !name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')) {
            "only letters, digits, `-`, `_` and `.` can be in it"
        } else if DEVICES.contains(&name.to_ascii_lowercase().split('.').next().unwrap_or_default())
            || name == "sources.yaml"
        {
            "that name is taken by the system"
        } else {
            return Ok(Self(name.to_owned()));
        };
        Err(IndexError::SourceName { name: name.to_owned(), why })
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_safe_component_is_a_name() {
        for name in ["docs", "メモ", "a.b-c_1", "x"] {
            assert_eq!(SourceName::new(name).unwrap().as_str(), name);
        }
        let long = "x".repeat(65);
        for name in
            ["", ".", "..", "../a", "a/b", "a\\b", ".hidden", "a b", "a\0", "nul", "a.", &long, "CON.txt"]
        {
            assert!(SourceName::new(name).is_err(), "{name:?}");
        }
    }
}
