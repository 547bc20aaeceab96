//! What a tool is, what a call asks of it, and how a call ends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::audit::AuditEvent;
use crate::limits::{ARGUMENT_BYTES_MAX, ARGUMENT_DEPTH_MAX, ARGUMENT_EXCERPT_CHARS};
use crate::text;

/// Facts about a tool that never change while the process runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolSpec {
    /// `verb_noun`, unique in the registry; the only name the tool can be called by.
    pub name: &'static str,
    /// One line for the model, at most 80 characters.
    pub summary: &'static str,
    /// What the summary cannot say; empty when it says all. Shown where a schema is shown.
    pub details: &'static str,
    /// A valid argument object, as JSON; a registry test runs it through the schema.
    pub example: &'static str,
    /// Where the tool stands when the catalog is browsed.
    pub category: Category,
    /// What a retry or a crash may do.
    pub effect: Effect,
    /// From where it may be called.
    pub surfaces: Surfaces,
    /// Whether the result comes back in the same turn.
    pub dispatch: Dispatch,
    /// Whether its results come from outside and must be treated as untrusted.
    pub returns_external: bool,
    /// Parameters whose valid values are known only in a session.
    pub enums: &'static [EnumParameter],
}

/// A parameter that takes one of the session's own names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnumParameter {
    /// The parameter.
    pub parameter: &'static str,
    /// Which names.
    pub names: NameKind,
}

/// Kinds of names that a session has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameKind {
    /// Agents that can be reached.
    Agents,
    /// Configured MCP servers.
    McpServers,
    /// Skills that can be run.
    Skills,
}

/// The tool that a tool's calls are judged as: what is denied is the effect, not a spelling.
#[must_use]
pub fn judged_as(name: &str) -> &str {
    match name {
        "sandboxed_exec" | "shell" => "exec",
        "regenerate_index" => "write_file",
        name => name,
    }
}

/// The browse axis of the catalog. Hiding a category narrows; naming one grants nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Files and folders of the workspace.
    File,
    /// Pages and search engines.
    Web,
    /// Programs.
    Exec,
    /// What is remembered.
    MemoryOperation,
    /// Passages of what was indexed.
    Knowledge,
    /// Vectors of texts, and the indexes that keep them.
    Embedding,
}

impl Category {
    /// Every category, in the order they are shown.
    pub const ALL: [Self; 6] =
        [Self::File, Self::Web, Self::Exec, Self::MemoryOperation, Self::Knowledge, Self::Embedding];

    /// The name that configuration and profiles use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Web => "web",
            Self::Exec => "exec",
            Self::MemoryOperation => "memory_operation",
            Self::Knowledge => "knowledge",
            Self::Embedding => "embedding",
        }
    }
}

/// What running a tool twice would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Only reads; safe to run again.
    Reads,
    /// Changes something; never run again without asking.
    Changes,
}

/// From where a tool may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Surfaces {
    /// Only by the chat model.
    Chat,
    /// Only by a skill's step.
    Skill,
    /// By both.
    Both,
}

impl Surfaces {
    /// Whether the tool is there for this caller.
    #[must_use]
    pub const fn serve(self, caller: Caller) -> bool {
        match self {
            Self::Both => true,
            Self::Chat => matches!(caller, Caller::Chat),
            Self::Skill => matches!(caller, Caller::Skill),
        }
    }

    /// Who can call it, in the words of a list.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Skill => "skills",
            Self::Both => "chat, skills",
        }
    }
}

/// Who makes a session's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Caller {
    /// The model of a chat.
    #[default]
    Chat,
    /// A step of a skill.
    Skill,
}

/// When a call's result comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dispatch {
    /// In the same turn.
    Sync,
    /// Later, as a turn of its own; the current turn ends with an acknowledgement.
    Async,
}

/// One requested use of a tool. `id` pairs the call with its outcome within one reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within the reply that made the call.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them, parsed but not yet checked against a schema.
    pub args: Args,
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Args {
    /// A JSON object.
    Object(Map<String, Value>),
    /// Text that is not a JSON object. It is never replaced by an empty object: the call fails.
    Malformed {
        /// The beginning of the text.
        excerpt: String,
        /// What is wrong with it, with the position.
        error: String,
    },
}

impl Args {
    /// Reads argument text. `""` and `null` are an empty object, since models write them for "none".
    ///
    /// `is_cut` says that the reply ended at its token limit, which explains a text that stops short.
    #[must_use]
    pub fn parse(text: &str, is_cut: bool) -> Self {
        let trimmed = text.trim();
        if trimmed.is_empty() || trimmed == "null" {
            return Self::Object(Map::new());
        }
        let malformed = |error: String| Self::Malformed {
            excerpt: text::excerpt(trimmed, ARGUMENT_EXCERPT_CHARS),
            error,
        };
        if trimmed.len() > ARGUMENT_BYTES_MAX {
            return malformed(format!(
                "the arguments are {} bytes long and the limit is {ARGUMENT_BYTES_MAX}; send less in one call",
                trimmed.len()
            ));
        }
        match serde_json::from_str::<Value>(trimmed) {
            Ok(Value::Object(map)) => Self::from_object(map),
            Ok(other) => malformed(format!("the arguments must be a JSON object, not {}", kind_of(&other))),
            Err(error) if is_cut => malformed(format!(
                "the reply was cut at its token limit inside the arguments ({error}); send less in one call"
            )),
            Err(error) => malformed(format!("the arguments are not valid JSON: {error}")),
        }
    }

