//! Why a search gave no list, in words for a model. Not being answered is never an empty list.

use reyn_page::results::ResultsError;

use crate::get_error::GetError;

/// Why there are no results.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// The query cannot be searched for.
    #[error("the query cannot be searched for: {why}")]
    BadQuery {
        /// What is wrong with it.
        why: String,
    },
    /// The backend wants to be asked less often, or asks for a proof that a person searches.
    #[error("{why}")]
    RateLimited {
        /// The backend.
        backend: &'static str,
        /// What it said and what to do.
        why: String,
    },
    /// What the backend answered is not in the form that is known.
    #[error("{why}")]
    LayoutChanged {
        /// The backend.
        backend: &'static str,
        /// What is missing and what to do.
        why: String,
    },
    /// The backend does not answer this request, now or later.
    #[error("{why}")]
    Refused {
        /// The backend.
        backend: &'static str,
        /// What it said and what to do.
        why: String,
    },
    /// The backend answered with a redirect.
    #[error(
        "`{backend}` was not searched: it redirects to `{to}`, which is not followed; the operator sets the \
         backend's address to where it is"
    )]
    Redirected {
        /// The backend.
        backend: &'static str,
        /// Where it redirects to.
        to: String,
    },
    /// A key would be sent unencrypted.
    #[error(
        "`{backend}` was not searched: its address is `http:`, which would send the key in the clear; use `https:`"
    )]
    KeyInTheClear {
        /// The backend.
        backend: &'static str,
    },
    /// The backend could not be asked.
    #[error("`{backend}` could not be asked: {error}")]
    Unreachable {
        /// The backend.
        backend: &'static str,
        /// Why.
        error: GetError,
    },
    /// The search was cancelled.
    #[error("the search was cancelled")]
    Cancelled,
    /// No backend of the chain answered.
    #[error("no search backend answered, which does not mean that nothing was found: {}", list(.0))]
    NoneAnswered(
        /// Why not, in the order in which they were asked; at least two.
        Vec<SearchError>,
    ),
}

/// What kind of failure it is: one word for records and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchErrorKind {
    /// The query is wrong.
    BadQuery,
    /// Asked too often.
    RateLimited,
    /// Not readable.
    LayoutChanged,
    /// Not allowed, or set up wrongly.
    Refused,
    /// Not reached.
    Unreachable,
    /// Cancelled.
    Cancelled,
}

impl SearchErrorKind {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::BadQuery => "bad_query",
            Self::RateLimited => "rate_limited",
            Self::LayoutChanged => "layout_changed",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether another backend may answer.
    #[must_use]
    pub const fn may_fall_back(self) -> bool {
        match self {
            Self::RateLimited | Self::LayoutChanged | Self::Refused | Self::Unreachable => true,
            Self::BadQuery | Self::Cancelled => false,
        }
    }
}

impl SearchError {
    /// What kind it is; of several backends, the first one's.
    #[must_use]
    pub fn kind(&self) -> SearchErrorKind {
        match self {
            Self::BadQuery { .. } => SearchErrorKind::BadQuery,
            Self::RateLimited { .. } => SearchErrorKind::RateLimited,
            Self::LayoutChanged { .. } => SearchErrorKind::LayoutChanged,
            Self::Refused { .. } | Self::Redirected { .. } | Self::KeyInTheClear { .. } => {
                SearchErrorKind::Refused
            }
            Self::Unreachable { .. } => SearchErrorKind::Unreachable,
            Self::Cancelled => SearchErrorKind::Cancelled,
            Self::NoneAnswered(errors) => errors.first().map_or(SearchErrorKind::Unreachable, Self::kind),
        }
    }

    /// The backend that failed; `None` where it is none or several.
    #[must_use]
    pub const fn backend(&self) -> Option<&'static str> {
        match self {
            Self::RateLimited { backend, .. }
            | Self::LayoutChanged { backend, .. }
            | Self::Refused { backend, .. }
            | Self::Redirected { backend, .. }
            | Self::KeyInTheClear { backend }
            | Self::Unreachable { backend, .. } => Some(backend),
            Self::BadQuery { .. } | Self::Cancelled | Self::NoneAnswered(_) => None,
        }
    }

    /// Whether the message quotes what an engine answered.
    #[must_use]
    pub fn quotes_the_engine(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::LayoutChanged { .. }
            | Self::Refused { .. }
            | Self::Redirected { .. } => true,
            Self::Unreachable { error, .. } => {
                matches!(error, GetError::Protocol { .. } | GetError::Tls { .. } | GetError::Decode { .. })
            }
            Self::BadQuery { .. } | Self::KeyInTheClear { .. } | Self::Cancelled => false,
            Self::NoneAnswered(errors) => errors.iter().any(Self::quotes_the_engine),
        }
    }

    pub(super) fn of_fetch(backend: &'static str, error: GetError) -> Self {
        if error == GetError::Cancelled {
            return Self::Cancelled;
        }
        if matches!(error, GetError::RetryLater { .. }) {
            let why = format!("`{backend}` was not asked: {error}; use another backend until then");
            return Self::RateLimited { backend, why };
        }
        Self::Unreachable { backend, error }
    }

    pub(super) fn of_results(backend: &'static str, error: &ResultsError) -> Self {
        let why = error.to_string();
        match error {
            // No content at all is what some services answer when they are asked too often.
            ResultsError::RateLimited { .. } | ResultsError::Empty { .. } => {
                Self::RateLimited { backend, why }
            }
            ResultsError::LayoutChanged { .. } => Self::LayoutChanged { backend, why },
            ResultsError::Refused { .. } => Self::Refused { backend, why },
        }
    }
}

fn list(errors: &[SearchError]) -> String {
    let parts: Vec<String> =
        errors.iter().enumerate().map(|(at, error)| format!("({}) {error}", at + 1)).collect();
    parts.join("; ")
}
