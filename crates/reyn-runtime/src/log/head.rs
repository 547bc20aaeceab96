//! What the beginning of a log says, at the cost of reading it and little more.
//!
//! For lists, which show many sessions: guards are checked for the records that are shown alone.

use std::path::Path;

use reyn_core::conversation::Entry;

use super::record::{Record, VERSION, guard_of, record_in};

/// Lines in which the first message is looked for.
const LINES_MAX: usize = 8;
/// Where a record's kind stands at the latest, in bytes: after its number and its time.
const KIND_WITHIN: usize = 96;
/// Longest part of an escaped character (`\ud83d\ude00`) that a cut can leave, in bytes.
const CUT_BYTES_MAX: usize = 12;

/// What the first bytes of a log say.
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct Head {
    /// When the first record was written.
    pub(crate) started: Option<String>,
    /// The first message, or how it begins.
    pub(crate) message: Option<String>,
    /// Messages in these bytes.
    pub(crate) messages: u64,
}

impl Head {
    /// Reads the first bytes of a log; the last line may be cut.
    pub(crate) fn of(bytes: &[u8], path: &Path) -> Self {
        let mut head = Self { messages: messages_in(bytes), ..Self::default() };
        for line in bytes.split_inclusive(|byte| *byte == b'\n').take(LINES_MAX) {
            let record = match line.strip_suffix(b"\n") {
                Some(line) => record_in(line, path).ok().flatten().map(|(_, record)| record),
                None => record_without_end(line),
            };
            let Some(record) = record else { continue };
            head.started.get_or_insert(record.ts);
            if let Entry::User { text } = record.entry {
                head.message = Some(text);
                break;
            }
        }
        head
    }
}

/// How many lines look like a message of the person.
fn messages_in(bytes: &[u8]) -> u64 {
    let is_message = |line: &[u8]| {
        guard_of(line).is_some_and(|(_, _, record)| {
            let start = &record[..record.len().min(KIND_WITHIN)];
            memchr::memmem::find(start, b"\"entry\":{\"kind\":\"user\"").is_some()
        })
    };
    let mut count = 0;
    let mut start = 0;
    while start < bytes.len() {
        let next = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at + 1);
        count += u64::from(is_message(&bytes[start..next]));
        start = next;
    }
    count
}

/// A record whose message is cut, with what is there of it. Only for showing: the guard of a line without its
/// end cannot be checked.
fn record_without_end(line: &[u8]) -> Option<Record> {
    let (version, _, record) = guard_of(line)?;
    if version > VERSION {
        return None;
    }
    let record = record.utf8_chunks().next()?.valid();
    // Cut inside an escape, the text is whole a few bytes before.
    let mut ends = (record.len().saturating_sub(CUT_BYTES_MAX)..=record.len()).rev();
    ends.find_map(|end| serde_json::from_str(&format!("{}\"}}}}", record.get(..end)?)).ok())
}

#[cfg(test)]
mod tests {
    use super::super::record::line_for;
    use super::*;

    const NOW: &str = "2026-01-02T03:04:05Z";

    fn head(bytes: &[u8]) -> Head {
        Head::of(bytes, Path::new("log"))
    }

    fn says(text: &str) -> Vec<u8> {
        line_for(1, NOW, &Entry::User { text: text.into() })
    }

    #[test]
    fn a_message_cut_at_any_byte_is_shown_as_far_as_it_is_there() {
        let text = "日本 \"a\" \\ \n 😀 end";
        let line = says(text);
        let text_at = memchr::memmem::find(&line, b"\"text\":\"").unwrap() + 8;
        for cut in 0..line.len() {
            let message = head(&line[..cut]).message;
            match message {
                Some(message) => assert!(text.starts_with(&message), "{message:?} at {cut}"),
                None => assert!(cut < text_at, "nothing at {cut}"),
            }
        }
        assert_eq!(head(&line).message.as_deref(), Some(text));
    }

    #[test]
    fn messages_are_counted_and_what_looks_like_one_in_a_text_is_not() {
        let bytes = [
            says("\"entry\":{\"kind\":\"user\""),
            line_for(2, NOW, &Entry::Nudged),
            says("second"),
            b"\0\0damage\n".to_vec(),
        ]
        .concat();
        let expected = Head {
            started: Some(NOW.into()),
            message: Some("\"entry\":{\"kind\":\"user\"".into()),
            messages: 2,
        };
        assert_eq!(head(&bytes), expected);
    }

    #[test]
    fn damage_before_the_first_message_is_passed_over() {
        let bytes = [b"garbage\n".to_vec(), says("first")].concat();
        assert_eq!(head(&bytes).message.as_deref(), Some("first"));
        assert_eq!(head(b""), Head::default());
    }
}
