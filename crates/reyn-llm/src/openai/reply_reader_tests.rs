//! Every habit of a server, each as one line: what it sends and what it means.

use reyn_core::conversation::{Finish, Usage, UsageSource};
use reyn_core::request::RawCall;

use super::accumulator::Accumulated;
use super::reply_reader::ReplyReader;
use super::wire_error::ReadError;

type Read = Result<Accumulated, ReadError>;

fn read(pieces: &[&[u8]]) -> (String, Read) {
    let mut heard = String::new();
    let mut on_text = |text: &str| heard.push_str(text);
    let mut reader = ReplyReader::default();
    let read = pieces
        .iter()
        .try_for_each(|piece| reader.push(piece, &mut on_text))
        .and_then(|()| reader.finish(&mut on_text));
    (heard, read)
}

/// Reads a body whole, cut in two at every byte, and byte by byte, and checks that all agree.
fn read_every_way(body: &str) -> Read {
    let bytes = body.as_bytes();
    let (heard, whole) = read(&[bytes]);
    for at in 0..=bytes.len() {
        assert_eq!(
            read(&[&bytes[..at], &bytes[at..]]),
            (heard.clone(), whole.clone()),
            "cut at {at}: {body}"
        );
    }
    assert_eq!(read(&bytes.chunks(1).collect::<Vec<_>>()), (heard.clone(), whole.clone()), "{body}");
    if let Ok(reply) = &whole {
        assert_eq!(heard, reply.text, "{body}");
    }
    whole
}

/// A stream of one event a line; `|` separates the events.
fn stream(script: &str, line_end: &str) -> String {
    script.split('|').map(|event| format!("data: {event}{line_end}{line_end}")).collect()
}

/// Reads a script with both line ends.
fn read_stream(script: &str) -> Read {
    let read = read_every_way(&stream(script, "\n"));
    assert_eq!(read_every_way(&stream(script, "\r\n")), read, "{script}");
    read
}

fn delta(delta: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#)
}

