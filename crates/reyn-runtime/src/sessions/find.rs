//! Which session a person means.

use reyn_core::limits::SESSION_TITLE_CHARS_MAX;
use reyn_core::text::{excerpt, nearest};

use super::{Sessions, is_there};
use crate::log::{LogError, check_name};

/// Names of the newest session beside its own.
const NEWEST: [&str; 2] = ["@", "latest"];
/// Names that a message about an ambiguous one lists.
const SHOWN_MAX: usize = 5;

/// Why a name stands for no session.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// There is none at all.
    #[error("there is no session here yet; `reyn chat` or `reyn ask` begins one")]
    Nothing,
    /// None is named so.
    #[error("no session is named `{wanted}`{}; `reyn sessions list` shows them", did_you_mean(near))]
    Unknown {
        /// What was asked for.
        wanted: String,
        /// Names that are near.
        near: Vec<String>,
    },
    /// Several begin so.
    #[error("{count} sessions begin with `{wanted}`: {}; write more of the name", names(shown, *count))]
    Several {
        /// What was asked for.
        wanted: String,
        /// Some of them, newest first.
        shown: Vec<String>,
        /// How many.
        count: usize,
    },
    /// The folder cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
}

fn did_you_mean(near: &[String]) -> String {
    near.first().map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

fn names(shown: &[String], count: usize) -> String {
    let quoted: Vec<String> = shown.iter().map(|name| format!("`{name}`")).collect();
    format!("{}{}", quoted.join(", "), if count > shown.len() { " …" } else { "" })
}

impl Sessions {
    /// The name that `wanted` stands for: a whole name, the beginning of one alone, or `latest` or `@` for
    /// the newest session.
    ///
    /// # Errors
    /// When it stands for none, or for several.
    pub fn find(&self, wanted: &str) -> Result<String, FindError> {
        let folder = self.open_folder()?.ok_or(FindError::Nothing)?;
        if check_name(wanted).is_ok() && is_there(&folder, wanted) {
            return Ok(wanted.to_owned());
        }
        let ids: Vec<String> = self.stamps(&folder)?.into_iter().map(|stamp| stamp.id).collect();
        let Some(newest) = ids.first() else { return Err(FindError::Nothing) };
        if NEWEST.contains(&wanted) {
            return Ok(newest.clone());
        }
        let is_meant = |id: &&String| !wanted.is_empty() && id.starts_with(wanted);
        let meant: Vec<&String> = ids.iter().filter(is_meant).collect();
        match meant.as_slice() {
            [id] => Ok((*id).clone()),
            [] => Err(FindError::Unknown {
                wanted: excerpt(wanted, SESSION_TITLE_CHARS_MAX),
                near: nearest(wanted, ids.iter().map(String::as_str)),
            }),
            several => Err(FindError::Several {
                wanted: wanted.to_owned(),
                shown: several.iter().take(SHOWN_MAX).map(|id| (*id).clone()).collect(),
                count: several.len(),
            }),
        }
    }
}
