//! The words that begin patterns, found in one pass: a table over how a word begins says at most places that none
//! does. Smaller than an automaton over all words, so it stays in the nearest cache.

/// Words, each with the numbers of the patterns it begins.
#[derive(Debug)]
pub(super) struct Leads {
    /// By how a text begins: which of the lists below it could go on with; 0 for none.
    starts: Vec<u16>,
    lists: Vec<Vec<Lead>>,
}

#[derive(Debug, Clone)]
struct Lead {
    word: &'static [u8],
    /// Its first four bytes, and which of them it has: one comparison tells most places from it.
    head: u32,
    mask: u32,
    begins: Vec<usize>,
}

/// What a word or a text begins with, in 16 bits: two bytes of ASCII, or one other character.
fn start_of(text: &[u8]) -> Option<u16> {
    let byte = |at: usize| text.get(at).copied().map_or(0, u16::from);
    match text.first()? {
        0..=0x7f => Some(byte(0) << 8 | byte(1)),
        0x80..=0xbf => None,
        0xc0..=0xff => Some(0x8000 | ((byte(0) & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f)) >> 1),
    }
}

/// The first four bytes, zeros behind the end.
fn head_of(text: &[u8]) -> u32 {
    let mut head = [0; 4];
    let bytes = text.len().min(4);
    head[..bytes].copy_from_slice(&text[..bytes]);
    u32::from_le_bytes(head)
}

impl Leads {
    /// The words, each with the number of a pattern it begins.
    pub(super) fn new(words: impl IntoIterator<Item = (&'static str, usize)>) -> Self {
        let mut leads = Self { starts: vec![0; 1 << 16], lists: vec![vec![]] };
        for (word, number) in words {
            let word = word.as_bytes();
            let Some(start) = start_of(word) else { continue };
            match word {
                // A word of one byte goes on with any.
                [_] => (0..=0xff).for_each(|second| leads.insert(start | second, word, number)),
                _ => leads.insert(start, word, number),
            }
        }
        leads
    }

    fn insert(&mut self, start: u16, word: &'static [u8], number: usize) {
        let index = &mut self.starts[usize::from(start)];
        if *index == 0 {
            *index = u16::try_from(self.lists.len()).unwrap_or(0);
            self.lists.push(vec![]);
        }
        let list = &mut self.lists[usize::from(*index)];
        match list.iter_mut().find(|lead| lead.word == word) {
            Some(lead) => lead.begins.push(number),
            None => {
                let mask = head_of(&[0xff; 4][..word.len().min(4)]);
                list.push(Lead { word, head: head_of(word), mask, begins: vec![number] });
            }
        }
    }

    /// Calls `visit` with every place where a word stands, the end of it, and the patterns it begins. A word that
    /// begins with a letter or digit of ASCII begins behind none.
    pub(super) fn each(&self, text: &[u8], mut visit: impl FnMut(usize, usize, &[usize])) {
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            let rest = &text[at..];
            let index = start_of(rest).map_or(0, |start| self.starts[usize::from(start)]);
            if index != 0 {
                let head = head_of(rest);
                for lead in &self.lists[usize::from(index)] {
                    if head & lead.mask == lead.head && rest.starts_with(lead.word) {
                        visit(at, at + lead.word.len(), &lead.begins);
                    }
                }
            }
            let is_passed_over = match byte {
                0x80.. => &IS_CONTINUATION,
                _ if IS_OF_WORD[usize::from(byte)] => &IS_OF_WORD,
                _ => &[false; 256],
            };
            at += 1;
            while text.get(at).is_some_and(|byte| is_passed_over[usize::from(*byte)]) {
                at += 1;
            }
        }
    }
}

/// Bytes of words of ASCII: nothing begins behind one of them.
const IS_OF_WORD: [bool; 256] = {
    let mut is_of_word = [false; 256];
    let mut byte = 0_u8;
    while byte < 0x80 {
        is_of_word[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    is_of_word
};

/// Bytes that go on with a character.
const IS_CONTINUATION: [bool; 256] = {
    let mut goes_on = [false; 256];
    let mut byte = 0x80;
    while byte < 0xc0 {
        goes_on[byte] = true;
        byte += 1;
    }
    goes_on
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WORDS: [&str; 8] = ["ab", "abc", "|", "| b", "指示", "指", "éa", "b c"];

    proptest! {
        #[test]
        fn every_word_is_found_where_it_stands(text in "[abc| 指示éx]{0,24}") {
            let leads = Leads::new(WORDS.into_iter().zip(0..));
            let mut found = vec![];
            leads.each(text.as_bytes(), |at, end, begins| found.push((at, end, begins.to_vec())));
            let mut expected = vec![];
            for (at, _) in text.char_indices() {
                let is_in_word = text[..at].ends_with(|c: char| c.is_ascii_alphanumeric())
                    && text[at..].starts_with(|c: char| c.is_ascii_alphanumeric());
                for (number, word) in WORDS.iter().enumerate() {
                    if !is_in_word && text[at..].starts_with(word) {
                        expected.push((at, at + word.len(), vec![number]));
                    }
                }
            }
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected);
        }
    }
}
