//! The line editor: it takes inputs and gives a layout, and never touches a terminal.
//!
//! Invariant: the work of one key is bounded whatever the size of the text: only the neighbourhood of the caret is
//! laid out, and only what a key changes is remembered.

mod buffer;
mod completion;
mod history;
mod keymap;
mod layout;
mod rows;
mod undo;
mod words;

use std::cell::Cell;

use unicode_segmentation::UnicodeSegmentation;

pub use buffer::TEXT_BYTES_MAX;
pub use completion::{Complete, Completion};
pub use history::{History, MemoryHistory};
pub use layout::Layout;

use crate::{Input, Key, Line, Style};
use buffer::{Buffer, Motion};
use completion::{Menu, ask, shared};
use history::{Search, Walk};
use keymap::{Action, Keymap};
use layout::{Shown, fitted, lay_out, place};
use rows::{Place, caret_column, row_step};
use undo::Kind;

/// What is said when a text does not fit.
const FULL: &str = "the text is full at 4 MiB; the rest was left out";

/// What came of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edited {
    /// Nothing that is seen.
    Nothing,
    /// The layout is another one.
    Changed,
    /// This text was sent, and is now in the history; the editor is empty.
    Submit(String),
    /// Control-C. The text is as it was.
    Interrupt,
    /// Escape, while no menu and no search was open.
    Escape,
    /// Control-D on an empty text, or the terminal is gone.
    EndOfInput,
    /// Control-L.
    ClearScreen,
    /// Control-O.
    Expand,
    /// Control-Z.
    Suspend,
}

/// A text that is being typed, with history, completion, undo and all.
pub struct Editor {
    buffer: Buffer,
    keymap: Keymap,
    history: Box<dyn History>,
    complete: Box<dyn Complete>,
    menu: Option<Menu>,
    search: Option<Search>,
    walk: Option<Walk>,
    /// Whether the last input was a step of the walk, so that the next one goes on with it from any row.
    is_walking: bool,
    /// The column that steps up and down keep to.
    goal: Option<usize>,
    note: Option<&'static str>,
    /// Where the text stood, and from which offset on it was seen, when it was last laid out.
    place: Cell<Place>,
    top: Cell<usize>,
}

impl Editor {
    /// An empty editor.
    #[must_use]
    pub fn new(history: Box<dyn History>, complete: Box<dyn Complete>) -> Self {
        Self {
            buffer: Buffer::default(),
            keymap: Keymap::default(),
            history,
            complete,
            menu: None,
            search: None,
            walk: None,
            is_walking: false,
            goal: None,
            note: None,
            place: Cell::new(Place { columns: 80, indent: 0 }),
            top: Cell::new(0),
        }
    }

    /// The text as it is, while a search is on too.
    #[must_use]
    pub fn text(&self) -> &str {
        self.buffer.text()
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text().is_empty()
    }

    /// Puts another text in the place of this one, the caret at its end. What is beyond [`TEXT_BYTES_MAX`] is left
    /// out, and the layout says so. Menu, search and undo are gone.
    pub fn set_text(&mut self, text: &str) {
        self.forget();
        if !self.buffer.set(text) {
            self.note = Some(FULL);
        }
    }

    /// Takes the text out; the editor is empty, without menu, search and undo.
    pub fn take(&mut self) -> String {
        self.forget();
        self.buffer.take()
    }

    fn forget(&mut self) {
        self.menu = None;
        self.search = None;
        self.walk = None;
        self.is_walking = false;
        self.goal = None;
        self.note = None;
    }

    /// Does what an input says.
    pub fn on_input(&mut self, input: &Input) -> Edited {
        match input {
            Input::Key(key) => self.on_key(*key),
            Input::Paste(text) => self.paste(text),
            Input::Resize { .. } => Edited::Changed,
            Input::Closed => Edited::EndOfInput,
        }
    }

    fn paste(&mut self, text: &str) -> Edited {
        self.note = None;
        self.menu = None;
        if let Some(search) = &mut self.search {
            search.type_in(text, self.history.entries());
            return Edited::Changed;
        }
        self.edit(|buffer| {
            buffer.seal();
            buffer.insert(text, Kind::Alone)
        })
    }

    fn on_key(&mut self, key: Key) -> Edited {
        let had_note = self.note.take().is_some();
        let action = self.keymap.action(key);
        let edited = if self.search.is_some() {
            self.search_with(action)
        } else if self.menu.is_some() {
            self.choose_with(action)
        } else {
            self.act(action)
        };
        if edited == Edited::Nothing && had_note { Edited::Changed } else { edited }
    }

    /// Changes the text; `change` says whether all of it fits.
    fn edit(&mut self, change: impl FnOnce(&mut Buffer) -> bool) -> Edited {
        self.walk = None;
        if !change(&mut self.buffer) {
            self.note = Some(FULL);
        }
        Edited::Changed
    }

