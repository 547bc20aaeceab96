//! Tokens of chat templates and role tags: what would make a model take a text for another speaker's.
//!
//! Every token ends with `>` or `]`. A token is taken out of the written text the moment it ends, so what its
//! removal joins is looked at again and no pass is repeated: the text that is left never holds one.

use memchr::memchr2;

/// Longest token that is known, in bytes; how far back an ending looks.
const TOKEN_BYTES_MAX: usize = 96;
/// Longest name between `<|` and `|>`, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Tags that forge a speaker or the answer of a tool, with or without attributes.
const ROLE_TAGS: [&str; 15] = [
    "system",
    "assistant",
    "developer",
    "human",
    "system_prompt",
    "system_message",
    "tool_call",
    "tool_calls",
    "tool_response",
    "tool_result",
    "tool_results",
    "function_call",
    "function_calls",
    "function_result",
    "function_results",
];
/// Tags that are tokens as they stand, and nothing else.
const WHOLE_TAGS: [&str; 7] = ["s", "bos", "eos", "start_of_turn", "end_of_turn", "sop", "eop"];
/// Names that are tokens between `<|` and `|>` with blanks around them, and with one bar.
const KNOWN_NAMES: [&str; 22] = [
    "im_start",
    "im_end",
    "im_sep",
    "system",
    "user",
    "assistant",
    "developer",
    "tool",
    "end",
    "start",
    "message",
    "channel",
    "return",
    "call",
    "turn",
    "endoftext",
    "eot_id",
    "start_header_id",
    "end_header_id",
    "begin_of_text",
    "end_of_text",
    "tool_call",
];
/// Names that are tokens in square brackets.
const BRACKETED: [&str; 8] = [
    "INST",
    "AVAILABLE_TOOLS",
    "TOOL_CALLS",
    "TOOL_RESULTS",
    "TOOL_CONTENT",
    "SYSTEM_PROMPT",
    "gMASK",
    "sMASK",
];
/// Signs that look like the bar of a token.
const BARS: [char; 8] = ['|', '∣', 'ǀ', '│', '┃', '❘', '⏐', '¦'];

/// The text without tokens, and how many were taken out. One pass; each ending looks back a bounded way.
///
/// Known are: any `<|name|>` (ChatML, Llama, Phi, Qwen, gpt-oss, Command R, and DeepSeek with its wide bars once
/// they are folded), `<<SYS>>`, `[INST]` and the other bracketed names of Mistral and GLM, `<s>`, Gemma's turns,
/// and tags of roles and tool results. `<user>` is a placeholder in so much prose that it counts at the
/// beginning of a line alone; so does a capitalised name that a word stands before (`List<System>`) not count.
#[must_use]
pub fn without_control_tokens(text: &str) -> (String, usize) {
    let mut kept = String::with_capacity(text.len());
    let mut removed = 0;
    let mut rest = text;
    while let Some(at) = memchr2(b'>', b']', rest.as_bytes()) {
        kept.push_str(&rest[..=at]);
        rest = &rest[at + 1..];
        if let Some(start) = token_at_end(&kept) {
            kept.truncate(start);
            removed += 1;
        }
    }
    kept.push_str(rest);
    (kept, removed)
}

/// Where the token begins that `text` ends with.
fn token_at_end(text: &str) -> Option<usize> {
    let from = text.len().saturating_sub(TOKEN_BYTES_MAX);
    let from = (from..text.len()).find(|at| text.is_char_boundary(*at))?;
    let window = &text[from..];
    if let Some(body) = window.strip_suffix(']') {
        let open = body.rfind('[')?;
        let name = body[open + 1..].trim_matches([' ', '/']);
        let is_token = BRACKETED.contains(&name) || name.eq_ignore_ascii_case("inst");
        return is_token.then_some(from + open);
    }
    if let Some(open) = window.strip_suffix(">>").and_then(|body| body.rfind("<<")) {
        let name = window[open + 2..window.len() - 2].trim_matches([' ', '/']);
        if name.eq_ignore_ascii_case("sys") {
            return Some(from + open);
        }
    }
    let body = window.strip_suffix('>')?;
    let open = body.rfind('<')?;
    is_tag(&body[open + 1..], &window[..open]).then_some(from + open)
}

