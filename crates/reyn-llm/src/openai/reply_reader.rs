//! Reads the body of a reply from its bytes: an event stream or one JSON object, told apart by content.

use reyn_core::conversation::Finish;
use reyn_core::limits::{REPLY_BYTES_MAX, STREAM_BYTES_MAX};
use serde_json::Value;

use super::accumulator::{Accumulated, Accumulator};
use super::wire_error::ReadError;
use crate::sse::{SseDecoder, SseEvent};

/// The state between two pieces of a body.
///
/// The content type is not asked: servers stream without one, and answer with plain JSON where a stream
/// was asked for.
#[derive(Debug, Default)]
pub(super) struct ReplyReader {
    body: Body,
    reply: Accumulator,
    body_bytes: usize,
    is_done: bool,
}

#[derive(Debug, Default)]
enum Body {
    /// Only white space so far.
    #[default]
    Unknown,
    Stream(SseDecoder),
    Json(Vec<u8>),
}

impl ReplyReader {
    /// Takes the next piece; `on_text` hears the text in it.
    pub(super) fn push(&mut self, bytes: &[u8], on_text: &mut dyn FnMut(&str)) -> Result<(), ReadError> {
        self.body_bytes += bytes.len();
        if self.body_bytes > STREAM_BYTES_MAX {
            return Err(ReadError::StreamTooLong);
        }
        if matches!(self.body, Body::Unknown) {
            self.body = match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return Ok(()),
                Some(b'{' | b'[') => Body::Json(vec![]),
                Some(b'<') => return Err(ReadError::Foreign),
                Some(_) => Body::Stream(SseDecoder::default()),
            };
        }
        match &mut self.body {
            Body::Unknown => Ok(()),
            Body::Json(text) => {
                text.extend_from_slice(bytes);
                if text.len() > REPLY_BYTES_MAX { Err(ReadError::TooLong) } else { Ok(()) }
            }
            Body::Stream(decoder) => {
                let events = decoder.push(bytes)?;
                events.iter().try_for_each(|event| self.push_event(event, on_text))
            }
        }
    }

    /// Whether the server marked the end; what follows is ignored.
    pub(super) const fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether the reply would be complete if nothing more came.
    pub(super) const fn is_complete(&self) -> bool {
        self.is_done || self.reply.has_finish()
    }

    /// Ends the body.
    pub(super) fn finish(mut self, on_text: &mut dyn FnMut(&str)) -> Result<Accumulated, ReadError> {
        match std::mem::take(&mut self.body) {
            Body::Unknown => return Err(ReadError::Broken),
            Body::Json(text) => self.push_completion(&text, on_text)?,
            Body::Stream(mut decoder) => {
                if let Some(event) = decoder.finish()? {
                    // An event that the end cut short is the mark of a broken stream, not of a bad server.
                    match self.push_event(&event, on_text) {
                        Err(ReadError::Malformed(_)) => return Err(ReadError::Broken),
                        pushed => pushed?,
                    }
                }
                if !decoder.has_known_line() {
                    return Err(ReadError::Foreign);
                }
            }
        }
        if !self.is_complete() {
            return Err(ReadError::Broken);
        }
        let mut reply = self.reply.into_reply();
        if reply.finish.is_none() {
            if reply.text.is_empty() && reply.calls.is_empty() {
                return Err(ReadError::Empty);
            }
            reply.finish = Some(if reply.calls.is_empty() { Finish::Stop } else { Finish::ToolCalls });
        }
        Ok(reply)
    }

    fn push_event(&mut self, event: &SseEvent, on_text: &mut dyn FnMut(&str)) -> Result<(), ReadError> {
        let data = event.data.trim();
        if self.is_done || data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.is_done = true;
            return Ok(());
        }
        match serde_json::from_str::<Value>(data) {
            Ok(chunk) if event.name == "error" => Err(ReadError::server(&chunk)),
            Ok(chunk) => self.reply.push(&chunk, on_text),
            Err(error) => Err(ReadError::Malformed(error.to_string())),
        }
    }

    fn push_completion(&mut self, text: &[u8], on_text: &mut dyn FnMut(&str)) -> Result<(), ReadError> {
        let body: Value = serde_json::from_slice(text).map_err(|error| {
            if error.is_eof() { ReadError::Broken } else { ReadError::Malformed(error.to_string()) }
        })?;
        self.reply.push(&body, on_text)?;
        if body.get("choices").and_then(Value::as_array).is_none() {
            return Err(ReadError::Foreign);
        }
        self.is_done = true;
        Ok(())
    }
}
