//! Text out of tokens, whose bytes may end inside a character.

/// Joins the bytes of tokens and gives out whole characters.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    held: Vec<u8>,
}

impl Pieces {
    /// Takes the bytes of the next token; returns what can be shown. Bytes that can never become a
    /// character are shown as U+FFFD.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let whole = whole_bytes(&self.held);
        let rest = self.held.split_off(whole);
        let shown = String::from_utf8_lossy(&self.held).into_owned();
        self.held = rest;
        shown
    }

    /// What is left at the end of a reply.
    pub(crate) fn finish(self) -> String {
        String::from_utf8_lossy(&self.held).into_owned()
    }
}

/// How many of the bytes do not belong to a character that is still incomplete.
fn whole_bytes(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match std::str::from_utf8(&bytes[at..]) {
            Ok(_) => return bytes.len(),
            Err(error) => match error.error_len() {
                Some(bad) => at += error.valid_up_to() + bad,
                None => return at + error.valid_up_to(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_split_between_tokens_is_shown_whole() {
        let text = "a日😀é";
        for at in 0..=text.len() {
            let mut pieces = Pieces::default();
            let (first, second) = text.as_bytes().split_at(at);
            let shown = [pieces.push(first), pieces.push(second), pieces.finish()];
            assert_eq!(shown.concat(), text, "split at {at}");
        }
    }

    #[test]
    fn bytes_that_are_no_character_are_replaced() {
        let mut pieces = Pieces::default();
        assert_eq!(pieces.push(b"a\xffb\xe6\x97"), "a\u{fffd}b");
        assert_eq!(pieces.finish(), "\u{fffd}");
    }
}