    fn act(&mut self, action: Action) -> Edited {
        if !matches!(action, Action::Up | Action::Down) {
            self.goal = None;
            self.is_walking = false;
        }
        match action {
            Action::Insert(c) => self.edit(|buffer| buffer.insert(c.encode_utf8(&mut [0; 4]), Kind::Typed)),
            Action::NewLine => self.edit(|buffer| buffer.insert("\n", Kind::Alone)),
            Action::Delete(motion) => self.edit(|buffer| {
                buffer.delete(motion);
                true
            }),
            Action::Cut(motion) => self.edit(|buffer| {
                buffer.cut(motion);
                true
            }),
            Action::Yank => self.edit(Buffer::yank),
            Action::Swap => self.edit(|buffer| {
                buffer.swap();
                true
            }),
            Action::Rewrite(letters) => self.edit(|buffer| buffer.rewrite(letters)),
            Action::Undo => self.step_back(Buffer::undo),
            Action::Redo => self.step_back(Buffer::redo),
            Action::Go(motion) => {
                self.buffer.go(motion);
                Edited::Changed
            }
            Action::Up => self.step(true),
            Action::Down => self.step(false),
            Action::Enter => self.enter(),
            Action::Tab => self.complete(),
            Action::DeleteOrEnd if self.is_empty() => Edited::EndOfInput,
            Action::DeleteOrEnd => self.act(Action::Delete(Motion::Right)),
            Action::SearchOlder | Action::SearchNewer => {
                self.buffer.seal();
                self.search = Some(Search::default());
                Edited::Changed
            }
            Action::Interrupt => Edited::Interrupt,
            Action::Escape => Edited::Escape,
            Action::ClearScreen => Edited::ClearScreen,
            Action::Expand => Edited::Expand,
            Action::Suspend => Edited::Suspend,
            Action::Nothing | Action::BackTab | Action::Cancel => Edited::Nothing,
        }
    }

    fn step_back(&mut self, step: impl FnOnce(&mut Buffer) -> bool) -> Edited {
        if step(&mut self.buffer) {
            self.walk = None;
            Edited::Changed
        } else {
            Edited::Nothing
        }
    }

    /// Sends the text, or begins a new line where it ends with a backslash that stands for itself alone.
    fn enter(&mut self) -> Edited {
        let (text, caret) = (self.buffer.text(), self.buffer.caret());
        let backslashes = text.len() - text.trim_end_matches('\\').len();
        if caret == text.len() && backslashes % 2 == 1 {
            return self.edit(|buffer| buffer.replace(caret - 1..caret, "\n", Kind::Alone));
        }
        if text.trim().is_empty() {
            return Edited::Nothing;
        }
        let text = self.take();
        if !text.starts_with(' ') && self.history.entries().last() != Some(&text) {
            self.history.add(&text);
        }
        Edited::Submit(text)
    }

    /// A row up or down, or an entry of the history.
    fn step(&mut self, is_up: bool) -> Edited {
        if !self.is_walking || self.walk.is_none() {
            self.buffer.seal();
            let (text, caret, place) = (self.buffer.text(), self.buffer.caret(), self.place.get());
            let goal = self.goal.unwrap_or_else(|| caret_column(text, caret, place));
            if let Some(offset) = row_step(text, caret, place, is_up, goal) {
                self.buffer.go_to(offset);
                self.goal = Some(goal);
                return Edited::Changed;
            }
        }
        let entries = self.history.entries();
        let found = match (&mut self.walk, is_up) {
            (Some(walk), true) => walk.older(entries),
            (Some(walk), false) => walk.newer(entries),
            (None, true) => {
                self.walk = Walk::begin(self.buffer.text(), entries);
                self.walk.is_some()
            }
            (None, false) => false,
        };
        let all = 0..self.buffer.text().len();
        let fits = match &self.walk {
            Some(walk) if found => self.buffer.replace(all, walk.entry(entries), Kind::Recalled),
            Some(_) if is_up => return Edited::Nothing,
            Some(_) => {
                let typed = self.walk.take().map(Walk::into_typed).unwrap_or_default();
                self.buffer.replace(all, &typed, Kind::Recalled)
            }
            None => return Edited::Nothing,
        };
        if !fits {
            self.note = Some(FULL);
        }
        self.is_walking = self.walk.is_some();
        self.goal = None;
        Edited::Changed
    }

    fn complete(&mut self) -> Edited {
        let (text, caret) = (self.buffer.text(), self.buffer.caret());
        let mut found = ask(&*self.complete, text, caret);
        match found.len() {
            0 => Edited::Nothing,
            1 => self.put(&found.remove(0)),
            _ => {
                if let Some(shared) = shared(&found, text, caret) {
                    self.put(&shared);
                }
                self.menu = Menu::of(found);
                Edited::Changed
            }
        }
    }

    fn put(&mut self, completion: &Completion) -> Edited {
        let span = completion.start..self.buffer.caret();
        self.edit(|buffer| buffer.replace(span, &completion.text, Kind::Alone))
    }

