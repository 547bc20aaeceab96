//! Keys out of the bytes that a terminal sends.
//!
//! It is fed bytes in pieces of any size. Invariant: what it holds back is bounded, and bytes that mean nothing
//! are passed over without losing those after them.

use super::{Input, Key, KeyCode};

/// Bytes of one paste that are kept; the rest is read and left out.
pub(super) const PASTE_BYTES_MAX: usize = 8 << 20;
/// Bytes of one control sequence; a longer one is passed over.
const SEQUENCE_BYTES_MAX: usize = 64;

const ESC: u8 = 0x1b;
const PASTE_END: &[u8] = b"\x1b[201~";
/// Control-C, alone, in the two ways in which terminals send it. None leaves it in what is pasted.
const INTERRUPTS: [&[u8]; 2] = [b"\x03", b"\x1b[99;5u"];

/// What the beginning of some bytes is.
enum Parsed {
    /// Not all of it is there.
    More,
    /// So many bytes that mean nothing.
    Skip(usize),
    /// A key of so many bytes.
    Key(usize, Key),
    /// The mark before a pasted text, of so many bytes.
    PasteStart(usize),
}

/// Turns bytes into [`Input`]s.
#[derive(Default)]
pub(super) struct Decoder {
    /// Bytes of something that is not complete.
    pending: Vec<u8>,
    /// What was pasted up to now, between its two marks.
    paste: Option<Vec<u8>>,
}

impl Decoder {
    /// Takes bytes; adds what they complete to `found`.
    pub(super) fn feed(&mut self, bytes: &[u8], found: &mut Vec<Input>) {
        // The way out of a paste whose end was lost, which would swallow every key.
        if self.paste.is_some() && INTERRUPTS.contains(&bytes) {
            self.paste = None;
            self.pending.clear();
        }
        let mut all = std::mem::take(&mut self.pending);
        all.extend_from_slice(bytes);
        let mut at = 0;
        while at < all.len() {
            let rest = &all[at..];
            if let Some(paste) = &mut self.paste {
                let end = find(rest, PASTE_END);
                let text = &rest[..end.unwrap_or_else(|| rest.len().saturating_sub(PASTE_END.len() - 1))];
                paste.extend_from_slice(&text[..text.len().min(PASTE_BYTES_MAX - paste.len())]);
                at += text.len();
                if end.is_none() {
                    break;
                }
                at += PASTE_END.len();
                let paste = self.paste.take().unwrap_or_default();
                found.push(Input::Paste(String::from_utf8_lossy(&paste).into_owned()));
                continue;
            }
            match parse(rest) {
                Parsed::More if rest.len() > SEQUENCE_BYTES_MAX => at += rest.len(),
                Parsed::More => break,
                Parsed::Skip(bytes) => at += bytes,
                Parsed::Key(bytes, key) => {
                    at += bytes;
                    found.push(Input::Key(key));
                }
                Parsed::PasteStart(bytes) => {
                    at += bytes;
                    self.paste = Some(vec![]);
                }
            }
        }
        all.drain(..at);
        self.pending = all;
    }

