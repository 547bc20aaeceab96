//! Walks the folders below an open one, depth first and sorted by name.
//!
//! Invariant: the order is that of path components compared byte by byte, so a result can be cut and
//! continued anywhere. No link is followed and no other file system is entered.

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use crate::bounds::Bounds;
use crate::folder::{Kind, device, is_out_of_descriptors, kind, list, open_folder, reason};
use crate::pattern::{Pattern, Place, Reach};
use crate::root::SearchFolder;
use crate::rules::{RuleFiles, Rules, Verdict};
use crate::skipped::Skipped;
use crate::watch::{Stop, Watch};

/// Yields the files that a pattern and the ignore rules leave, one at a time.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    pattern: &'a Pattern,
    watch: Watch<'a>,
    bounds: Bounds,
    does_include_ignored: bool,
    device: u64,
    stack: Vec<Level>,
    /// Relative to the root handle; below the frame on top, its name is the one visited last.
    path: Vec<u8>,
    skipped: Skipped,
    partial: Option<String>,
    entries: usize,
    listing_buffer: Vec<u8>,
    spare: Vec<Listing>,
    /// Whether the folder at `path` was given and is still to be entered.
    has_to_enter: bool,
}

/// A file found, or a folder where folders are meant.
#[derive(Debug)]
pub(crate) struct FileFound<'w> {
    /// The folder it is in.
    pub(crate) folder: &'w Arc<OwnedFd>,
    /// Relative to the root handle.
    pub(crate) path: &'w [u8],
    /// Where its name begins in `path`.
    pub(crate) name_begin: usize,
}

/// A folder that is being walked through.
#[derive(Debug)]
struct Level {
    folder: Arc<OwnedFd>,
    listing: Listing,
    next: usize,
    /// Bytes of the path up to the names of this folder, the `/` included.
    prefix_len: usize,
    rules: Rules,
    places: Vec<Place>,
}

/// Names of a folder in one piece of memory.
#[derive(Debug, Default)]
struct Listing {
    names: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    begin: usize,
    len: usize,
    is_folder: bool,
}

/// Entries between two looks at the clock.
const CHECK_INTERVAL: usize = 256;

impl<'a> Walk<'a> {
    pub(crate) fn new(
        start: SearchFolder,
        pattern: &'a Pattern,
        does_include_ignored: bool,
        watch: Watch<'a>,
        bounds: Bounds,
    ) -> Result<Self, Stop> {
        let mut walk = Self {
            pattern,
            watch,
            bounds,
            does_include_ignored,
            device: start.device,
            stack: vec![],
            path: start.prefix,
            skipped: Skipped::default(),
            partial: None,
            entries: 0,
            listing_buffer: vec![],
            spare: vec![],
            has_to_enter: false,
        };
        walk.push(start.folder, start.rules, pattern.start())?;
        Ok(walk)
    }

    /// What was skipped up to the file found last.
    pub(crate) fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Why not everything was walked, when it was not.
    pub(crate) fn into_partial(self) -> Option<String> {
        self.partial
    }