fn text(text: &str) -> String {
    delta(&format!(r#"{{"content":"{text}"}}"#))
}

/// A chunk with entries of `tool_calls`, written short and joined by ` & `: `index id name arguments`, `-`
/// for a missing field and `~` for an empty one.
fn calls(entries: &str) -> String {
    let entry = |entry: &str| {
        let mut fields = entry.splitn(4, ' ');
        let mut next = || match fields.next() {
            Some("-") | None => None,
            Some("~") => Some(""),
            field => field,
        };
        let (index, id, name, arguments) = (next(), next(), next(), next());
        let quoted = |key: &str, value: Option<&str>| {
            value.map(|value| format!(r#""{key}":{}"#, serde_json::Value::from(value)))
        };
        let function = [quoted("name", name), quoted("arguments", arguments)];
        let function = function.into_iter().flatten().collect::<Vec<_>>().join(",");
        let fields = [
            index.map(|index| format!(r#""index":{index}"#)),
            quoted("id", id),
            Some(format!(r#""function":{{{function}}}"#)),
        ];
        format!("{{{}}}", fields.into_iter().flatten().collect::<Vec<_>>().join(","))
    };
    delta(&format!(r#"{{"tool_calls":[{}]}}"#, entries.split(" & ").map(entry).collect::<Vec<_>>().join(",")))
}

fn stop(reason: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#)
}

const DONE: &str = "[DONE]";

fn says(text: &str) -> Read {
    Ok(Accumulated { text: text.into(), calls: vec![], finish: Some(Finish::Stop), usage: None })
}

/// Id, name and arguments.
type Call = (&'static str, &'static str, &'static str);

fn asks(expected: &[Call]) -> Read {
    let call = |(id, name, arguments): &Call| RawCall {
        id: (*id).into(),
        name: (*name).into(),
        arguments: (*arguments).into(),
    };
    let calls = expected.iter().map(call).collect();
    Ok(Accumulated { text: String::new(), calls, finish: Some(Finish::ToolCalls), usage: None })
}

fn check(cases: &[(&str, &[String], Read)]) {
    for (name, events, expected) in cases {
        assert_eq!(&read_stream(&events.join("|")), expected, "{name}");
    }
}

#[test]
fn text_is_read_whatever_the_server_does_around_it() {
    let done = DONE.to_owned();
    check(&[
        ("usual", &[text("a"), text("b"), stop("stop"), done.clone()], says("ab")),
        (
            "characters cut anywhere",
            &[text("「日本"), text("語😀」"), stop("stop"), done.clone()],
            says("「日本語😀」"),
        ),
        ("no reason, then done", &[text("a"), done.clone()], says("a")),
        ("a reason, then nothing", &[text("a"), stop("stop")], says("a")),
        ("neither", &[text("a")], Err(ReadError::Broken)),
        ("done with nothing", std::slice::from_ref(&done), Err(ReadError::Empty)),
        ("a reason with nothing", &[stop("stop"), done.clone()], says("")),
        ("an unknown reason", &[text("a"), stop("eos"), done.clone()], says("a")),
        ("a blank reason", &[text("a"), stop(""), done.clone()], says("a")),
        ("calls announced and none made", &[text("a"), stop("tool_calls"), done.clone()], says("a")),
        ("reasoning", &[delta(r#"{"reasoning_content":"hm"}"#), text("a"), stop("stop")], says("a")),
        ("role only", &[delta(r#"{"role":"assistant","content":null}"#), text("a"), stop("stop")], says("a")),
        (
            "parts",
            &[delta(r#"{"content":[{"type":"text","text":"a"},{"type":"image"},"b"]}"#), stop("stop")],
            says("ab"),
        ),
        ("a refusal", &[delta(r#"{"content":null,"refusal":"no"}"#), stop("stop")], says("no")),
        (
            "the old way of calling",
            &[delta(r#"{"function_call":{"name":"x","arguments":"{}"},"content":"a"}"#), stop("stop")],
            says("a"),
        ),
        (
            "a second choice",
            &[text("a"), r#"{"choices":[{"index":1,"delta":{"content":"b"}}]}"#.into(), stop("stop")],
            says("a"),
        ),
        ("after done", &[text("a"), done.clone(), text("b")], says("a")),
        ("blank data", &[String::new(), text("a"), stop("stop")], says("a")),
        ("not JSON", &[text("a"), "{nope}".into(), done.clone()], Err(malformed("{nope}"))),
    ]);
}

fn malformed(text: &str) -> ReadError {
    ReadError::Malformed(serde_json::from_str::<serde_json::Value>(text).unwrap_err().to_string())
}

const ONE: &[Call] = &[("x", "read", r#"{"p":1}"#)];
const TWO: &[Call] = &[("x", "read", r#"{"p":1}"#), ("y", "write", r#"{"q":2}"#)];
const ONE_UNNAMED: &[Call] = &[("", "read", r#"{"p":1}"#)];
const TWO_UNNAMED: &[Call] = &[("", "read", r#"{"p":1}"#), ("", "write", r#"{"q":2}"#)];
const TWO_EMPTY: &[Call] = &[("", "read", ""), ("", "write", "")];
const SAME_ID: &[Call] = &[("x", "read", r#"{"p":1}"#), ("x", "write", r#"{"q":2}"#)];

/// How servers send calls: the chunks, joined by `; `, and what they mean.
const CALLS: &[(&str, &str, &[Call])] = &[
    ("in fragments", r#"0 x read ~; 0 - - {"p":; 0 - - 1}"#, ONE),
    ("interleaved", r#"0 x read ~ & 1 y write ~; 1 - - {"q":2} & 0 - - {"p":1}"#, TWO),
    ("in one burst", r#"0 x read {"p":1} & 1 y write {"q":2}"#, TWO),
    ("counted from 1", r#"1 x read ~; 1 - - {"p":1}; 2 y write ~; 2 - - {"q":2}"#, TWO),
    ("all at index 0", r#"0 x read {"p":1}; 0 y write {"q":2}"#, TWO),
    ("all at index 0 in one chunk", r#"0 x read {"p":1} & 0 y write {"q":2}"#, TWO),
    ("all at index 0, in fragments", r#"0 x read ~; 0 - - {"p":1}; 0 y write ~; 0 - - {"q":2}"#, TWO),
    ("all at index 0, whole, without ids", r#"0 - read {"p":1}; 0 - write {"q":2}"#, TWO_UNNAMED),
    ("all at index 0, whole, with one id", r#"0 x read {"p":1}; 0 x write {"q":2}"#, SAME_ID),
    ("the id in each chunk", r#"0 x read ~; 0 x - {"p":; 0 x - 1}"#, ONE),
    ("another id in each chunk", r#"0 x read ~; 0 y - {"p":; 0 z - 1}"#, ONE),
    ("the id comes late", r#"0 - read ~; 0 x - {"p":1}"#, ONE),
    ("an empty id", r#"0 ~ read ~; 0 ~ - {"p":1}"#, ONE_UNNAMED),
    ("no index", r#"- x read ~; - - - {"p":1}; - y write {"q":2}"#, TWO),
    ("no index, interleaved", r#"- x read ~ & - y write ~; - x - {"p":1}; - y - {"q":2}"#, TWO),
    ("neither index nor id, in one chunk", r#"- - read {"p":1} & - - write {"q":2}"#, TWO_UNNAMED),
    ("neither index nor id, in two chunks", r#"- - read {"p":1}; - - write {"q":2}"#, TWO_UNNAMED),
    ("neither, in fragments", r#"- - read ~; - - - {"p":; - - - 1}"#, ONE_UNNAMED),
    ("neither, without arguments", "- - read ~ & - - write ~", TWO_EMPTY),
    ("the same id at two indices", r#"0 x read {"p":1}; 1 x write {"q":2}"#, SAME_ID),
    ("the name in pieces", r#"0 x re; 0 x ad; 0 - - {"p":1}"#, ONE),
    ("the name in each chunk", r#"0 x read ~; 0 x read {"p":; 0 x read 1}"#, ONE),
    ("the whole call twice", r#"0 x read {"p":1}; 0 x read {"p":1}"#, ONE),
    ("fragments and then the whole call", r#"0 x read ~; 0 - - {"p":1}; 0 x read {"p":1}"#, ONE),
];

#[test]
fn calls_are_read_whatever_the_server_calls_them() {
    for (name, chunks, expected) in CALLS {
        let chunks: Vec<String> = chunks.split("; ").map(calls).collect();
        for end in [stop("tool_calls"), stop("stop"), stop("function_call"), DONE.to_owned()] {
            let script = [chunks.join("|"), end].join("|");
            assert_eq!(read_stream(&script), asks(expected), "{name}");
        }
    }
}

#[test]
fn arguments_may_be_an_object_and_any_field_may_be_null() {
    let call = |function: &str| {
        delta(&format!(r#"{{"tool_calls":[{{"index":0,"id":"x","function":{function}}}]}}"#))
    };
    let nulls = r#"{"content":null,"tool_calls":[{"index":null,"id":null,"function":{"name":"read","arguments":null}}]}"#;
    let done = DONE.to_owned();
    check(&[
        ("an object", &[call(r#"{"name":"read","arguments":{"p":1}}"#), done.clone()], asks(ONE)),
        ("nulls", &[delta(r#"{"tool_calls":null}"#), delta(nulls), done], asks(&[("", "read", "")])),
    ]);
}

#[test]
fn text_before_a_call_is_kept_and_a_cut_reply_says_so() {
    let call = calls(r#"0 x read {"p":1}"#);
    let Ok(Accumulated { text: said, calls, finish, .. }) =
        read_stream(&[text("let me look"), call.clone(), stop("tool_calls")].join("|"))
    else {
        panic!("a reply")
    };
    assert_eq!((said.as_str(), calls.len(), finish), ("let me look", 1, Some(Finish::ToolCalls)));
    for (reason, expected) in [("length", Finish::Length), ("content_filter", Finish::ContentFilter)] {
        let reply = read_stream(&[call.clone(), stop(reason)].join("|")).unwrap();
        assert_eq!(reply.finish, Some(expected));
    }
}

#[test]
fn usage_is_read_wherever_it_stands_and_neither_zeros_nor_the_impossible_are_figures() {
    let usage = |figures: &str| format!(r#"{{"choices":[],"usage":{figures}}}"#);
    let expected = |cached_tokens| {
        Some(Usage { prompt_tokens: 7, completion_tokens: 3, cached_tokens, source: UsageSource::Provider })
    };
    for (figures, expected) in [
        (r#"{"prompt_tokens":7,"completion_tokens":3}"#, expected(0)),
        (
            r#"{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":5}}"#,
            expected(5),
        ),
        (r#"{"prompt_tokens":7,"completion_tokens":3,"prompt_cache_hit_tokens":4}"#, expected(4)),
        (
            r#"{"prompt_tokens":1099511627776,"completion_tokens":3}"#,
            Some(Usage {
                prompt_tokens: 1 << 40,
                completion_tokens: 3,
                cached_tokens: 0,
                source: UsageSource::Provider,
            }),
        ),
        (r#"{"prompt_tokens":1099511627777,"completion_tokens":3}"#, None),
        (r#"{"prompt_tokens":18446744073709551615,"completion_tokens":1}"#, None),
        (r#"{"prompt_tokens":7,"completion_tokens":18446744073709551615}"#, None),
        (r#"{"prompt_tokens":7,"completion_tokens":3,"prompt_cache_hit_tokens":1099511627777}"#, expected(0)),
        (r#"{"prompt_tokens":0,"completion_tokens":0}"#, None),
        ("null", None),
    ] {
        let reply = read_stream(&[text("a"), stop("stop"), usage(figures), DONE.into()].join("|")).unwrap();
        assert_eq!(reply.usage, expected, "{figures}");
    }
}

#[test]
fn an_error_inside_a_stream_is_an_error() {
    for error in [
        r#"{"error":{"message":"boom","code":503}}"#,
        r#"{"choices":[],"error":{"message":"boom","code":503}}"#,
    ] {
        let Err(ReadError::Server(said)) = read_stream(&[text("a"), error.into(), DONE.into()].join("|"))
        else {
            panic!("an error: {error}")
        };
        assert_eq!((said.message.as_str(), said.assumed_status()), ("boom", 503));
    }
    let named = "event: error\ndata: {\"message\":\"boom\"}\n\n";
    let Err(ReadError::Server(said)) = read_every_way(named) else { panic!("an error") };
    assert_eq!(said.message, "boom");
}

#[test]
fn a_plain_completion_is_read_where_a_stream_was_asked_for() {
    let body = r#" {"choices":[{"message":{"role":"assistant","content":"日本","tool_calls":
        [{"id":"x","type":"function","function":{"name":"read","arguments":"{\"p\":1}"}}]},
        "finish_reason":"tool_calls"}],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#;
    let reply = read_every_way(body).unwrap();
    let call = RawCall { id: "x".into(), name: "read".into(), arguments: r#"{"p":1}"#.into() };
    assert_eq!(
        (reply.text.as_str(), reply.calls, reply.finish, reply.usage.map(|usage| usage.prompt_tokens)),
        ("日本", vec![call], Some(Finish::ToolCalls), Some(7))
    );
    assert_eq!(read_every_way(r#"{"choices":[{"message":{"content":null}}]}"#), Err(ReadError::Empty));
    assert_eq!(read_every_way(r#"{"choices":[{"message":{"content":"a"#), Err(ReadError::Broken));
    assert_eq!(read_every_way(r#"{"status":"ok"}"#), Err(ReadError::Foreign));
    let Err(ReadError::Server(said)) = read_every_way(r#"[{"error":{"message":"no"}}]"#) else {
        panic!("an error")
    };
    assert_eq!(said.message, "no");
}

#[test]
fn what_is_neither_a_stream_nor_json_is_foreign_and_nothing_is_a_broken_reply() {
    for (body, expected) in [
        ("<!DOCTYPE html><html></html>", ReadError::Foreign),
        ("\n <html>", ReadError::Foreign),
        ("404 page not found\n", ReadError::Foreign),
        ("", ReadError::Broken),
        (" \n", ReadError::Broken),
        (": ping\n\n", ReadError::Broken),
        ("data: {\"choices\":[{\"delta\":{\"con", ReadError::Broken),
    ] {
        assert_eq!(read_every_way(body), Err(expected), "{body}");
    }
}

#[test]
fn comments_and_an_event_without_its_blank_line_are_read() {
    let body = format!(": waiting\n\n{}\ndata: [DONE]", stream(&text("a"), "\n"));
    assert_eq!(read_every_way(&body), says("a"));
}

#[test]
fn a_reply_beyond_a_limit_is_refused() {
    let long = text(&"x".repeat(1 << 20));
    let mut reader = ReplyReader::default();
    let pushed = (0..9).map(|_| reader.push(stream(&long, "\n").as_bytes(), &mut |_| {}));
    assert_eq!(pushed.filter_map(Result::err).collect::<Vec<_>>(), [ReadError::TooLong]);

    let mut reader = ReplyReader::default();
    let call = |at: usize| stream(&calls(&format!("{at} - a ~")), "\n");
    let pushed = (0..1025).map(|at| reader.push(call(at).as_bytes(), &mut |_| {}));
    assert_eq!(pushed.filter_map(Result::err).collect::<Vec<_>>(), [ReadError::TooManyCalls]);
}
