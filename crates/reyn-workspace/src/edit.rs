//! Changing a part of a file.

use std::io::Read as _;
use std::os::fd::OwnedFd;

use reyn_core::permission::Target;
use reyn_text::diff::{self, Diff, Extent};
use reyn_text::edit::{Edit, Plan, plan};
use reyn_text::encoding::Encoding;
use rustix::fs::Stat;
use tokio_util::sync::CancellationToken;

use crate::Workspace;
use crate::bounds::{EDIT_BYTES_MAX, EDIT_LINES_NAMED_MAX, EDIT_READ_BYTES};
use crate::error::FileError;
use crate::replace::{Old, put};
use crate::write::{HOLDS_KEYS, Preview, ProposedChange, hidden_diff, other_names};

/// What to replace by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditRequest {
    /// The text that is there.
    pub old: String,
    /// The text in its place.
    pub new: String,
    /// Whether every occurrence is replaced.
    pub replace_all: bool,
    /// The encoding, when the caller knows it.
    pub encoding: Option<Encoding>,
}

/// What an edit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// How many occurrences were replaced.
    pub replacements: usize,
    /// Lines that changed, counted from 1; the first [`EDIT_LINES_NAMED_MAX`].
    pub lines: Vec<u64>,
    /// What the text was written in; `None` when both strings are ASCII and the file's encoding is not known.
    pub encoding: Option<Encoding>,
    /// What changed, for people.
    pub diff: Diff,
    /// Other names of the file, which still have the old content.
    pub other_names: u64,
}

impl Workspace {
    /// Replaces `request.old` where exactly one reading is right, and nothing otherwise. Every other byte
    /// stays. `may_show` is whether an error may show lines of the file.
    ///
    /// # Errors
    /// When there is no such text, or more than one, or the file cannot be read or written, or something
    /// else changed it meanwhile; the file is then as it was.
    pub fn edit(
        &self,
        target: &Target,
        request: &EditRequest,
        may_show: bool,
        cancel: &CancellationToken,
    ) -> Result<Edited, FileError> {
        let Planned { stat, folder, bytes, plan } = self.planned(target, request, may_show, cancel)?;
        let name = target.path.file_name().unwrap_or_default();
        if cancel.is_cancelled() {
            return Err(FileError::Cancelled);
        }
        let content = plan.apply(&bytes);
        put(&folder, name, Some(Old { stat: &stat, is_read: true }), &content)
            .map_err(|error| self.replace_error(target, &error))?;
        let diff = self.diff_of(target, &bytes, &plan);
        let mut lines: Vec<u64> = plan.splices.iter().map(|splice| splice.line).collect();
        lines.dedup();
        lines.truncate(EDIT_LINES_NAMED_MAX);
        Ok(Edited {
            replacements: plan.replacements,
            lines,
            encoding: plan.encoding,
            diff,
            other_names: other_names(&stat),
        })
    }

    /// The bytes that the file would have after an edit.
    ///
    /// # Errors
    /// As [`Self::edit`], without lines of the file.
    pub fn edited(
        &self,
        target: &Target,
        request: &EditRequest,
        cancel: &CancellationToken,
    ) -> Result<Vec<u8>, FileError> {
        let planned = self.planned(target, request, false, cancel)?;
        Ok(planned.plan.apply(&planned.bytes))
    }

    /// What an edit would change, for a person.
    #[must_use]
    pub fn preview_edit(&self, target: &Target, request: &EditRequest) -> Preview {
        if self.hides(target) {
            return Preview::NotShown(HOLDS_KEYS);
        }
        match self.planned(target, request, true, &CancellationToken::new()) {
            Ok(planned) => Preview::Change(ProposedChange::new(|extent| {
                diff::of_plan(&planned.bytes, &planned.plan, &target.asked, extent)
            })),
            Err(error) => Preview::Fails(error),
        }
    }

    fn diff_of(&self, target: &Target, bytes: &[u8], plan: &Plan) -> Diff {
        if self.hides(target) {
            hidden_diff()
        } else {
            diff::of_plan(bytes, plan, &target.asked, Extent::Excerpt)
        }
    }

    fn planned(
        &self,
        target: &Target,
        request: &EditRequest,
        may_show: bool,
        cancel: &CancellationToken,
    ) -> Result<Planned, FileError> {
        let asked = &target.asked;
        let mut file = self.open_to_read(target, "edit")?;
        let fail = |errno| self.open_error(target, errno, "edit");
        let stat = rustix::fs::fstat(&file).map_err(fail)?;
        let Some((folder, _)) = self.open_folder_of(&target.path) else {
            return Err(FileError::failed("cannot edit `/`: it is a folder"));
        };
        let folder = folder.map_err(fail)?;
        self.check_writable(target, &stat, &folder)?;
        let mut bytes = vec![];
        loop {
            if cancel.is_cancelled() {
                return Err(FileError::Cancelled);
            }
            let mut limited = file.by_ref().take(EDIT_READ_BYTES);
            let taken = limited
                .read_to_end(&mut bytes)
                .map_err(|error| FileError::failed(format!("cannot edit `{asked}`: {error}")))?;
            if bytes.len() as u64 > EDIT_BYTES_MAX {
                return Err(too_large(asked));
            }
            if taken == 0 {
                break;
            }
        }
        let edit = Edit {
            old: &request.old,
            new: &request.new,
            replace_all: request.replace_all,
            encoding: request.encoding,
        };
        let plan = plan(&bytes, &edit).map_err(|error| {
            let error = if may_show { error } else { error.without_content() };
            let failed = FileError::failed(format!("cannot edit `{asked}`: {error}"));
            match error.hint() {
                Some(hint) => failed.hint(hint),
                None => failed,
            }
        })?;
        Ok(Planned { stat, folder, bytes, plan })
    }
}

/// An edit that can be made.
struct Planned {
    stat: Stat,
    folder: OwnedFd,
    bytes: Vec<u8>,
    plan: Plan,
}

fn too_large(asked: &str) -> FileError {
    FileError::failed(format!(
        "cannot edit `{asked}`: it is larger than {} MiB, the most that is edited in place",
        EDIT_BYTES_MAX >> 20
    ))
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
