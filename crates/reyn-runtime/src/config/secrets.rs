//! `~/.reyn/secrets.env`: keys that no configuration file should hold.
//!
//! Invariant: a value never reaches a message, a notice or `Debug`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::files;
use super::problem::ConfigProblem;

/// How the file is called in messages.
pub(super) const SECRETS_FILE: &str = "~/.reyn/secrets.env";

/// The variables of the secrets file.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secrets(BTreeMap<String, String>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")?;
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Secrets {
    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Reads the file below the home folder, with warnings for what is odd in it.
    ///
    /// # Errors
    /// When the file is there and cannot be trusted: a link, no regular file, or another user's.
    pub fn load(home: &Path) -> Result<(Self, Vec<String>), ConfigProblem> {
        let path = home.join(".reyn/secrets.env");
        let file = match files::open(&path, SECRETS_FILE, OFlags::NOFOLLOW) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok((Self::default(), vec![])),
            Err(_) if path.is_symlink() => {
                return Err(ConfigProblem::in_file(SECRETS_FILE, "it is a symbolic link")
                    .hint("put the file itself there"));
            }
            Err(problem) => return Err(problem),
        };
        let mut warnings: Vec<String> = guard(&file)?.into_iter().collect();
        let (secrets, odd) = Self::parse(&files::text_of(file, SECRETS_FILE).map_err(without_line)?);
        warnings.extend(odd);
        Ok((secrets, warnings))
    }

    /// Parses `NAME=value` lines: `export` before them, quotes and comments are allowed.
    #[must_use]
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut values = BTreeMap::new();
        let mut warnings = vec![];
        for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match assignment(line) {
                Ok((name, value)) => {
                    values.insert(name, value);
                }
                Err(why) => warnings.push(format!("{SECRETS_FILE}:{}: line skipped: {why}", at + 1)),
            }
        }
        (Self(values), warnings)
    }
}

/// Refuses a file of another user; takes the rights of others away and says so.
fn guard(file: &File) -> Result<Option<String>, ConfigProblem> {
    let cannot =
        |error| ConfigProblem::in_file(SECRETS_FILE, format!("cannot read it: {}", files::said(&error)));
    let found = file.metadata().map_err(cannot)?;
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(ConfigProblem::in_file(SECRETS_FILE, "it belongs to another user")
            .hint("make it yours, or remove it"));
    }
    let mode = found.mode() & 0o7777;
    if mode & 0o077 == 0 {
        return Ok(None);
    }
    file.set_permissions(Permissions::from_mode(0o600)).map_err(|_| {
        let message = format!("others can read it (mode {mode:o}), and its mode cannot be changed");
        ConfigProblem::in_file(SECRETS_FILE, message).hint("set its mode to 600")
    })?;
    Ok(Some(format!("{SECRETS_FILE} could be read by others (mode {mode:o}); its mode is now 600")))
}

/// The line could hold a secret.
fn without_line(problem: ConfigProblem) -> ConfigProblem {
    ConfigProblem { source_line: None, ..problem }
}

fn assignment(line: &str) -> Result<(String, String), &'static str> {
    let line = line.strip_prefix("export ").map_or(line, str::trim_start);
    let (name, value) = line.split_once('=').ok_or("it has no `=`")?;
    let name = name.trim_end();
    if !is_variable(name) {
        return Err("what stands before `=` is no variable name");
    }
    let value = value.trim_start();
    let value = match value.chars().next() {
        Some('\'') => {
            let (inside, rest) = value[1..].split_once('\'').ok_or("a quote is not closed")?;
            nothing_after(rest)?;
            inside.to_owned()
        }
        Some('"') => double_quoted(&value[1..])?,
        Some(_) | None => value.split_once(" #").map_or(value, |(value, _)| value).trim_end().to_owned(),
    };
    Ok((name.to_owned(), value))
}

fn double_quoted(text: &str) -> Result<String, &'static str> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return nothing_after(&text[at + 1..]).map(|()| value),
            '\\' => match characters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, other)) => value.push(other),
                None => break,
            },
            other => value.push(other),
        }
    }
    Err("a quote is not closed")
}

fn nothing_after(rest: &str) -> Result<(), &'static str> {
    let rest = rest.trim_start();
    if rest.is_empty() || rest.starts_with('#') { Ok(()) } else { Err("something follows the closing quote") }
}

/// Whether `name` can name a variable.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
