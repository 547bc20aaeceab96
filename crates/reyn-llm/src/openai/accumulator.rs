//! Puts the chunks of a streamed reply together, whatever habits the server has.

use reyn_core::conversation::{Finish, Usage, UsageSource};
use reyn_core::limits::{REPLY_BYTES_MAX, REPLY_CALLS_MAX, USAGE_TOKENS_MAX};
use reyn_core::request::RawCall;
use serde_json::Value;

use super::wire_error::{ReadError, ServerError};

/// A reply as far as its chunks have come.
#[derive(Debug, Default)]
pub(super) struct Accumulator {
    text: String,
    calls: Vec<Building>,
    finish: Option<Finish>,
    usage: Option<Usage>,
    reply_bytes: usize,
}

#[derive(Debug, Default)]
struct Building {
    index: Option<u64>,
    call: RawCall,
}

/// What the chunks came to. `usage` is `None` when the server did not count.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Accumulated {
    pub(super) text: String,
    pub(super) calls: Vec<RawCall>,
    pub(super) finish: Option<Finish>,
    pub(super) usage: Option<Usage>,
}

/// One entry of `tool_calls`, its fields still as found.
struct Fragment<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: String,
}

impl Accumulator {
    /// Takes one decoded chunk, or a whole completion, which has `message` where a chunk has `delta`.
    pub(super) fn push(&mut self, chunk: &Value, on_text: &mut dyn FnMut(&str)) -> Result<(), ReadError> {
        if let Some(error) = ServerError::in_body(chunk) {
            return Err(ReadError::Server(error));
        }
        if let Some(usage) = chunk.get("usage").and_then(usage) {
            self.usage = Some(usage);
        }
        let choices = chunk.get("choices").and_then(Value::as_array);
        let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        let Some(choice) = choices.and_then(|choices| choices.iter().find(first)) else { return Ok(()) };
        if let Some(said) = choice.get("delta").or_else(|| choice.get("message")) {
            self.push_text(said, on_text)?;
            self.push_calls(said)?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = finish(reason).or(self.finish);
        }
        Ok(())
    }

    /// Whether the server said why it stopped.
    pub(super) const fn has_finish(&self) -> bool {
        self.finish.is_some()
    }

    /// Everything so far; the reason to stop is made to agree with whether there are calls.
    pub(super) fn into_reply(self) -> Accumulated {
        let calls: Vec<RawCall> = self.calls.into_iter().map(|building| building.call).collect();
        let finish = self.finish.map(|finish| match finish {
            Finish::Stop | Finish::ToolCalls if calls.is_empty() => Finish::Stop,
            Finish::Stop | Finish::ToolCalls => Finish::ToolCalls,
            Finish::Length | Finish::ContentFilter => finish,
        });
        Accumulated { text: self.text, calls, finish, usage: self.usage }
    }

    fn push_text(&mut self, said: &Value, on_text: &mut dyn FnMut(&str)) -> Result<(), ReadError> {
        for piece in texts(said.get("content")).into_iter().chain(texts(said.get("refusal"))) {
            self.count(piece.len())?;
            self.text.push_str(piece);
            on_text(piece);
        }
        Ok(())
    }

    fn push_calls(&mut self, said: &Value) -> Result<(), ReadError> {
        let Some(entries) = said.get("tool_calls").and_then(Value::as_array) else { return Ok(()) };
        for (at, entry) in entries.iter().enumerate() {
            let fragment = Fragment::read(entry);
            self.count(fragment.id.len() + fragment.name.len() + fragment.arguments.len())?;
            self.push_fragment(fragment, at > 0)?;
        }
        Ok(())
    }

    fn push_fragment(&mut self, fragment: Fragment<'_>, has_sibling: bool) -> Result<(), ReadError> {
        let target = self.target(&fragment).filter(|at| {
            // Named entries of one chunk with nothing else to tell them apart are calls of their own.
            let is_anonymous = fragment.index.is_none() && fragment.id.is_empty();
            let is_sibling = has_sibling && is_anonymous && !fragment.name.is_empty();
            !is_sibling && !self.calls[*at].is_followed_by(&fragment)
        });
        match target {
            Some(at) => self.calls[at].extend(fragment),
            None if self.calls.len() == REPLY_CALLS_MAX => return Err(ReadError::TooManyCalls),
            None => {
                let call = RawCall {
                    id: fragment.id.to_owned(),
                    name: fragment.name.to_owned(),
                    arguments: fragment.arguments,
                };
                self.calls.push(Building { index: fragment.index, call });
            }
        }
        Ok(())
    }

