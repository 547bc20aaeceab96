//! [`FileError`]: why a file operation gave nothing.

use std::fmt;

/// Why a file operation gave nothing. Read by a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileError {
    /// It was tried and failed.
    Failed {
        /// What happened and why.
        message: String,
        /// What to do next.
        hint: Option<String>,
        /// Paths that exist and are near the one that does not.
        suggestions: Vec<String>,
    },
    /// The caller cancelled it.
    Cancelled,
}

impl FileError {
    /// A failure without a hint.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), hint: None, suggestions: vec![] }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(self, text: impl Into<String>) -> Self {
        match self {
            Self::Failed { message, suggestions, .. } => {
                Self::Failed { message, hint: Some(text.into()), suggestions }
            }
            Self::Cancelled => Self::Cancelled,
        }
    }

    /// Adds near paths.
    #[must_use]
    pub fn suggest(self, paths: Vec<String>) -> Self {
        match self {
            Self::Failed { message, hint, .. } => Self::Failed { message, hint, suggestions: paths },
            Self::Cancelled => Self::Cancelled,
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { message, .. } => f.write_str(message),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl std::error::Error for FileError {}
