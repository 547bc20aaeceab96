//! Which key does what: the bindings of Emacs as `reedline` has them, and what an editor under a stream needs
//! besides.

use reedline::{
    EditCommand, KeyCode as Code, KeyModifiers, Keybindings, ReedlineEvent, default_emacs_keybindings,
};

use super::buffer::{Letters, Motion};
use crate::{Key, KeyCode};

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Nothing,
    Insert(char),
    NewLine,
    Enter,
    Tab,
    BackTab,
    Up,
    Down,
    Go(Motion),
    Delete(Motion),
    Cut(Motion),
    Yank,
    Swap,
    Rewrite(Letters),
    Undo,
    Redo,
    SearchOlder,
    SearchNewer,
    Cancel,
    Escape,
    Interrupt,
    /// Deletes to the right, or ends the input where there is no text.
    DeleteOrEnd,
    ClearScreen,
    Expand,
    Suspend,
}

/// Turns keys into actions.
pub(super) struct Keymap {
    bindings: Keybindings,
    /// Whether control-X was typed, which begins a binding of two keys.
    is_prefixed: bool,
}

impl Default for Keymap {
    fn default() -> Self {
        Self { bindings: default_emacs_keybindings(), is_prefixed: false }
    }
}

impl Keymap {
    /// What a key does after those before it.
    pub(super) fn action(&mut self, key: Key) -> Action {
        if std::mem::take(&mut self.is_prefixed) {
            return if key == Key::control('u') { Action::Undo } else { Action::Nothing };
        }
        if let Some(action) = own(key) {
            return action;
        }
        if key == Key::control('x') {
            self.is_prefixed = true;
            return Action::Nothing;
        }
        let bound = bound_key(key).and_then(|(modifiers, code)| self.bindings.find_binding(modifiers, code));
        match (bound, key) {
            (Some(event), _) => of_event(&event),
            // Control and alt together are what some systems send for AltGr, which only picks another character.
            (None, Key { code: KeyCode::Char(c), is_control, is_alt, .. }) if is_control == is_alt => {
                Action::Insert(c)
            }
            (None, _) => Action::Nothing,
        }
    }
}

/// The bindings that are not those of `reedline`.
const fn own(key: Key) -> Option<Action> {
    let Key { code, is_control, is_alt, is_shift } = key;
    Some(match (code, is_control, is_alt) {
        (KeyCode::Enter, false, false) if !is_shift => Action::Enter,
        (KeyCode::Enter, _, _) | (KeyCode::Char('j'), true, false) => Action::NewLine,
        (KeyCode::Tab, false, false) | (KeyCode::Char('i'), true, false) => Action::Tab,
        (KeyCode::BackTab, _, _) => Action::BackTab,
        // Terminals that tell keys apart send these letters for what is one byte in others.
        (KeyCode::Char('m'), true, false) => Action::Enter,
        (KeyCode::Char('['), true, false) => Action::Escape,
        (KeyCode::Char('z'), true, false) => Action::Suspend,
        (KeyCode::Char('g'), true, false) => Action::Cancel,
        (KeyCode::Char('s'), true, false) => Action::SearchNewer,
        // One byte, written in the ways in which keyboards lead to it.
        (KeyCode::Char('_' | '7' | '/'), true, false) => Action::Undo,
        (KeyCode::Char('-' | '\\'), true, false) if is_shift => Action::Undo,
        (KeyCode::Char('_'), false, true) => Action::Redo,
        (KeyCode::Char('-' | '\\'), false, true) if is_shift => Action::Redo,
        (KeyCode::Char('u'), true, false) => Action::Cut(Motion::LineStart),
        (KeyCode::Backspace, false, false) => Action::Delete(Motion::Left),
        (KeyCode::Backspace, _, _) => Action::Cut(Motion::WordLeft),
        _ => return None,
    })
}

