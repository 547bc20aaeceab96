//! Decodes an event stream that arrives in pieces cut at any byte.
//!
//! Text is decoded line by line and never piece by piece, so a character cut in two stays whole.

use reyn_core::limits::STREAM_LINE_BYTES_MAX;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// The `event` field; empty when the event has none.
    pub name: String,
    /// The `data` fields, joined by line feeds.
    pub data: String,
}

/// Why a stream cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// A line, or the data of one event, is longer than [`STREAM_LINE_BYTES_MAX`].
    #[error("one event of the stream is longer than {STREAM_LINE_BYTES_MAX} bytes")]
    TooLong,
}

/// The state between two pieces of a stream.
#[derive(Debug, Default)]
pub struct SseDecoder {
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    is_after_cr: bool,
    is_past_first_line: bool,
    has_known_line: bool,
}

impl SseDecoder {
    /// Takes the next piece and returns the events that it completes.
    ///
    /// # Errors
    /// [`SseError::TooLong`]; the decoder is of no use after it.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<SseEvent>, SseError> {
        let mut events = vec![];
        if self.is_after_cr && !bytes.is_empty() {
            self.is_after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.extend_line(&bytes[..end])?;
            events.extend(self.end_line()?);
            let is_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if is_cr {
                self.is_after_cr = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
        }
        self.extend_line(bytes)?;
        Ok(events)
    }

    /// Ends the stream; an event that no blank line closed is returned.
    ///
    /// # Errors
    /// [`SseError::TooLong`].
    pub fn finish(&mut self) -> Result<Option<SseEvent>, SseError> {
        if !self.line.is_empty()
            && let Some(event) = self.end_line()?
        {
            return Ok(Some(event));
        }
        Ok(self.end_event())
    }

    /// Whether any line so far was one that event streams have: a comment or a known field.
    #[must_use]
    pub const fn has_known_line(&self) -> bool {
        self.has_known_line
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        if self.line.len() + bytes.len() > STREAM_LINE_BYTES_MAX {
            return Err(SseError::TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<SseEvent>, SseError> {
        let mut line = std::mem::take(&mut self.line);
        let mut text: &[u8] = &line;
        if !self.is_past_first_line {
            self.is_past_first_line = true;
            text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        }
        let event = if text.is_empty() {
            self.end_event()
        } else {
            self.field(text)?;
            None
        };
        line.clear();
        self.line = line;
        Ok(event)
    }

    fn field(&mut self, line: &[u8]) -> Result<(), SseError> {
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = colon.map_or((line, &[][..]), |at| (&line[..at], &line[at + 1..]));
        let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
        match name {
            b"data" => {
                if self.event.data.len() + value.len() >= STREAM_LINE_BYTES_MAX {
                    return Err(SseError::TooLong);
                }
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(&value);
                self.has_data = true;
            }
            b"event" => self.event.name = value.into_owned(),
            b"" | b"id" | b"retry" => {}
            _ => return Ok(()),
        }
        self.has_known_line = true;
        Ok(())
    }

    fn end_event(&mut self) -> Option<SseEvent> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, data: &str) -> SseEvent {
        SseEvent { name: name.into(), data: data.into() }
    }

    fn decode(pieces: &[&[u8]]) -> Vec<SseEvent> {
        let mut decoder = SseDecoder::default();
        let mut events: Vec<SseEvent> =
            pieces.iter().flat_map(|piece| decoder.push(piece).unwrap()).collect();
        events.extend(decoder.finish().unwrap());
        events
    }

    /// Every way to cut a stream in two, and byte by byte.
    fn cuts(stream: &[u8]) -> Vec<Vec<SseEvent>> {
        let mut all: Vec<_> = (0..=stream.len()).map(|at| decode(&[&stream[..at], &stream[at..]])).collect();
        all.push(decode(&stream.chunks(1).collect::<Vec<_>>()));
        all
    }

    #[test]
    fn every_stream_reads_the_same_wherever_it_is_cut_and_however_lines_end() {
        for (stream, expected) in [
            ("", vec![]),
            ("\n\n\n", vec![]),
            ("data: a\n\n", vec![event("", "a")]),
            ("data:a\n\ndata:  b\n\n", vec![event("", "a"), event("", " b")]),
            ("data: one\ndata: two\n\n", vec![event("", "one\ntwo")]),
            ("data\ndata\n\n", vec![event("", "\n")]),
            ("data:\n\n", vec![event("", "")]),
            (": ping\n\nevent: error\ndata: {}\n\n", vec![event("error", "{}")]),
            ("event: lonely\n\ndata: a\n\n", vec![event("", "a")]),
            ("id: 1\nretry: 5\nfoo: bar\ndata: a:b\n\n", vec![event("", "a:b")]),
            ("data: not closed", vec![event("", "not closed")]),
            ("data: a\n\ndata: closed by one\n", vec![event("", "a"), event("", "closed by one")]),
            ("\u{feff}data: after a mark\n\n", vec![event("", "after a mark")]),
            ("data: 「日本語😀」\n\n", vec![event("", "「日本語😀」")]),
        ] {
            for ending in ["\n", "\r\n", "\r"] {
                let stream = stream.replace('\n', ending);
                for events in cuts(stream.as_bytes()) {
                    assert_eq!(events, expected, "{stream:?}");
                }
            }
        }
    }

    #[test]
    fn line_ends_of_all_kinds_mix() {
        for events in cuts(b"data: a\r\ndata: b\rdata: c\n\r\ndata: d\r\r") {
            assert_eq!(events, [event("", "a\nb\nc"), event("", "d")]);
        }
    }

    #[test]
    fn a_byte_that_is_no_text_becomes_a_replacement_character() {
        assert_eq!(decode(&[b"data: a\xFFb\n\n"]), [event("", "a\u{fffd}b")]);
    }

    #[test]
    fn a_line_or_an_event_beyond_the_limit_is_refused() {
        let mut decoder = SseDecoder::default();
        let piece = vec![b'x'; 1 << 20];
        let results: Vec<_> = (0..5).map(|_| decoder.push(&piece).is_ok()).collect();
        assert_eq!(results, [true, true, true, true, false]);

        let mut decoder = SseDecoder::default();
        let line = [b"data: ", piece.as_slice(), b"\n"].concat();
        let results: Vec<_> = (0..4).map(|_| decoder.push(&line).is_ok()).collect();
        assert_eq!(results, [true, true, true, false]);
    }

    #[test]
    fn a_stream_of_another_kind_has_no_known_line() {
        for (stream, expected) in
            [("404 page not found\n", false), (": ping\n", true), ("event: x\n", true), ("", false)]
        {
            let mut decoder = SseDecoder::default();
            decoder.push(stream.as_bytes()).unwrap();
            assert_eq!(decoder.has_known_line(), expected, "{stream:?}");
        }
    }
}
