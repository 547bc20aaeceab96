//! Earlier texts: where they are kept, and the ways back to them.

use std::ops::Range;

/// Texts that a [`MemoryHistory`] keeps.
const ENTRIES_MAX: usize = 10_000;
/// Bytes of what is searched for.
const QUERY_BYTES_MAX: usize = 1 << 10;

/// Earlier texts. Where they are stored, and how many, is the business of whoever implements it.
pub trait History: Send {
    /// The texts, the oldest first. What was added last is the last of them.
    fn entries(&self) -> &[String];

    /// Adds a text. An editor adds none twice in a row, and none that begins with a space.
    fn add(&mut self, text: &str);
}

/// Earlier texts of this process, 10,000 at most.
#[derive(Debug, Default)]
pub struct MemoryHistory {
    entries: Vec<String>,
}

impl MemoryHistory {
    /// A history with these texts, the oldest first.
    #[must_use]
    pub const fn new(entries: Vec<String>) -> Self {
        Self { entries }
    }
}

impl History for MemoryHistory {
    fn entries(&self) -> &[String] {
        &self.entries
    }

    fn add(&mut self, text: &str) {
        if self.entries.len() >= ENTRIES_MAX {
            self.entries.remove(0);
        }
        self.entries.push(text.to_owned());
    }
}

/// A walk through the texts that begin with what was typed.
#[derive(Debug)]
pub(super) struct Walk {
    /// What was typed before the walk.
    typed: String,
    /// The entry that is shown.
    at: usize,
}

impl Walk {
    /// Begins at the newest entry; `None` when none begins with what was typed.
    pub(super) fn begin(typed: &str, entries: &[String]) -> Option<Self> {
        let at = entries.iter().rposition(|entry| is_other(entry, typed, typed))?;
        Some(Self { typed: typed.to_owned(), at })
    }

    /// Goes to an older entry; says whether there is one.
    pub(super) fn older(&mut self, entries: &[String]) -> bool {
        let end = self.at.min(entries.len());
        let shown = entries.get(self.at).map_or("", String::as_str);
        let found = entries[..end].iter().rposition(|entry| is_other(entry, &self.typed, shown));
        self.at = found.unwrap_or(self.at);
        found.is_some()
    }

    /// Goes to a newer entry; false when what was typed comes next.
    pub(super) fn newer(&mut self, entries: &[String]) -> bool {
        let start = (self.at + 1).min(entries.len());
        let shown = entries.get(self.at).map_or("", String::as_str);
        let found = entries[start..].iter().position(|entry| is_other(entry, &self.typed, shown));
        self.at = found.map_or(self.at, |at| start + at);
        found.is_some()
    }

    /// The entry that is shown.
    pub(super) fn entry<'a>(&self, entries: &'a [String]) -> &'a str {
        entries.get(self.at).map_or("", String::as_str)
    }

    /// What was typed before the walk.
    pub(super) fn into_typed(self) -> String {
        self.typed
    }
}

fn is_other(entry: &str, prefix: &str, shown: &str) -> bool {
    entry.starts_with(prefix) && entry != shown
}

/// A search for a text that holds what is typed.
#[derive(Debug, Default)]
pub(super) struct Search {
    query: String,
    /// The entry that was found.
    at: Option<usize>,
    /// Whether there was none beyond it.
    is_last: bool,
}

impl Search {
    pub(super) fn query(&self) -> &str {
        &self.query
    }

    /// What is said about the search, before what is searched for.
    pub(super) const fn label(&self) -> &'static str {
        match (self.query.is_empty(), self.at.is_some(), self.is_last) {
            (true, _, _) | (false, true, false) => "history: ",
            (false, false, _) => "not in the history: ",
            (false, true, true) => "no more in the history: ",
        }
    }

    /// Adds to what is searched for; what was found stays if it fits.
    pub(super) fn type_in(&mut self, text: &str, entries: &[String]) {
        let is_first = self.query.is_empty();
        let line = text.lines().next().unwrap_or_default();
        let room = QUERY_BYTES_MAX.saturating_sub(self.query.len());
        self.query.push_str(&line[..line.floor_char_boundary(room)]);
        let from = if is_first { Some(entries.len()) } else { self.at.map(|at| at + 1) };
        self.is_last = false;
        self.at = from.and_then(|from| self.find_older(from, entries));
    }

    /// Takes the last character back.
    pub(super) fn delete(&mut self, start: usize, entries: &[String]) {
        self.query.truncate(start);
        self.is_last = false;
        self.at = self.find_older(entries.len(), entries);
    }

    fn find_older(&self, from: usize, entries: &[String]) -> Option<usize> {
        let end = from.min(entries.len());
        if self.query.is_empty() {
            return None;
        }
        entries[..end].iter().rposition(|entry| self.place_in(entry).is_some())
    }

    /// Where an entry holds what is searched for. Capitals count where one was typed.
    fn place_in(&self, entry: &str) -> Option<usize> {
        if self.query.chars().any(|c| c.is_ascii_uppercase()) {
            return entry.find(&self.query);
        }
        // Only ASCII letters change, so places stay what they are.
        entry.to_ascii_lowercase().find(&self.query)
    }

    /// Goes on to another entry, older or newer.
    pub(super) fn go_on(&mut self, is_older: bool, entries: &[String]) {
        let Some(at) = self.at else { return };
        let shown = entries.get(at).map_or("", String::as_str);
        let fits = |entry: &String| self.place_in(entry).is_some() && entry != shown;
        let found = if is_older {
            entries[..at.min(entries.len())].iter().rposition(fits)
        } else {
            let start = (at + 1).min(entries.len());
            entries[start..].iter().position(fits).map(|found| start + found)
        };
        self.is_last = found.is_none();
        self.at = found.or(self.at);
    }

    /// The entry that was found, and where in it what was searched for stands.
    pub(super) fn found<'a>(&self, entries: &'a [String]) -> Option<(&'a str, Range<usize>)> {
        let entry = entries.get(self.at?)?;
        let start = self.place_in(entry)?;
        Some((entry, start..start + self.query.len()))
    }
}
