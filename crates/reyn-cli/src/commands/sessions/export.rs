//! `reyn sessions export`.

use std::path::Path;

use reyn_runtime::{Sessions, StoredSession};

use super::args::{ExportArgs, ExportFormat};
use super::markdown::markdown;
use super::{read, show};
use crate::exit::{Exit, Failure};
use crate::new_file::{self, NewFileError};
use crate::output;
use crate::transcript::parts;

/// Writes a session out. A file is written whole or not at all, and replaces none unless told to.
pub(super) fn run(args: &ExportArgs, sessions: &Sessions) -> Result<Exit, Failure> {
    let stored = read(sessions, &args.id)?;
    let bytes = match args.format {
        ExportFormat::Md => markdown(&stored.summary, &parts(stored.entries())).into_bytes(),
        ExportFormat::Json => format!("{}\n", show::whole(&stored)).into_bytes(),
        ExportFormat::Jsonl => stored.lines().collect::<Vec<_>>().concat(),
    };
    match &args.output {
        None => output::result(&String::from_utf8_lossy(&bytes)),
        Some(path) => write(path, &bytes, args.force, &stored)?,
    }
    if !stored.is_sound() {
        let id = &stored.summary.id;
        output::note(&format!(
            "reyn: this session is damaged, and only its good records were exported; `reyn sessions verify {id}` says where"
        ));
    }
    Ok(Exit::Done)
}

fn write(path: &Path, bytes: &[u8], may_replace: bool, stored: &StoredSession) -> Result<(), Failure> {
    let written =
        new_file::resolve(Path::new("."), path).and_then(|path| new_file::write(&path, bytes, may_replace));
    written.map_err(|error| match error {
        NewFileError::Exists(_) => {
            let error = NewFileError::Exists(path.to_owned());
            Failure::failed("exists", format!("{error}; `--force` replaces it, or name another file"))
        }
        NewFileError::LeadsOut { .. } => Failure::failed("leads_out", error.to_string()),
        NewFileError::Io { .. } => Failure::failed("io", error.to_string()),
    })?;
    let id = &stored.summary.id;
    output::note(&format!("{id}: {} in `{}`", output::size(bytes.len() as u64), path.display()));
    Ok(())
}