    /// Says that no byte has come for a while: an escape that begins nothing is the key.
    pub(super) fn settle(&mut self, found: &mut Vec<Input>) {
        if self.paste.is_some() {
            return;
        }
        let key = match self.pending.as_slice() {
            [ESC] => Key::plain(KeyCode::Esc),
            [ESC, letter @ (b'[' | b'O')] => Key::char(char::from(*letter)).alt(),
            _ => return,
        };
        self.pending.clear();
        found.push(Input::Key(key));
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// What `bytes`, not empty, begin with.
fn parse(bytes: &[u8]) -> Parsed {
    match bytes[0] {
        ESC => parse_escape(bytes),
        b'\r' => Parsed::Key(1, Key::plain(KeyCode::Enter)),
        b'\t' => Parsed::Key(1, Key::plain(KeyCode::Tab)),
        0x7f => Parsed::Key(1, Key::plain(KeyCode::Backspace)),
        0 => Parsed::Key(1, Key::control(' ')),
        letter @ 1..=26 => Parsed::Key(1, Key::control(char::from(letter - 1 + b'a'))),
        sign @ 0x1c..=0x1f => Parsed::Key(1, Key::control(char::from(sign - 0x1c + b'\\'))),
        0x20..=0x7e => Parsed::Key(1, Key::char(char::from(bytes[0]))),
        0x80..=0xff => parse_character(bytes),
    }
}

fn parse_character(bytes: &[u8]) -> Parsed {
    let wanted = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Parsed::Skip(1),
    };
    match std::str::from_utf8(&bytes[..wanted.min(bytes.len())]) {
        Ok(text) => match text.chars().next() {
            Some(c) if !c.is_control() => Parsed::Key(text.len(), Key::char(c)),
            Some(_) | None => Parsed::Skip(wanted),
        },
        Err(error) => error.error_len().map_or(Parsed::More, Parsed::Skip),
    }
}

fn parse_escape(bytes: &[u8]) -> Parsed {
    match bytes.get(1) {
        None => Parsed::More,
        Some(b'[') => parse_sequence(bytes),
        Some(b'O') => match bytes.get(2) {
            None => Parsed::More,
            Some(letter @ (b'A'..=b'D' | b'F' | b'H' | b'P'..=b'S')) => {
                Parsed::Key(3, Key::plain(key_of_letter(*letter)))
            }
            Some(b'M') => Parsed::Key(3, Key::plain(KeyCode::Enter)),
            Some(_) => Parsed::Skip(3),
        },
        Some(&ESC) => Parsed::Key(1, Key::plain(KeyCode::Esc)),
        Some(_) => match parse(&bytes[1..]) {
            Parsed::Key(bytes, key) => Parsed::Key(bytes + 1, key.alt()),
            Parsed::Skip(bytes) => Parsed::Skip(bytes + 1),
            Parsed::More | Parsed::PasteStart(_) => Parsed::More,
        },
    }
}

fn key_of_letter(letter: u8) -> KeyCode {
    match letter {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        _ => KeyCode::Other,
    }
}

/// A control sequence: `ESC [`, parameters, one letter.
fn parse_sequence(bytes: &[u8]) -> Parsed {
    if bytes.get(2) == Some(&b'[') {
        // The function keys of the Linux console.
        return if bytes.len() < 4 { Parsed::More } else { Parsed::Key(4, Key::plain(KeyCode::Other)) };
    }
    let Some(length) = bytes[2..].iter().position(|byte| !(0x20..=0x3f).contains(byte)) else {
        return Parsed::More;
    };
    let end = 2 + length;
    let letter = bytes[end];
    if !(0x40..=0x7e).contains(&letter) {
        // Broken off; what broke it is looked at by itself.
        return Parsed::Skip(end);
    }
    let text = std::str::from_utf8(&bytes[2..end]).unwrap_or_default();
    if text.starts_with(['<', '=', '>', '?']) {
        return Parsed::Skip(end + 1);
    }
    let parameters = Parameters::read(text);
    if parameters.is_release {
        return Parsed::Skip(end + 1);
    }
    let key = match letter {
        b'A'..=b'D' | b'F' | b'H' | b'P' | b'Q' | b'S' => Key::plain(key_of_letter(letter)),
        b'Z' => Key::plain(KeyCode::BackTab),
        b'u' => key_of_code(parameters.first),
        b'~' => match parameters.first {
            200 => return Parsed::PasteStart(end + 1),
            201 => return Parsed::Skip(end + 1),
            // How xterm and tmux write a key with modifiers.
            27 => key_of_code(parameters.third),
            number => Key::plain(key_of_number(number)),
        },
        _ => return Parsed::Skip(end + 1),
    };
    Parsed::Key(end + 1, parameters.modify(key))
}

const fn key_of_number(number: u32) -> KeyCode {
    match number {
        1 | 7 => KeyCode::Home,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        _ => KeyCode::Other,
    }
}

/// The key that the kitty protocol gives a number: a character, or a key of the private area.
fn key_of_code(code: u32) -> Key {
    Key::plain(match code {
        9 => KeyCode::Tab,
        13 | 57414 => KeyCode::Enter,
        27 => KeyCode::Esc,
        8 | 127 => KeyCode::Backspace,
        57399..=57408 => char::from_digit(code - 57399, 10).map_or(KeyCode::Other, KeyCode::Char),
        57409 => KeyCode::Char('.'),
        57410 => KeyCode::Char('/'),
        57411 => KeyCode::Char('*'),
        57412 => KeyCode::Char('-'),
        57413 => KeyCode::Char('+'),
        57415 => KeyCode::Char('='),
        57416 => KeyCode::Char(','),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57426 => KeyCode::Delete,
        57344..=63743 => KeyCode::Other,
        _ => char::from_u32(code).filter(|c| !c.is_control()).map_or(KeyCode::Other, KeyCode::Char),
    })
}

/// The numbers of a control sequence, as keys use them.
struct Parameters {
    first: u32,
    third: u32,
    /// One bit a modifier: shift, alt, control, then those that mean nothing here.
    modifiers: u32,
    is_release: bool,
}

impl Parameters {
    fn read(text: &str) -> Self {
        let number = |text: &str| text.parse().unwrap_or(0_u32);
        let mut fields = text.split(';');
        let mut next = || fields.next().unwrap_or_default().split(':');
        let first = next().next().map_or(0, number);
        let mut second = next();
        let modifiers = second.next().map_or(0, number).saturating_sub(1);
        let is_release = second.next().is_some_and(|kind| kind == "3");
        let third = next().next().map_or(0, number);
        Self { first, third, modifiers, is_release }
    }