    /// An action while the menu is open.
    fn choose_with(&mut self, action: Action) -> Edited {
        let Some(mut menu) = self.menu.take() else { return self.act(action) };
        match action {
            Action::Tab | Action::Down => menu.next(),
            Action::BackTab | Action::Up => menu.previous(),
            Action::Enter => return self.put(&menu.into_chosen()),
            Action::Escape | Action::Cancel => return Edited::Changed,
            Action::Insert(_) | Action::Delete(Motion::Left) => {
                let edited = self.act(action);
                self.menu = Menu::of(ask(&*self.complete, self.buffer.text(), self.buffer.caret()));
                return edited;
            }
            Action::Nothing
            | Action::NewLine
            | Action::Go(_)
            | Action::Delete(_)
            | Action::Cut(_)
            | Action::Yank
            | Action::Swap
            | Action::Rewrite(_)
            | Action::Undo
            | Action::Redo
            | Action::SearchOlder
            | Action::SearchNewer
            | Action::Interrupt
            | Action::DeleteOrEnd
            | Action::ClearScreen
            | Action::Expand
            | Action::Suspend => {
                let edited = self.act(action);
                return if edited == Edited::Nothing { Edited::Changed } else { edited };
            }
        }
        self.menu = Some(menu);
        Edited::Changed
    }

    /// An action while a search is on.
    fn search_with(&mut self, action: Action) -> Edited {
        let entries = self.history.entries();
        let Some(search) = &mut self.search else { return self.act(action) };
        match action {
            Action::Insert(c) => search.type_in(c.encode_utf8(&mut [0; 4]), entries),
            Action::Delete(Motion::Left) => {
                let start = search.query().grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
                search.delete(start, entries);
            }
            Action::Cut(Motion::LineStart | Motion::WordLeft) => search.delete(0, entries),
            Action::SearchOlder => search.go_on(true, entries),
            Action::SearchNewer => search.go_on(false, entries),
            Action::Cancel | Action::Escape | Action::Interrupt => self.search = None,
            Action::Nothing => return Edited::Nothing,
            Action::ClearScreen => return Edited::ClearScreen,
            Action::Expand => return Edited::Expand,
            Action::Suspend => return Edited::Suspend,
            Action::Enter | Action::Tab | Action::BackTab | Action::Up | Action::Down => self.take_found(),
            Action::NewLine
            | Action::Go(_)
            | Action::Delete(_)
            | Action::Cut(_)
            | Action::Yank
            | Action::Swap
            | Action::Rewrite(_)
            | Action::Undo
            | Action::Redo
            | Action::DeleteOrEnd => {
                self.take_found();
                let edited = self.act(action);
                return if edited == Edited::Nothing { Edited::Changed } else { edited };
            }
        }
        Edited::Changed
    }

    /// Ends the search with the text that it found, if it found one.
    fn take_found(&mut self) {
        let Some(search) = self.search.take() else { return };
        let Some((found, _)) = search.found(self.history.entries()) else { return };
        self.walk = None;
        if !self.buffer.replace(0..self.buffer.text().len(), found, Kind::Alone) {
            self.note = Some(FULL);
        }
    }

    /// What is to be shown, in `columns`, and in at most `rows_max` rows with those of the menu. Both count as one
    /// when they are zero. The prompt stands before the first row of the text, and the other rows are indented by
    /// its width; in a few columns there is neither.
    #[must_use]
    pub fn layout(&self, prompt: &str, columns: usize, rows_max: usize) -> Layout {
        let (columns, rows_max) = (columns.max(1), rows_max.max(1));
        let prompt = Line::plain(prompt);
        if let Some(search) = &self.search {
            return self.layout_of_search(search, &prompt, columns, rows_max);
        }
        self.place.set(place(&prompt, columns));
        let shown =
            Shown { prompt: &prompt, text: self.buffer.text(), caret: self.buffer.caret(), bold: 0..0 };
        let top = self.top.get();
        let (mut rows, mut caret, mut new_top) = lay_out(&shown, columns, rows_max, top);
        let room = (rows_max - rows.len()).max(rows_max / 2);
        let mut menu = vec![];
        if room > 0 {
            menu.extend(self.note.map(|note| fitted(note, columns, Style::DIM)));
            let below = self.menu.as_ref().map(|menu| menu.draw(columns, room)).unwrap_or_default();
            menu.extend(below);
            menu.truncate(room);
        }
        if rows.len() + menu.len() > rows_max {
            (rows, caret, new_top) = lay_out(&shown, columns, rows_max - menu.len(), top);
        }
        self.top.set(new_top);
        Layout { rows, caret, menu }
    }

    /// What is searched for, where the caret is, and below it what was found.
    fn layout_of_search(&self, search: &Search, prompt: &Line, columns: usize, rows_max: usize) -> Layout {
        let label = Line::styled(search.label(), Style::DIM);
        let query = search.query();
        let shown = Shown { prompt: &label, text: query, caret: query.len(), bold: 0..0 };
        let (mut rows, caret, _) = lay_out(&shown, columns, 1, 0);
        if rows_max > 1 {
            let found = search.found(self.history.entries());
            let (text, bold) = found.unwrap_or_else(|| (self.buffer.text(), 0..0));
            let shown = Shown { prompt, text, caret: bold.start, bold };
            rows.extend(lay_out(&shown, columns, rows_max - 1, 0).0);
        }
        Layout { rows, caret, menu: vec![] }
    }
}

#[cfg(test)]
#[path = "editor_tests.rs"]
mod tests;