    /// The next file, or folder where folders are meant; None at the end.
    pub(crate) fn next(&mut self) -> Result<Option<FileFound<'_>>, Stop> {
        if std::mem::take(&mut self.has_to_enter) {
            self.enter(true)?;
        }
        while let Some(level) = self.stack.last_mut() {
            let Some(entry) = level.listing.entries.get(level.next).copied() else {
                self.leave();
                continue;
            };
            level.next += 1;
            self.path.truncate(level.prefix_len);
            self.path.extend_from_slice(level.listing.name(entry));
            if entry.is_folder && self.pattern.is_of_folders() && self.is_wanted_folder() {
                self.has_to_enter = true;
                break;
            }
            if entry.is_folder {
                self.enter(false)?;
            } else if self.is_wanted_file() {
                break;
            }
        }
        Ok(self.stack.last().map(|level| FileFound {
            folder: &level.folder,
            path: &self.path,
            name_begin: level.prefix_len,
        }))
    }

    fn leave(&mut self) {
        if let Some(level) = self.stack.pop() {
            let mut listing = level.listing;
            listing.names.clear();
            listing.entries.clear();
            self.spare.push(listing);
        }
    }

    /// Whether the folder at `self.path` is one that the pattern is about. What is passed over is counted
    /// where it would be entered.
    fn is_wanted_folder(&self) -> bool {
        let Some(level) = self.stack.last() else { return false };
        let name = &self.path[level.prefix_len..];
        let is_git = name == b".git";
        self.pattern.is_match(&level.places, name, if is_git { Reach::Named } else { Reach::Any })
            && self.passed_over(level, true).is_none()
    }

    fn is_wanted_file(&mut self) -> bool {
        let Some(level) = self.stack.last() else { return false };
        match self.passed_over(level, false) {
            None | Some(Verdict::Searched) => return true,
            Some(Verdict::Hidden) => self.skipped.hidden += 1,
            Some(Verdict::Ignored) => self.skipped.ignored += 1,
        }
        false
    }

    /// What keeps the entry at `self.path`, whose name matches, out of the results.
    fn passed_over(&self, level: &Level, is_folder: bool) -> Option<Verdict> {
        let verdict = self.verdict(level, is_folder);
        let is_reached = |reach| self.pattern.is_match(&level.places, &self.path[level.prefix_len..], reach);
        let is_wanted = match verdict {
            Verdict::Searched => true,
            Verdict::Hidden => is_reached(Reach::Dotted) || is_reached(Reach::Named),
            Verdict::Ignored => is_reached(Reach::Named),
        };
        (!is_wanted).then_some(verdict)
    }

    fn verdict(&self, level: &Level, is_folder: bool) -> Verdict {
        if self.does_include_ignored {
            return Verdict::Searched;
        }
        level.rules.judge(&self.path, level.prefix_len, is_folder)
    }

    /// Goes into the folder at `self.path`, when it is to be searched. One that was given is not passed over.
    fn enter(&mut self, is_given: bool) -> Result<(), Stop> {
        let Some(level) = self.stack.last() else { return Ok(()) };
        let name = &self.path[level.prefix_len..];
        let verdict = self.verdict(level, true);
        let is_git = name == b".git";
        let reach = match verdict {
            Verdict::Searched if !is_git => Reach::Any,
            Verdict::Hidden if !is_git => Reach::Dotted,
            Verdict::Searched | Verdict::Hidden | Verdict::Ignored => Reach::Named,
        };
        let places = self.pattern.enter(&level.places, name, reach);
        if places.is_empty() {
            match verdict {
                Verdict::Searched | Verdict::Hidden | Verdict::Ignored if is_given => {}
                Verdict::Hidden if !is_git => self.skipped.hidden += 1,
                Verdict::Ignored if !is_git => self.skipped.ignored += 1,
                Verdict::Searched | Verdict::Hidden | Verdict::Ignored => {}
            }
            return Ok(());
        }
        if self.stack.len() >= self.bounds.depth_max {
            let depth_max = self.bounds.depth_max;
            self.set_partial(format!(
                "folders more than {depth_max} deep were not entered; name one of them"
            ));
            return Ok(());
        }
        // Rules that the caller has gone past by name say nothing of what is below.
        let is_past_rules = verdict != Verdict::Searched && self.pattern.is_named(&level.places, name);
        let rules = if is_past_rules { Rules::default() } else { level.rules.clone() };
        let folder = match open_folder(level.folder.as_fd(), name) {
            Ok(folder) => folder,
            Err(error) if is_out_of_descriptors(error) => {
                self.set_partial(format!("the search was ended: {}; try again later", reason(error)));
                self.stack.clear();
                return Ok(());
            }
            Err(_) => {
                self.skipped.unreadable += 1;
                return Ok(());
            }
        };
        match device(&folder) {
            Ok(device) if device == self.device => {}
            Ok(_) => {
                self.skipped.other_file_systems += 1;
                return Ok(());
            }
            Err(_) => {
                self.skipped.unreadable += 1;
                return Ok(());
            }
        }
        self.path.push(b'/');
        self.push(folder, rules, places)
    }

    /// Lists a folder, whose prefix is `self.path`, and puts it on the stack.
    fn push(&mut self, folder: OwnedFd, rules: Rules, places: Vec<Place>) -> Result<(), Stop> {
        self.watch.check()?;
        let mut listing = self.spare.pop().unwrap_or_default();
        let files = match self.pattern.names(&places) {
            Some(names) => {
                self.look_up(&folder, &places, &names, &mut listing);
                if self.does_include_ignored { RuleFiles::default() } else { RuleFiles::look(folder.as_fd()) }
            }
            None => self.list(&folder, &places, &mut listing)?,
        };
        let prefix_len = self.path.len();
        let rules =
            if self.does_include_ignored { rules } else { rules.and(folder.as_fd(), files, prefix_len) };
        self.stack.push(Level { folder: Arc::new(folder), listing, next: 0, prefix_len, rules, places });
        if self.entries > self.bounds.entries_max {
            let entries_max = self.bounds.entries_max;
            self.set_partial(format!(
                "the search was ended after {entries_max} files and folders; name a smaller folder"
            ));
            self.stack.clear();
        }
        Ok(())
    }

    /// Looks for a few names in a folder, instead of listing it.
    fn look_up(&mut self, folder: &OwnedFd, places: &[Place], names: &[&[u8]], listing: &mut Listing) {
        for name in names {
            self.entries += 1;
            if let Ok(kind) = kind(folder.as_fd(), name)
                && is_wanted(self.pattern, places, name, kind)
            {
                listing.push(name, kind == Kind::Folder);
            }
        }
    }

    fn list(&mut self, folder: &OwnedFd, places: &[Place], listing: &mut Listing) -> Result<RuleFiles, Stop> {
        let mut files = RuleFiles::default();
        let (mut count, mut stop, mut is_cut) = (0, None, false);
        let listed = list(folder.as_fd(), &mut self.listing_buffer, |name, kind| {
            if count >= self.bounds.folder_entries_max {
                is_cut = true;
                return ControlFlow::Break(());
            }
            count += 1;
            if count.is_multiple_of(CHECK_INTERVAL)
                && let Err(reason) = self.watch.check()
            {
                stop = Some(reason);
                return ControlFlow::Break(());
            }
            files.note(name, kind);
            if is_wanted(self.pattern, places, name, kind) {
                listing.push(name, kind == Kind::Folder);
            }
            ControlFlow::Continue(())
        });
        self.entries += count;
        if let Some(reason) = stop {
            return Err(reason);
        }
        if listed.is_err() {
            self.skipped.unreadable += 1;
        }
        if is_cut {
            let path = String::from_utf8_lossy(self.path.strip_suffix(b"/").unwrap_or(b"."));
            let entries_max = self.bounds.folder_entries_max;
            let text =
                format!("only {entries_max} entries of the folder `{path}` were looked at; it has more");
            self.set_partial(text);
        }
        listing.sort();
        Ok(files)
    }

    fn set_partial(&mut self, reason: String) {
        self.partial.get_or_insert(reason);
    }
}

/// Whether an entry of a folder with `places` matches, or something below it can.
fn is_wanted(pattern: &Pattern, places: &[Place], name: &[u8], kind: Kind) -> bool {
    match kind {
        Kind::Folder => {
            pattern.can_enter(places, name)
                || pattern.is_of_folders() && pattern.is_match(places, name, Reach::Any)
        }
        Kind::File => !pattern.is_of_folders() && pattern.is_match(places, name, Reach::Any),
        Kind::Other => false,
    }
}

impl Listing {
    fn push(&mut self, name: &[u8], is_folder: bool) {
        self.entries.push(Entry { begin: self.names.len(), len: name.len(), is_folder });
        self.names.extend_from_slice(name);
    }

    fn name(&self, entry: Entry) -> &[u8] {
        self.names.get(entry.begin..entry.begin + entry.len).unwrap_or_default()
    }

    fn sort(&mut self) {
        let names = &self.names;
        let name = |entry: &Entry| names.get(entry.begin..entry.begin + entry.len).unwrap_or_default();
        self.entries.sort_unstable_by(|left, right| -> Ordering { name(left).cmp(name(right)) });
    }
}
