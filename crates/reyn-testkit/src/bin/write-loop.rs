//! Changes the file `f` of a folder again and again until it is killed: `write-loop FOLDER write|edit`.
//!
//! Prints a byte before each change. Every state of the file is one of [`state`].

use std::io::Write as _;
use std::path::PathBuf;

use reyn_core::permission::{FileAxis, Zones};
use reyn_testkit::counted_file::state;
use reyn_workspace::{EditRequest, Workspace};
use tokio_util::sync::CancellationToken;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let folder = PathBuf::from(args.next().ok_or("which folder?")?);
    let is_edit = args.next().as_deref() == Some("edit");
    let workspace = Workspace::open(Zones::new(folder, vec![]), None)?;
    let mut out = std::io::stdout();
    loop {
        out.write_all(b".")?;
        out.flush()?;
        change(&workspace, is_edit)?;
    }
}

/// Brings the file into its other state.
fn change(workspace: &Workspace, is_edit: bool) -> Result<(), Box<dyn std::error::Error>> {
    let target = workspace.resolve("f", FileAxis::Write)?;
    let is_even = std::fs::read_to_string(&target.path)?.starts_with("even");
    if is_edit {
        let (old, new) = if is_even { ("even", "odd") } else { ("odd", "even") };
        let request = EditRequest { old: old.into(), new: new.into(), replace_all: true, encoding: None };
        workspace.edit(&target, &request, true, &CancellationToken::new())?;
    } else {
        workspace.write_whole(&target, &state(!is_even), None)?;
    }
    Ok(())
}