    /// Takes an object that is parsed already. One that nests deeper than a record of the log can be read
    /// back counts as malformed.
    #[must_use]
    pub fn from_object(map: Map<String, Value>) -> Self {
        if !map.values().any(|value| is_deeper(value, ARGUMENT_DEPTH_MAX - 1)) {
            return Self::Object(map);
        }
        Self::Malformed {
            excerpt: map
                .keys()
                .next()
                .map_or_else(String::new, |key| text::excerpt(key, ARGUMENT_EXCERPT_CHARS)),
            error: format!("the arguments are nested deeper than {ARGUMENT_DEPTH_MAX} levels"),
        }
    }

    /// The object, or `None` when the text was malformed.
    #[must_use]
    pub const fn as_object(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Object(map) => Some(map),
            Self::Malformed { .. } => None,
        }
    }

    /// JSON text that any server accepts in a history: malformed arguments stand as `{}`, beside the
    /// result that says what was wrong with them.
    #[must_use]
    pub fn to_json(&self) -> String {
        match self {
            Self::Object(map) => serde_json::to_string(map).expect("a JSON map has string keys"),
            Self::Malformed { .. } => "{}".to_owned(),
        }
    }
}

fn is_deeper(value: &Value, depth_max: usize) -> bool {
    let is_below = |inner: &Value| is_deeper(inner, depth_max - 1);
    match value {
        Value::Array(items) => depth_max == 0 || items.iter().any(is_below),
        Value::Object(map) => depth_max == 0 || map.values().any(is_below),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// What kind of JSON value this is, with its article.
#[must_use]
pub const fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// How one call ended. Every variant goes back to the model; none ends the turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The tool did it.
    Ok(Output),
    /// It did not, or not surely.
    Error(CallError),
}

impl Outcome {
    /// Whether the call did what it was asked.
    #[must_use]
    pub const fn is_ok(&self) -> bool {
        matches!(self, Self::Ok(_))
    }
}

/// The fact of an [`Output`] that says that a person could have allowed more but none was there.
pub const WANTS_PERSON: &str = "wants_person";

/// What a tool gives back: one text and, beside it, facts about it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Output {
    /// The text the call was made for; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// The result key under which Control IR hands out `body`, e.g. `content`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body_key: String,
    /// Facts with their result keys, in the order they are shown.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
    /// Where the text comes from when it comes from outside, where it may try to instruct the model.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub external: Option<External>,
    /// What the call changed, as a unified diff. For people; the model, which asked for it, does not read it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub diff: String,
    /// What the audit trail is told of the call beside its end.
    #[serde(skip)]
    pub notes: Vec<AuditEvent>,
}

/// The stamp of what came from outside. It is part of the log, so it outlives a session that is read again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct External {
    /// Always true; what is looked for.
    external_source: bool,
    /// The tool that brought it in, which need not be the one whose result it is: a file that was downloaded
    /// is brought by what downloaded it.
    pub external_tool: String,
    /// The id of the fence that the model reads around it, 16 hexadecimal digits. Empty until there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fence_id: String,
    /// What in it looks like an attempt to instruct the model, by the names of the patterns.
    #[serde(default, rename = "external_threats", skip_serializing_if = "Vec::is_empty")]
    pub threats: Vec<String>,
}

impl External {
    /// The same in the fence of this id.
    #[must_use]
    pub fn fenced(mut self, id: impl Into<String>) -> Self {
        self.fence_id = id.into();
        self
    }

    /// What this tool brought in.
    #[must_use]
    pub fn by(tool: impl Into<String>) -> Self {
        Self { external_source: true, external_tool: tool.into(), fence_id: String::new(), threats: vec![] }
    }
}

impl Output {
    /// An output whose text is handed out under `body_key`.
    #[must_use]
    pub fn text(body_key: &str, body: impl Into<String>) -> Self {
        Self { body: body.into(), body_key: body_key.to_owned(), ..Self::default() }
    }

    /// Adds a fact.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(key.to_owned(), value.into());
        self
    }
}

/// Why a call gave no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    /// Which kind of failure, for programs.
    pub kind: ErrorKind,
    /// What happened and why, for the model.
    pub message: String,
    /// Names that exist and are near the one that does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether a person could have allowed the call but none was there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wants_person: bool,
    /// The tool's own word for what went wrong, for programs, e.g. `rate_limited`. Empty when it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cause: String,
    /// The stamp of an error that quotes what came from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<Box<External>>,
}