    fn modify(&self, mut key: Key) -> Key {
        key.is_shift = self.modifiers & 1 != 0;
        key.is_alt = self.modifiers & 2 != 0;
        key.is_control = self.modifiers & 4 != 0;
        // Super, hyper and meta; the locks above them change no key.
        if self.modifiers & 0b11_1000 != 0 {
            key.code = KeyCode::Other;
        }
        match key.code {
            KeyCode::Tab if key.is_shift => key.code = KeyCode::BackTab,
            KeyCode::Char(c) if key.is_shift && !key.is_control && !key.is_alt => {
                key = Key::char(c.to_ascii_uppercase());
            }
            KeyCode::Char(_)
            | KeyCode::Enter
            | KeyCode::Tab
            | KeyCode::BackTab
            | KeyCode::Backspace
            | KeyCode::Delete
            | KeyCode::Up
            | KeyCode::Down
            | KeyCode::Left
            | KeyCode::Right
            | KeyCode::Home
            | KeyCode::End
            | KeyCode::PageUp
            | KeyCode::PageDown
            | KeyCode::Esc
            | KeyCode::Other => {}
        }
        if key.code == KeyCode::BackTab {
            key.is_shift = false;
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the bytes are, fed whole, and then a pause.
    fn decoded(bytes: &[u8]) -> Vec<Input> {
        let mut decoder = Decoder::default();
        let mut found = vec![];
        decoder.feed(bytes, &mut found);
        decoder.settle(&mut found);
        found
    }

    fn key(key: Key) -> Vec<Input> {
        vec![Input::Key(key)]
    }

    #[test]
    fn keys_are_told_apart_in_every_way_that_terminals_write_them() {
        let plain = Key::plain;
        let table: &[(&[u8], Vec<Input>)] = &[
            (b"a", key(Key::char('a'))),
            (b"A", key(Key::char('A'))),
            ("日".as_bytes(), key(Key::char('日'))),
            ("🦀".as_bytes(), key(Key::char('🦀'))),
            (b"\r", key(plain(KeyCode::Enter))),
            (b"\n", key(Key::control('j'))),
            (b"\t", key(plain(KeyCode::Tab))),
            (b"\x7f", key(plain(KeyCode::Backspace))),
            (b"\x08", key(Key::control('h'))),
            (b"\x00", key(Key::control(' '))),
            (b"\x1a", key(Key::control('z'))),
            (b"\x1f", key(Key::control('_'))),
            (b"\x1b", key(plain(KeyCode::Esc))),
            (b"\x1b[", key(Key::char('[').alt())),
            (b"\x1bd", key(Key::char('d').alt())),
            (b"\x1b\r", key(plain(KeyCode::Enter).alt())),
            (b"\x1b\x7f", key(plain(KeyCode::Backspace).alt())),
            ("\x1bé".as_bytes(), key(Key::char('é').alt())),
            (b"\x1b[A", key(plain(KeyCode::Up))),
            (b"\x1bOB", key(plain(KeyCode::Down))),
            (b"\x1b[1;5C", key(Key { is_control: true, ..plain(KeyCode::Right) })),
            (b"\x1b[H", key(plain(KeyCode::Home))),
            (b"\x1b[4~", key(plain(KeyCode::End))),
            (b"\x1b[3~", key(plain(KeyCode::Delete))),
            (b"\x1b[3;5~", key(Key { is_control: true, ..plain(KeyCode::Delete) })),
            (b"\x1b[Z", key(plain(KeyCode::BackTab))),
            (b"\x1b[15~", key(plain(KeyCode::Other))),
            (b"\x1b[[A", key(plain(KeyCode::Other))),
            (b"\x1b[27u", key(plain(KeyCode::Esc))),
            (b"\x1b[13;2u", key(plain(KeyCode::Enter).shift())),
            (b"\x1b[27;2;13~", key(plain(KeyCode::Enter).shift())),
            (b"\x1b[9;2u", key(plain(KeyCode::BackTab))),
            (b"\x1b[97;5u", key(Key::control('a'))),
            (b"\x1b[97:65;6:2u", key(Key::control('a').shift())),
            (b"\x1b[97;2u", key(Key::char('A'))),
            (b"\x1b[97;9u", key(plain(KeyCode::Other))),
            (b"\x1b[97;69u", key(Key::control('a'))),
            (b"\x1b[57401u", key(Key::char('2'))),
            (b"\x1b[57441;2u", key(plain(KeyCode::Other).shift())),
            (b"\x1b[97;5:3u", vec![]),
            (b"\x1b[?1u", vec![]),
            (b"\x1b[I", vec![]),
            (b"\x1b[12;40R", vec![]),
            (b"\x1b[200~a\r\nb\x1b[201~", vec![Input::Paste("a\r\nb".to_owned())]),
            (b"\x1b[200~\x1b[201~", vec![Input::Paste(String::new())]),
        ];
        for (bytes, expected) in table {
            assert_eq!(decoded(bytes), *expected, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn bytes_that_mean_nothing_lose_none_after_them() {
        for junk in [
            &b"\xff"[..],
            b"\xe6\x97",
            b"\xc0\x80",
            b"\x80",
            b"\xf5\x80\x80\x80",
            b"\xc2\x85",
            b"\x1bO~",
            b"\x1b[9\x01",
            b"\x1b[<0;1;1M",
            b"\x1b[201~",
        ] {
            let mut bytes = junk.to_vec();
            bytes.extend_from_slice(b"xy");
            let found = decoded(&bytes);
            let expected = [Input::Key(Key::char('x')), Input::Key(Key::char('y'))];
            assert!(found.ends_with(&expected), "{junk:?}: {found:?}");
        }
    }

    #[test]
    fn an_endless_sequence_and_an_endless_paste_are_bounded() {
        let mut decoder = Decoder::default();
        let mut found = vec![];
        decoder.feed(b"\x1b[", &mut found);
        for _ in 0..1000 {
            decoder.feed(b"1;", &mut found);
            assert!(decoder.pending.len() <= SEQUENCE_BYTES_MAX);
        }
        let mut decoder = Decoder::default();
        decoder.feed(b"\x1b[200~", &mut found);
        for _ in 0..(PASTE_BYTES_MAX >> 20) + 2 {
            decoder.feed(&vec![b'a'; 1 << 20], &mut found);
        }
        found.clear();
        decoder.feed(b"\x1b[201~b", &mut found);
        assert_eq!(found.pop(), Some(Input::Key(Key::char('b'))));
        let Some(Input::Paste(text)) = found.pop() else { panic!("no paste") };
        assert_eq!(text.len(), PASTE_BYTES_MAX);
    }

    #[test]
    fn a_pause_in_the_middle_of_a_paste_ends_nothing() {
        let mut decoder = Decoder::default();
        let mut found = vec![];
        decoder.feed(b"\x1b[200~a\x1b", &mut found);
        decoder.settle(&mut found);
        decoder.feed(b"[201~", &mut found);
        assert_eq!(found, [Input::Paste("a".to_owned())]);
    }

    #[test]
    fn control_c_gets_out_of_a_paste_without_an_end() {
        for interrupt in INTERRUPTS {
            let mut decoder = Decoder::default();
            let mut found = vec![];
            decoder.feed(b"\x1b[200~abc\x1b[20", &mut found);
            decoder.feed(interrupt, &mut found);
            decoder.feed(b"x", &mut found);
            assert_eq!(found, [Input::Key(Key::control('c')), Input::Key(Key::char('x'))]);
        }
    }

    proptest! {
        #[test]
        fn it_is_the_same_wherever_the_bytes_are_cut(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "a", "日", "\x1b[A", "\x1b[13;2u", "\x1bd", "\r", "\x1b[200~x\x1b[20y\x1b[201~", "\x1bOA", "\x1b[3~", "🦀",
            ]), 0..8),
            cuts in prop::collection::vec(0_usize..200, 0..6),
        ) {
            let bytes = pieces.concat().into_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let mut decoder = Decoder::default();
            let mut found = vec![];
            for pair in cuts.windows(2) {
                decoder.feed(&bytes[pair[0]..pair[1]], &mut found);
            }
            prop_assert_eq!(found, decoded(&bytes));
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            decoded(&bytes);
        }
    }
}
