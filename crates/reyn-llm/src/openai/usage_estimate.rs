//! Estimates tokens for servers that do not count them: four characters are one token.

use reyn_core::conversation::{Usage, UsageSource};
use reyn_core::request::{ChatRequest, Message};

use super::accumulator::Accumulated;

const CHARS_PER_TOKEN: usize = 4;

/// Usage figures from the length of the texts, marked as estimated.
pub(super) fn estimate(request: &ChatRequest<'_>, reply: &Accumulated) -> Usage {
    let calls: usize = reply.calls.iter().map(|call| chars(&call.name) + chars(&call.arguments)).sum();
    Usage {
        prompt_tokens: prompt_tokens(request),
        completion_tokens: tokens(chars(&reply.text) + calls),
        cached_tokens: 0,
        source: UsageSource::Estimated,
    }
}

/// Tokens of a request, from the length of its texts.
pub(super) fn prompt_tokens(request: &ChatRequest<'_>) -> u64 {
    let messages: usize = request.messages.iter().map(message_chars).sum();
    let tools: usize = request.tools.iter().map(|tool| chars(&tool.to_string())).sum();
    tokens(messages + tools)
}

fn message_chars(message: &Message<'_>) -> usize {
    match message {
        Message::System(text) | Message::User(text) | Message::ToolResult { text, .. } => chars(text),
        Message::Assistant { text, calls } => {
            let calls = calls.iter().map(|call| chars(&call.name) + chars(&call.args.to_json()));
            chars(text) + calls.sum::<usize>()
        }
    }
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn tokens(chars: usize) -> u64 {
    u64::try_from(chars.div_ceil(CHARS_PER_TOKEN)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_characters_are_a_token_in_any_script() {
        let request = ChatRequest {
            messages: vec![Message::System("12345678".into()), Message::User("日本語😀!".into())],
            ..ChatRequest::default()
        };
        let reply = Accumulated { text: "12345".into(), calls: vec![], finish: None, usage: None };
        let expected = Usage {
            prompt_tokens: 4,
            completion_tokens: 2,
            cached_tokens: 0,
            source: UsageSource::Estimated,
        };
        assert_eq!(estimate(&request, &reply), expected);
    }
}
