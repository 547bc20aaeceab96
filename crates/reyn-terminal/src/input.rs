//! What comes from the keyboard: keys, pasted text, a new size of the window, the end of the terminal.
//!
//! Bytes are read and decoded here rather than by `crossterm`: its reader turns in a loop that never ends once
//! the terminal is gone, and stands in a read that nothing ends after half a sequence.

mod decoder;
mod reader;

pub use reader::InputReader;

/// What comes from the keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed, or repeats.
    Key(Key),
    /// A text was pasted, as the terminal sent it: its line ends may be of any kind.
    Paste(String),
    /// The window has a new size, in cells.
    Resize {
        /// Its width.
        columns: u16,
        /// Its height.
        rows: u16,
    },
    /// The terminal is gone. Nothing comes after it.
    Closed,
}

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Which key.
    pub code: KeyCode,
    /// With control.
    pub is_control: bool,
    /// With alt.
    pub is_alt: bool,
    /// With shift, where it is not part of the character already.
    pub is_shift: bool,
}

impl Key {
    /// A key without modifiers.
    #[must_use]
    pub const fn plain(code: KeyCode) -> Self {
        Self { code, is_control: false, is_alt: false, is_shift: false }
    }

    /// A character without modifiers.
    #[must_use]
    pub const fn char(c: char) -> Self {
        Self::plain(KeyCode::Char(c))
    }

    /// A character with control.
    #[must_use]
    pub const fn control(c: char) -> Self {
        Self { is_control: true, ..Self::char(c) }
    }

    /// The same with alt.
    #[must_use]
    pub const fn alt(self) -> Self {
        Self { is_alt: true, ..self }
    }

    /// The same with shift.
    #[must_use]
    pub const fn shift(self) -> Self {
        Self { is_shift: true, ..self }
    }
}

/// Which key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyCode {
    /// A character. With control it is the letter on the key, in lower case.
    Char(char),
    /// The line end.
    Enter,
    /// The tabulator.
    Tab,
    /// The tabulator with shift.
    BackTab,
    /// Deletes to the left.
    Backspace,
    /// Deletes to the right.
    Delete,
    /// The arrow.
    Up,
    /// The arrow.
    Down,
    /// The arrow.
    Left,
    /// The arrow.
    Right,
    /// The start of a line.
    Home,
    /// The end of a line.
    End,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// Escape.
    Esc,
    /// Any other key: a function key, a media key, one with a modifier that means nothing here.
    Other,
}
