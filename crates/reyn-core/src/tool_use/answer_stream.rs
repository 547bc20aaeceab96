//! Reads the answer out of `{"answer": "…"}` while it is still being written.

/// Feeds on pieces of a JSON reply and gives out the text of its `answer`, as far as it is known.
#[derive(Debug, Default)]
pub struct AnswerStream {
    seen: String,
    given: usize,
}

impl AnswerStream {
    /// Takes the next piece; returns the new part of the answer, empty while there is none.
    pub fn push(&mut self, piece: &str) -> String {
        self.seen.push_str(piece);
        let Some(start) = answer_start(&self.seen) else { return String::new() };
        let text = decode(&self.seen[start..]);
        let new = text.get(self.given..).unwrap_or_default().to_owned();
        self.given = text.len();
        new
    }
}

/// Where the text of a top-level `"answer"` that comes first begins.
fn answer_start(seen: &str) -> Option<usize> {
    let rest = seen.trim_start().strip_prefix('{')?.trim_start().strip_prefix("\"answer\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    Some(seen.len() - rest.len())
}

/// Decodes the inside of a JSON string up to its end or to an escape that is not complete yet.
fn decode(inside: &str) -> String {
    let mut end = inside.len();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                end = at;
                break;
            }
            '\\' if chars.next().is_none() => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    // An escape of four digits may be cut, and half a surrogate pair is no character yet: drop from the
    // last backslash on until what is left is a whole string.
    let mut whole = &inside[..end];
    loop {
        if let Ok(text) = serde_json::from_str::<String>(&format!("\"{whole}\"")) {
            return text;
        }
        match whole.rfind('\\') {
            Some(at) => whole = &whole[..at],
            None => return String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn any_split_of_a_reply_gives_the_same_answer() {
        let answer = "日本語 \"quoted\" \\ back\nnew 😀 \u{1}end";
        let plain = json!({ "answer": answer }).to_string();
        let escaped = r#"{ "answer" : "日\u672c \ud83d\ude00 \"x\"" }"#.to_owned();
        for (reply, answer) in [(plain, answer), (escaped, "日本 😀 \"x\"")] {
            for at in (0..=reply.len()).filter(|at| reply.is_char_boundary(*at)) {
                let mut stream = AnswerStream::default();
                let text = stream.push(&reply[..at]) + &stream.push(&reply[at..]);
                assert_eq!(text, answer, "split at {at}");
            }
            let mut stream = AnswerStream::default();
            let text: String = reply.chars().map(|c| stream.push(&c.to_string())).collect();
            assert_eq!(text, answer);
        }
    }

    #[test]
    fn a_call_gives_no_answer() {
        let mut stream = AnswerStream::default();
        assert_eq!(stream.push(r#"{"tool": "read_file", "args": {"answer": "x"}}"#), "");
    }
}
