//! Patterns of the operator (`safety.threat_scan.custom_patterns`).

use regex::{Regex, RegexBuilder};
use thiserror::Error;

use super::{CustomPattern, Scope, Severity};

/// Most patterns that an operator may add.
pub const CUSTOM_PATTERNS_MAX: usize = 100;
/// Longest expression of one, in bytes.
pub const CUSTOM_PATTERN_BYTES_MAX: usize = 1000;
/// Memory that one may take when compiled, in bytes.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// Why a scanner cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// The expression is none.
    #[error(
        "custom pattern `{id}`: {reason} at byte {position} of its regex; correct `safety.threat_scan.custom_patterns`"
    )]
    Syntax {
        /// The pattern.
        id: String,
        /// Where in the expression, in bytes.
        position: usize,
        /// Why.
        reason: String,
    },
    /// The expression cannot be used as a pattern.
    #[error("custom pattern `{id}`: {reason}; correct `safety.threat_scan.custom_patterns`")]
    Unusable {
        /// The pattern.
        id: String,
        /// Why.
        reason: String,
    },
    /// There are more than [`CUSTOM_PATTERNS_MAX`].
    #[error(
        "{count} custom patterns are more than the {CUSTOM_PATTERNS_MAX} that may be; join some with `|`"
    )]
    TooMany {
        /// How many.
        count: usize,
    },
    /// A built-in pattern does not compile: a defect of this program.
    #[error("the built-in pattern `{id}` does not compile: {reason}; report this defect")]
    Builtin {
        /// The pattern.
        id: String,
        /// Why.
        reason: String,
    },
}

/// A pattern of the operator's, ready to be looked for.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) id: String,
    pub(super) scope: Scope,
    pub(super) severity: Severity,
    pub(super) regex: Regex,
}

pub(super) fn compiled(patterns: &[CustomPattern]) -> Result<Vec<Compiled>, PatternError> {
    if patterns.len() > CUSTOM_PATTERNS_MAX {
        return Err(PatternError::TooMany { count: patterns.len() });
    }
    patterns.iter().map(compiled_one).collect()
}

fn compiled_one(pattern: &CustomPattern) -> Result<Compiled, PatternError> {
    let CustomPattern { regex, id, scope, severity } = pattern;
    let unusable = |reason: String| PatternError::Unusable { id: id.clone(), reason };
    let is_id_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if id.is_empty() || id.len() > 64 || !id.chars().all(is_id_part) {
        return Err(unusable("its id is not 1 to 64 small letters, digits and `_`".to_owned()));
    }
    if regex.len() > CUSTOM_PATTERN_BYTES_MAX {
        return Err(unusable(format!(
            "its regex has {} bytes; {CUSTOM_PATTERN_BYTES_MAX} are the limit",
            regex.len()
        )));
    }
    if let Err(error) = regex_syntax::Parser::new().parse(regex) {
        return Err(syntax_error(id, &error));
    }
    let compiled = RegexBuilder::new(regex)
        .case_insensitive(true)
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(COMPILED_BYTES_MAX)
        .build()
        .map_err(|error| {
            let is_too_big = matches!(error, regex::Error::CompiledTooBig(_));
            let too_big = || {
                format!("its regex takes more than {COMPILED_BYTES_MAX} bytes when compiled; use smaller repetitions")
            };
            unusable(if is_too_big { too_big() } else { error.to_string() })
        })?;
    if compiled.is_match("") {
        return Err(unusable("its regex matches the empty text, so it would be found everywhere".to_owned()));
    }
    Ok(Compiled { id: id.clone(), scope: *scope, severity: *severity, regex: compiled })
}

fn syntax_error(id: &str, error: &regex_syntax::Error) -> PatternError {
    let (position, reason) = match error {
        regex_syntax::Error::Parse(error) => (error.span().start.offset, error.kind().to_string()),
        regex_syntax::Error::Translate(error) => (error.span().start.offset, error.kind().to_string()),
        error => (0, error.to_string()),
    };
    PatternError::Syntax { id: id.to_owned(), position, reason }
}