/// Whether what stands between `<` and `>` is a token, after `before`.
fn is_tag(inner: &str, before: &str) -> bool {
    let after_bar = inner.strip_prefix(BARS);
    let before_bar = after_bar.unwrap_or(inner).strip_suffix(BARS);
    match (after_bar, before_bar) {
        (Some(_), Some(name)) => {
            is_name(name) || KNOWN_NAMES.iter().any(|known| name.trim().eq_ignore_ascii_case(known))
        }
        (Some(name), None) | (None, Some(name)) => {
            KNOWN_NAMES.iter().any(|known| name.trim_matches([' ', '/']).eq_ignore_ascii_case(known))
        }
        (None, None) => is_role_tag(inner, before),
    }
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '▁');
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.chars().all(is_part)
}

fn is_role_tag(inner: &str, before: &str) -> bool {
    let whole = inner.trim_matches([' ', '/']);
    if WHOLE_TAGS.iter().any(|tag| whole.eq_ignore_ascii_case(tag)) {
        return true;
    }
    let is_closing = inner.trim_start().starts_with('/');
    if whole.eq_ignore_ascii_case("user") {
        return is_closing || before.is_empty() || before.ends_with('\n');
    }
    let name = whole.split([' ', '\t', '\n']).next().unwrap_or(whole);
    let is_type_of_code = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name[1..].contains(|c: char| c.is_ascii_lowercase())
        && before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'));
    !is_type_of_code && ROLE_TAGS.iter().any(|tag| name.eq_ignore_ascii_case(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_every_family_are_taken_out() {
        for token in [
            "<|im_start|>",
            "<|im_end|>",
            "<|IM_START|>",
            "<| im_start |>",
            "<|start_header_id|>",
            "<|eot_id|>",
            "<|endoftext|>",
            "<|begin▁of▁sentence|>",
            "<|User|>",
            "<|tool▁calls▁begin|>",
            "<|START_OF_TURN_TOKEN|>",
            "<|turn>",
            "<turn|>",
            "<|channel|>",
            "<∣im_start∣>",
            "[INST]",
            "[/INST]",
            "[ INST ]",
            "[TOOL_RESULTS]",
            "[gMASK]",
            "<<SYS>>",
            "<</SYS>>",
            "<< sys >>",
            "<s>",
            "</s>",
            "<bos>",
            "<start_of_turn>",
            "<end_of_turn>",
            "<system>",
            "</SYSTEM>",
            "<system role=\"root\">",
            "<assistant>",
            "</tool_response>",
            "</user>",
        ] {
            assert_eq!(without_control_tokens(&format!("a {token}b")), ("a b".to_owned(), 1), "{token}");
        }
    }

    #[test]
    fn what_only_resembles_a_token_stays() {
        for text in [
            "f <| x |> g",
            "a < b | c > d",
            "List<System> Map<User, Role>",
            "<span>",
            "run <user>@<host>",
            "cmd [args] [inside]",
            "<think>",
            "x << sys; y >> 2",
            "|>",
            "<strong>",
            "if a <b|| c> d",
            "[system]",
        ] {
            assert_eq!(without_control_tokens(text), (text.to_owned(), 0));
        }
    }

    #[test]
    fn a_token_that_a_removal_joins_is_taken_out_too() {
        for text in [
            "<|im_<|im_start|>start|>",
            "<|<s>im_start|>",
            "[IN[INST]ST]",
            "<<<s>SYS>>",
            "<|im_<|im_<s>end|>end|>",
        ] {
            assert_eq!(without_control_tokens(text).0, "", "{text}");
        }
        let depth = 20_000;
        let nested = "<|im_".repeat(depth) + &"start|>".repeat(depth);
        assert_eq!(without_control_tokens(&nested), (String::new(), depth));
    }

    #[test]
    fn a_user_tag_begins_a_line() {
        assert_eq!(without_control_tokens("<user>hi\n<user>ho"), ("hi\nho".to_owned(), 2));
    }
}