impl CallError {
    /// An error with neither suggestions nor a hint.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            suggestions: vec![],
            hint: None,
            wants_person: false,
            cause: String::new(),
            external: None,
        }
    }

    /// Adds the tool's own word for what went wrong.
    #[must_use]
    pub fn cause(mut self, cause: impl Into<String>) -> Self {
        self.cause = cause.into();
        self
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The closed set of reasons why a call gave no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// A narrowing excludes the tool.
    ToolExcluded,
    /// No tool has this name.
    UnknownTool,
    /// The arguments do not fit the tool's schema.
    InvalidArgs,
    /// Configuration or a person refused what the call needs.
    PermissionDenied,
    /// It ran longer than its limit.
    Timeout,
    /// The person cancelled the turn.
    Cancelled,
    /// The process died before the call ended; a change may or may not have taken effect.
    Interrupted,
    /// A limit of the turn was reached before the call could run.
    BudgetExhausted,
    /// The runtime has a defect.
    Exception,
    /// The tool ran and reports a failure.
    HandlerError,
}

impl ErrorKind {
    /// The name that results and events carry.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ToolExcluded => "tool_excluded",
            Self::UnknownTool => "unknown_tool",
            Self::InvalidArgs => "invalid_args",
            Self::PermissionDenied => "permission_denied",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
            Self::BudgetExhausted => "budget_exhausted",
            Self::Exception => "exception",
            Self::HandlerError => "handler_error",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_op_kind_is_judged_as_the_tool_whose_effect_it_has() {
        for (name, judged) in [
            ("sandboxed_exec", "exec"),
            ("shell", "exec"),
            ("exec", "exec"),
            ("read_file", "read_file"),
            ("Shell", "Shell"),
        ] {
            assert_eq!((judged_as(name), judged_as(judged)), (judged, judged), "{name}");
        }
    }

    #[test]
    fn a_tool_serves_the_callers_that_it_names() {
        let serves = |surfaces: Surfaces| [Caller::Chat, Caller::Skill].map(|caller| surfaces.serve(caller));
        assert_eq!(
            [Surfaces::Chat, Surfaces::Skill, Surfaces::Both].map(serves),
            [[true, false], [false, true], [true, true]]
        );
    }

    fn malformed(text: &str, is_cut: bool) -> String {
        match Args::parse(text, is_cut) {
            Args::Malformed { error, .. } => error,
            Args::Object(map) => format!("parsed as {map:?}"),
        }
    }

    #[test]
    fn empty_text_and_null_mean_no_arguments() {
        for text in ["", "  ", "null", "{}"] {
            assert_eq!(Args::parse(text, false), Args::Object(Map::new()), "{text:?}");
        }
    }

    #[test]
    fn an_object_keeps_its_keys_in_the_order_written() {
        let Args::Object(map) = Args::parse(r#"{"b":1,"a":2}"#, false) else { panic!("an object") };
        assert_eq!(map.keys().collect::<Vec<_>>(), ["b", "a"]);
    }

    #[test]
    fn what_is_not_an_object_is_malformed_and_says_why() {
        for (text, says) in [
            ("[]", "must be a JSON object, not an array"),
            (r#""x""#, "must be a JSON object, not a string"),
            ("None", "not valid JSON"),
            (r#"{"{"a":1}"#, "not valid JSON"),
            (r#"{"a":1,}"#, "not valid JSON"),
            (r#"{"path":"x","con"#, "column 16"),
        ] {
            assert!(malformed(text, false).contains(says), "{text}: {}", malformed(text, false));
        }
    }

    #[test]
    fn a_cut_reply_explains_arguments_that_stop_short() {
        assert!(malformed(r#"{"path":"x","con"#, true).contains("cut at its token limit"));
    }

    #[test]
    fn arguments_over_the_limit_are_refused_and_not_kept() {
        let text = format!(r#"{{"content":"{}"}}"#, "x".repeat(ARGUMENT_BYTES_MAX * 2));
        let Args::Malformed { excerpt, error } = Args::parse(&text, false) else { panic!("too long") };
        assert!(error.contains("the limit is 1048576"), "{error}");
        assert!(excerpt.len() < 300);
    }

    #[test]
    fn no_key_of_an_object_is_special() {
        let text = r#"{"a":{"$serde_json::private::RawValue":"[1]"}}"#;
        assert_eq!(Args::parse(text, false).to_json(), text);
    }

    #[test]
    fn arguments_nested_too_deep_for_the_log_are_refused() {
        let nested = |depth: usize| format!(r#"{{"a":{}{}}}"#, "[".repeat(depth - 1), "]".repeat(depth - 1));
        assert!(Args::parse(&nested(ARGUMENT_DEPTH_MAX), false).as_object().is_some());
        assert!(malformed(&nested(ARGUMENT_DEPTH_MAX + 1), false).contains("deeper than 64"));
    }

    #[test]
    fn malformed_arguments_stand_as_an_empty_object_in_a_history() {
        assert_eq!(Args::parse("[1]", false).to_json(), "{}");
        assert_eq!(Args::parse(r#"{"a": 1}"#, false).to_json(), json!({"a": 1}).to_string());
    }
}