    /// The call that a fragment may belong to: by index and id, then by either, then the latest.
    fn target(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let by_id = || {
            let is_same = |building: &Building| building.call.id == fragment.id;
            if fragment.id.is_empty() { None } else { self.calls.iter().rposition(is_same) }
        };
        let Some(index) = fragment.index else {
            return by_id().or_else(|| self.calls.len().checked_sub(1));
        };
        let has_index = |building: &Building| building.index == Some(index);
        let has_both = |building: &Building| has_index(building) && building.call.id == fragment.id;
        let by_id_unnamed = || by_id().filter(|_| fragment.name.is_empty());
        let by_both = self.calls.iter().rposition(has_both);
        by_both.or_else(|| self.calls.iter().rposition(has_index)).or_else(by_id_unnamed)
    }

    fn count(&mut self, bytes: usize) -> Result<(), ReadError> {
        self.reply_bytes += bytes;
        if self.reply_bytes > REPLY_BYTES_MAX { Err(ReadError::TooLong) } else { Ok(()) }
    }
}

impl<'a> Fragment<'a> {
    fn read(entry: &'a Value) -> Self {
        let text = |value: Option<&'a Value>| value.and_then(Value::as_str).unwrap_or_default();
        let function = entry.get("function").unwrap_or(entry);
        let arguments = match function.get("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let index = entry.get("index").and_then(Value::as_u64);
        Self { index, id: text(entry.get("id")), name: text(function.get("name")), arguments }
    }
}

impl Building {
    /// Whether a fragment for the same place begins another call.
    ///
    /// It does when it brings a name and an id of its own, or a name and arguments after arguments that
    /// are complete. An id alone does not: some servers make one up for each chunk.
    fn is_followed_by(&self, fragment: &Fragment<'_>) -> bool {
        let has_own_id = !fragment.id.is_empty() && !self.call.id.is_empty() && fragment.id != self.call.id;
        let is_repeat = fragment.id == self.call.id
            && !fragment.id.is_empty()
            && fragment.arguments == self.call.arguments;
        !fragment.name.is_empty()
            && (has_own_id || !fragment.arguments.is_empty() && !is_repeat && self.is_complete())
    }

    fn is_complete(&self) -> bool {
        let text = self.call.arguments.trim();
        text.starts_with('{')
            && text.ends_with('}')
            && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
    }

    fn extend(&mut self, fragment: Fragment<'_>) {
        if self.call.id.is_empty() {
            fragment.id.clone_into(&mut self.call.id);
        }
        let is_whole_again = !fragment.name.is_empty()
            && fragment.arguments == self.call.arguments
            && !fragment.arguments.is_empty()
            && self.is_complete();
        // Once arguments have come, a name is the same name again.
        if self.call.arguments.is_empty() && self.call.name != fragment.name {
            self.call.name.push_str(fragment.name);
        }
        if !is_whole_again {
            self.call.arguments.push_str(&fragment.arguments);
        }
    }
}

/// The texts of `content`, which is a text, a list of parts or null.
fn texts(content: Option<&Value>) -> Vec<&str> {
    match content {
        Some(Value::String(text)) if !text.is_empty() => vec![text],
        Some(Value::Array(parts)) => {
            let is_text = |part: &&Value| {
                part.get("type").and_then(Value::as_str).is_none_or(|kind| kind.ends_with("text"))
            };
            let said = parts.iter().filter(is_text);
            said.filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str())).collect()
        }
        None
        | Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) | Value::String(_)) => {
            vec![]
        }
    }
}

fn finish(reason: &str) -> Option<Finish> {
    match reason {
        "" => None,
        "tool_calls" | "function_call" | "tool_use" => Some(Finish::ToolCalls),
        "length" | "max_tokens" => Some(Finish::Length),
        "content_filter" => Some(Finish::ContentFilter),
        _ => Some(Finish::Stop),
    }
}

/// Usage figures; `None` when all are zero, which servers send that do not count, or when one is no possible count.
fn usage(usage: &Value) -> Option<Usage> {
    let figure = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    let prompt_tokens = figure("/prompt_tokens").unwrap_or(0);
    let completion_tokens = figure("/completion_tokens").unwrap_or(0);
    let cached =
        figure("/prompt_tokens_details/cached_tokens").or_else(|| figure("/prompt_cache_hit_tokens"));
    let is_possible = |tokens: u64| tokens <= USAGE_TOKENS_MAX;
    let is_counted = prompt_tokens > 0 || completion_tokens > 0;
    (is_counted && is_possible(prompt_tokens) && is_possible(completion_tokens)).then(|| Usage {
        prompt_tokens,
        completion_tokens,
        cached_tokens: cached.filter(|tokens| is_possible(*tokens)).unwrap_or(0),
        source: UsageSource::Provider,
    })
}