const fn bound_key(key: Key) -> Option<(KeyModifiers, Code)> {
    let code = match key.code {
        KeyCode::Char(c) if key.is_control || key.is_alt => Code::Char(c.to_ascii_lowercase()),
        KeyCode::Char(c) => Code::Char(c),
        KeyCode::Enter => Code::Enter,
        KeyCode::Tab => Code::Tab,
        KeyCode::BackTab => Code::BackTab,
        KeyCode::Backspace => Code::Backspace,
        KeyCode::Delete => Code::Delete,
        KeyCode::Up => Code::Up,
        KeyCode::Down => Code::Down,
        KeyCode::Left => Code::Left,
        KeyCode::Right => Code::Right,
        KeyCode::Home => Code::Home,
        KeyCode::End => Code::End,
        KeyCode::PageUp => Code::PageUp,
        KeyCode::PageDown => Code::PageDown,
        KeyCode::Esc => Code::Esc,
        KeyCode::Other => return None,
    };
    let mut modifiers = KeyModifiers::NONE;
    if key.is_control {
        modifiers = modifiers.union(KeyModifiers::CONTROL);
    }
    if key.is_alt {
        modifiers = modifiers.union(KeyModifiers::ALT);
    }
    if key.is_shift {
        modifiers = modifiers.union(KeyModifiers::SHIFT);
    }
    Some((modifiers, code))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the events of a whole engine, of which a few are bound")]
fn of_event(event: &ReedlineEvent) -> Action {
    match event {
        ReedlineEvent::Edit(commands) => commands.first().map_or(Action::Nothing, of_command),
        // What comes before the last choice belongs to menus and hints, which an editor here has seen to already.
        ReedlineEvent::UntilFound(choices) => choices.last().map_or(Action::Nothing, of_event),
        ReedlineEvent::Enter => Action::Enter,
        ReedlineEvent::Up => Action::Up,
        ReedlineEvent::Down => Action::Down,
        ReedlineEvent::Left => Action::Go(Motion::Left),
        ReedlineEvent::Right => Action::Go(Motion::Right),
        ReedlineEvent::ToStart => Action::Go(Motion::Start),
        ReedlineEvent::ToEnd => Action::Go(Motion::End),
        ReedlineEvent::Esc => Action::Escape,
        ReedlineEvent::CtrlC => Action::Interrupt,
        ReedlineEvent::CtrlD => Action::DeleteOrEnd,
        ReedlineEvent::ClearScreen => Action::ClearScreen,
        ReedlineEvent::SearchHistory => Action::SearchOlder,
        ReedlineEvent::OpenEditor => Action::Expand,
        _ => Action::Nothing,
    }
}

/// There are no selections here: a motion that would select only moves.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the commands of every mode, of which those of Emacs are bound"
)]
fn of_command(command: &EditCommand) -> Action {
    match command {
        EditCommand::MoveLeft { .. } => Action::Go(Motion::Left),
        EditCommand::MoveRight { .. } => Action::Go(Motion::Right),
        EditCommand::MoveWordLeft { .. } => Action::Go(Motion::WordLeft),
        EditCommand::MoveWordRight { .. } => Action::Go(Motion::WordRight),
        EditCommand::MoveToLineStart { .. } => Action::Go(Motion::LineStart),
        EditCommand::MoveToLineEnd { .. } => Action::Go(Motion::LineEnd),
        EditCommand::MoveToStart { .. } => Action::Go(Motion::Start),
        EditCommand::MoveToEnd { .. } => Action::Go(Motion::End),
        EditCommand::MoveLineUp { .. } => Action::Up,
        EditCommand::MoveLineDown { .. } => Action::Down,
        EditCommand::Backspace => Action::Delete(Motion::Left),
        EditCommand::Delete => Action::Delete(Motion::Right),
        EditCommand::BackspaceWord | EditCommand::CutWordLeft => Action::Cut(Motion::WordLeft),
        EditCommand::DeleteWord | EditCommand::CutWordRight => Action::Cut(Motion::WordRight),
        EditCommand::KillLine => Action::Cut(Motion::LineEnd),
        EditCommand::CutFromStart => Action::Cut(Motion::LineStart),
        EditCommand::PasteCutBufferBefore => Action::Yank,
        EditCommand::SwapGraphemes => Action::Swap,
        EditCommand::UppercaseWord => Action::Rewrite(Letters::Upper),
        EditCommand::LowercaseWord => Action::Rewrite(Letters::Lower),
        EditCommand::CapitalizeChar => Action::Rewrite(Letters::Capital),
        EditCommand::InsertNewline => Action::NewLine,
        EditCommand::Undo => Action::Undo,
        EditCommand::Redo => Action::Redo,
        _ => Action::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_do_what_emacs_and_terminals_make_one_expect() {
        let plain = Key::plain;
        let table = [
            (Key::char('a'), Action::Insert('a')),
            (Key::char('Ä'), Action::Insert('Ä')),
            (Key::char('A').shift(), Action::Insert('A')),
            (Key::control('q').alt(), Action::Insert('q')),
            (Key::control('{').alt(), Action::Insert('{')),
            (Key::control('Q').alt(), Action::Insert('Q')),
            (Key::char('q').alt(), Action::Nothing),
            (Key::control('q'), Action::Nothing),
            (plain(KeyCode::Enter), Action::Enter),
            (plain(KeyCode::Enter).alt(), Action::NewLine),
            (plain(KeyCode::Enter).shift(), Action::NewLine),
            (Key::control('j'), Action::NewLine),
            (Key::control('m'), Action::Enter),
            (plain(KeyCode::Up), Action::Up),
            (Key::control('p'), Action::Up),
            (Key::control('n'), Action::Down),
            (plain(KeyCode::Left), Action::Go(Motion::Left)),
            (plain(KeyCode::Left).shift(), Action::Go(Motion::Left)),
            (Key::control('f'), Action::Go(Motion::Right)),
            (Key { is_control: true, ..plain(KeyCode::Left) }, Action::Go(Motion::WordLeft)),
            (Key::char('f').alt(), Action::Go(Motion::WordRight)),
            (Key::control('a'), Action::Go(Motion::LineStart)),
            (Key::control('e'), Action::Go(Motion::LineEnd)),
            (plain(KeyCode::End), Action::Go(Motion::LineEnd)),
            (Key::char('<').alt(), Action::Go(Motion::Start)),
            (plain(KeyCode::Backspace), Action::Delete(Motion::Left)),
            (plain(KeyCode::Backspace).shift(), Action::Delete(Motion::Left)),
            (plain(KeyCode::Backspace).alt(), Action::Cut(Motion::WordLeft)),
            (Key::control('h'), Action::Delete(Motion::Left)),
            (plain(KeyCode::Delete), Action::Delete(Motion::Right)),
            (Key::control('w'), Action::Cut(Motion::WordLeft)),
            (Key::char('d').alt(), Action::Cut(Motion::WordRight)),
            (Key::char('D').alt(), Action::Cut(Motion::WordRight)),
            (Key::control('k'), Action::Cut(Motion::LineEnd)),
            (Key::control('u'), Action::Cut(Motion::LineStart)),
            (Key::control('y'), Action::Yank),
            (Key::control('t'), Action::Swap),
            (Key::char('u').alt(), Action::Rewrite(Letters::Upper)),
            (Key::control('_'), Action::Undo),
            (Key::control('7'), Action::Undo),
            (Key::control('-').shift(), Action::Undo),
            (Key::char('_').alt(), Action::Redo),
            (Key::char('-').alt().shift(), Action::Redo),
            (Key::control('r'), Action::SearchOlder),
            (Key::control('g'), Action::Cancel),
            (Key::control('c'), Action::Interrupt),
            (Key::control('d'), Action::DeleteOrEnd),
            (Key::control('l'), Action::ClearScreen),
            (Key::control('o'), Action::Expand),
            (Key::control('z'), Action::Suspend),
            (plain(KeyCode::Esc), Action::Escape),
            (plain(KeyCode::Other), Action::Nothing),
        ];
        for (key, expected) in table {
            assert_eq!(Keymap::default().action(key), expected, "{key:?}");
        }
    }

    #[test]
    fn control_x_is_the_first_of_two_keys() {
        let mut keymap = Keymap::default();
        let mut actions =
            |keys: &str| keys.chars().map(|c| keymap.action(Key::control(c))).collect::<Vec<_>>();
        assert_eq!(actions("xu"), [Action::Nothing, Action::Undo]);
        assert_eq!(actions("xk"), [Action::Nothing, Action::Nothing]);
        assert_eq!(actions("y"), [Action::Yank]);
    }
}
