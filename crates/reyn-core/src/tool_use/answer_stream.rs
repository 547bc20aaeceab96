//! Reads the answer out of `{"answer": "…"}` while it is still being written, and the passage that it is from out of
//! a `"source"` behind it.

/// Bytes before the answer's text; a reply with more is no answer.
const HEAD_BYTES_MAX: usize = 256;
/// Bytes behind the answer's text that are looked at.
const TAIL_BYTES_MAX: usize = 4096;

/// Feeds on pieces of a JSON reply and gives out the text of its `answer`, as far as it is known. Each
/// byte is looked at once.
#[derive(Debug, Default)]
pub struct AnswerStream {
    unread: String,
    place: Place,
}

/// Where the next byte of the reply stands to the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    #[default]
    Before,
    Inside,
    Behind,
    After,
}

/// An answer with the passage that it is from behind it.
pub(super) fn with_source(answer: &str, source: &str) -> String {
    format!("{answer}{}", cited(source))
}

fn cited(source: &str) -> String {
    format!(" ({source})")
}

impl AnswerStream {
    /// Takes the next piece; returns the new part of the answer, empty while there is none.
    pub fn push(&mut self, piece: &str) -> String {
        if self.place == Place::After {
            return String::new();
        }
        self.unread.push_str(piece);
        if self.place == Place::Before {
            match answer_start(&self.unread) {
                Some(start) => {
                    self.unread.drain(..start);
                    self.place = Place::Inside;
                }
                None if self.unread.len() > HEAD_BYTES_MAX => {
                    self.place = Place::After;
                    return String::new();
                }
                None => return String::new(),
            }
        }
        let text = if self.place == Place::Inside { self.read() } else { String::new() };
        if self.place != Place::Behind {
            return text;
        }
        match source_in(&self.unread) {
            Some(source) => {
                self.place = Place::After;
                self.unread.clear();
                text + &cited(&source)
            }
            None => {
                if self.unread.len() > TAIL_BYTES_MAX {
                    self.place = Place::After;
                }
                text
            }
        }
    }

    /// The tool that a call names which is being written, once its name is complete.
    #[must_use]
    pub fn call(&self) -> Option<&str> {
        if self.place == Place::Before || self.place == Place::After {
            called_tool(&self.unread)
        } else {
            None
        }
    }

    /// Decodes what is there, up to the answer's end or to an escape that is not complete yet.
    fn read(&mut self) -> String {
        let mut text = String::new();
        let mut rest = self.unread.as_str();
        while let Some(at) = rest.find(['"', '\\']) {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(behind) = rest.strip_prefix('"') {
                self.place = Place::Behind;
                self.unread = behind.to_owned();
                return text;
            }
            let Some((decoded, length)) = escape(rest) else {
                self.unread = rest.to_owned();
                return text;
            };
            text.push(decoded);
            rest = &rest[length..];
        }
        text.push_str(rest);
        self.unread.clear();
        text
    }
}

/// Where the text of a top-level `"answer"` that comes first begins.
fn answer_start(seen: &str) -> Option<usize> {
    let rest = seen.trim_start().strip_prefix('{')?.trim_start().strip_prefix("\"answer\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    Some(seen.len() - rest.len())
}

/// The source behind an answer, once it is complete.
fn source_in(behind: &str) -> Option<String> {
    let rest = behind.trim_start().strip_prefix(',')?.trim_start().strip_prefix("\"source\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    serde_json::Deserializer::from_str(rest).into_iter::<String>().next()?.ok()
}

/// The tool that the call names which a reply begins with, as far as it is written.
pub(super) fn called_tool(seen: &str) -> Option<&str> {
    let rest = seen.trim_start().strip_prefix('{')?.trim_start().strip_prefix("\"tool\"")?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    rest.split_once('"').map(|(name, _)| name)
}

/// The character of the escape that `text` begins with, and the escape's length. `None` when it is not
/// complete.
fn escape(text: &str) -> Option<(char, usize)> {
    let kind = text[1..].chars().next()?;
    let decoded = match kind {
        'u' => return unicode_escape(text),
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        other => other,
    };
    Some((decoded, 1 + kind.len_utf8()))
}

/// The same for `\u0000`; half of a surrogate pair waits for the other half.
fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let Some(unit) = code_unit(text)? else { return Some((char::REPLACEMENT_CHARACTER, 2)) };
    if !(0xd800..0xdc00).contains(&unit) {
        return Some((char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), 6));
    }
    let tail = &text[6..];
    let low = match tail.starts_with("\\u") {
        true => code_unit(tail)?,
        false if "\\u".starts_with(tail) => return None,
        false => None,
    };
    Some(match low {
        Some(low) if (0xdc00..0xe000).contains(&low) => {
            let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        Some(_) | None => (char::REPLACEMENT_CHARACTER, 6),
    })
}

/// The number of a `\u0000`: `None` when it is not complete, `Some(None)` when it is none.
fn code_unit(text: &str) -> Option<Option<u32>> {
    let digits = text.as_bytes().get(2..6)?;
    let is_number = digits.iter().all(u8::is_ascii_hexdigit);
    Some(is_number.then(|| digits.iter().fold(0, |unit, digit| unit * 16 + hex(*digit))))
}

fn hex(digit: u8) -> u32 {
    char::from(digit).to_digit(16).unwrap_or(0)
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
    fn the_passage_that_an_answer_is_from_stands_behind_it_however_it_is_split() {
        let reply = r#"{"answer": "On \"Mondays\".", "source": "wiki: a\u0020\"b\".md"}"#;
        let expected = "On \"Mondays\". (wiki: a \"b\".md)";
        for at in 0..=reply.len() {
            let mut stream = AnswerStream::default();
            assert_eq!(stream.push(&reply[..at]) + &stream.push(&reply[at..]), expected, "split at {at}");
            assert_eq!(stream.push("more"), "");
        }
        let mut stream = AnswerStream::default();
        assert_eq!(stream.push(r#"{"answer": "a", "other": "b"}"#), "a");
        assert_eq!(stream.push(&"x".repeat(2 * TAIL_BYTES_MAX)), "");
        assert_eq!(stream.push(r#", "source": "b""#), "");
    }

    #[test]
    fn a_long_answer_in_small_pieces_is_read_once() {
        let answer = "a \\ \n".repeat(1 << 17);
        let reply = json!({ "answer": answer }).to_string();
        let mut stream = AnswerStream::default();
        let mut text = String::new();
        for piece in reply.as_bytes().chunks(4) {
            text.push_str(&stream.push(std::str::from_utf8(piece).unwrap()));
        }
        assert_eq!(text, answer);
    }

    #[test]
    fn what_json_forbids_inside_a_text_is_passed_on_or_replaced() {
        let mut stream = AnswerStream::default();
        let text = stream.push("{\"answer\": \"a\nb") + &stream.push("\\ud83d c \\x \\udc00\" }");
        assert_eq!(text, "a\nb\u{fffd} c x \u{fffd}");
    }

    #[test]
    fn a_call_gives_no_answer_and_is_named_while_it_is_written() {
        let mut stream = AnswerStream::default();
        let mut named = vec![];
        for piece in
            [r#"{"tool": "wri"#, r#"te_file", "args""#, r#": {"content": ""#, &"x".repeat(600), "\"}}"]
        {
            assert_eq!(stream.push(piece), "");
            named.push(stream.call().map(str::to_owned));
        }
        let name = || Some("write_file".to_owned());
        assert_eq!(named, [None, name(), name(), name(), name()]);
        let mut stream = AnswerStream::default();
        stream.push(r#"{"answer": "a "#);
        assert_eq!(stream.call(), None);
    }
}
