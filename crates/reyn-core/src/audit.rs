//! The audit trail's vocabulary: what a person can look up afterwards. A closed set.
//!
//! Invariant: an event holds no result of a call and nothing that looks like a secret; arguments and words
//! become part of one through [`crate::redaction`] alone, which redacts and cuts them.

mod cut_short;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing that happened. Serialised as `{"type": …, "data": {…}}`; the log adds `timestamp`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum AuditEvent {
    /// A session was opened for the first time.
    SessionStarted {
        /// The session.
        session_id: String,
    },
    /// A session was opened again; what a crash left was put in order.
    SessionRestored {
        /// The session.
        session_id: String,
        /// Damaged bytes that were moved aside.
        damaged_bytes: u64,
        /// Calls that were closed.
        closed_calls: u64,
    },
    /// A person removed a session with all that was said in it.
    SessionRemoved {
        /// The session.
        session_id: String,
    },
    /// A turn began.
    TurnStarted {
        /// The turn.
        chain_id: String,
    },
    /// A turn ended with an answer.
    TurnCompleted {
        /// The turn.
        chain_id: String,
    },
    /// A turn was cancelled by the person.
    TurnCancelled {
        /// The turn.
        chain_id: String,
    },
    /// A turn ended, in whatever way.
    TurnSettled {
        /// The turn.
        chain_id: String,
        /// The ending's name.
        ending: String,
    },
    /// The person said something. The text itself is in the conversation log alone.
    UserMessageReceived {
        /// The turn.
        chain_id: String,
        /// Length of the text, in characters.
        chars: u64,
    },
    /// A model is called.
    LlmCalled {
        /// `provider/model`.
        model: String,
        /// The turn.
        chain_id: String,
        /// How many tools are offered.
        tools_count: u64,
    },
    /// A model answered.
    LlmResponseReceived {
        /// `provider/model`.
        model: String,
        /// The turn.
        chain_id: String,
        /// Tokens read.
        prompt_tokens: u64,
        /// Tokens written.
        completion_tokens: u64,
        /// Of the tokens read, those the server had cached.
        cached_tokens: u64,
        /// Where the figures come from.
        usage_source: String,
        /// Why it stopped.
        finish_reason: String,
    },
    /// A model call failed and is tried again.
    LlmCallRetry {
        /// `provider/model`.
        model: String,
        /// Which attempt failed, from 1.
        attempt_n: u32,
        /// What went wrong.
        error_kind: String,
        /// Wait before the next attempt, in milliseconds.
        backoff_ms: u64,
    },
    /// A model call failed for good.
    LlmRequestError {
        /// `provider/model`.
        model: String,
        /// The turn.
        chain_id: String,
        /// What went wrong.
        error_kind: String,
        /// In words.
        message: String,
    },
    /// The model gave neither text nor a call.
    RouterEmptyResponseDetected {
        /// The turn.
        chain_id: String,
    },
    /// The model is asked once more, without tools.
    RouterEmptyResponseRetryInjected {
        /// The turn.
        chain_id: String,
    },
    /// A program is about to run.
    SandboxedExecStarted {
        /// The turn.
        chain_id: String,
        /// The program and its arguments.
        argv: Vec<String>,
        /// What confines it.
        backend: String,
        /// How long it may take, in seconds.
        timeout_seconds: u64,
        /// Whether it may use the network.
        network: bool,
        /// Whether it may start further processes.
        allow_subprocess: bool,
    },
    /// A program ended.
    SandboxedExecCompleted {
        /// The turn.
        chain_id: String,
        /// The program and its arguments.
        argv: Vec<String>,
        /// What confined it.
        backend: String,
        /// What it returned; -1 when it did not end by itself.
        returncode: i32,
        /// Length of its standard output, in bytes.
        stdout_len: u64,
        /// Length of its standard error, in bytes.
        stderr_len: u64,
        /// Whether parts of them were dropped.
        truncated: bool,
    },
    /// A program was stopped because the turn was.
    SandboxedExecCancelled {
        /// The turn.
        chain_id: String,
        /// The program and its arguments.
        argv: Vec<String>,
    },
    /// A line is about to be given to a shell.
    ShellStarted {
        /// The turn.
        chain_id: String,
        /// The line.
        cmd: String,
        /// How long it may take, in seconds.
        timeout: u64,
    },
    /// A shell ended.
    ShellCompleted {
        /// The turn.
        chain_id: String,
        /// The line.
        cmd: String,
        /// What it returned.
        returncode: i32,
        /// Length of its standard output, in bytes.
        stdout_len: u64,
        /// Length of its standard error, in bytes.
        stderr_len: u64,
    },
    /// A shell was stopped at the end of its time.
    ShellTimeout {
        /// The turn.
        chain_id: String,
        /// The line.
        cmd: String,
        /// How long it was allowed to take, in seconds.
        timeout: u64,
    },
    /// A line was not given to a shell.
    ShellNotAllowed {
        /// The turn.
        chain_id: String,
        /// The line.
        cmd: String,
        /// In words.
        reason: String,
    },
    /// The sandbox does not enforce something here that its policy says.
    SandboxAxisUnenforced {
        /// What confines programs.
        backend: String,
        /// What is not enforced.
        axes: Vec<String>,
        /// Why.
        reason: String,
    },
    /// A search engine is about to be asked.
    WebSearchStarted {
        /// The turn.
        chain_id: String,
        /// What for.
        query: String,
        /// Which engine is asked first.
        backend: String,
    },
    /// A search engine answered.
    WebSearchCompleted {
        /// The turn.
        chain_id: String,
        /// What for.
        query: String,
        /// Which engine answered.
        backend: String,
        /// How many results it gave.
        result_count: u64,
    },
    /// No search engine answered.
    WebSearchFailed {
        /// The turn.
        chain_id: String,
        /// What for.
        query: String,
        /// Which engine was asked first.
        backend: String,
        /// In words.
        error: String,
    },
    /// A page is about to be got.
    WebFetchStarted {
        /// The turn.
        chain_id: String,
        /// Which one, without secrets.
        url: String,
    },
    /// A page was got.
    WebFetchCompleted {
        /// The turn.
        chain_id: String,
        /// Which one was asked for, without secrets.
        url: String,
        /// The status of the answer.
        status_code: u16,
        /// Length of the text, in characters, before it was cut.
        content_length: u64,
        /// Whether it was cut.
        truncated: bool,
        /// How the text was made: `readability`, `body` or `verbatim`.
        extractor: String,
    },
    /// A page was not got.
    WebFetchFailed {
        /// The turn.
        chain_id: String,
        /// Which one, without secrets.
        url: String,
        /// What went wrong, as a word.
        status: String,
        /// In words.
        error: String,
    },
    /// A page was not got because of where it, or what it led to, is.
    WebFetchSsrfBlocked {
        /// The turn.
        chain_id: String,
        /// Which one was asked for, without secrets.
        url: String,
        /// In words.
        reason: String,
    },
    /// A page was longer than is taken.
    WebFetchTooLarge {
        /// The turn.
        chain_id: String,
        /// Which one, without secrets.
        url: String,
    },
    /// A page led to another one too often.
    WebFetchTooManyRedirects {
        /// The turn.
        chain_id: String,
        /// Which one, without secrets.
        url: String,
    },
    /// A text from outside looks like an attempt to instruct the model. It was fenced and shown.
    ThreatScanMatch {
        /// The turn.
        chain_id: String,
        /// The tool that brought it.
        tool: String,
        /// Which pattern.
        pattern_id: String,
        /// `warn` or `block`.
        severity: String,
        /// Where the pattern is looked for.
        scope: String,
    },
    /// Something looks like an attempt to instruct the model, and was not remembered.
    ThreatBlock {
        /// The turn; empty for what a person does outside a session.
        chain_id: String,
        /// The tool that would have remembered it.
        tool: String,
        /// Which pattern.
        pattern_id: String,
        /// `warn` or `block`.
        severity: String,
        /// Where the pattern is looked for.
        scope: String,
    },
    /// Something was remembered.
    MemorySaved {
        /// `shared` or `agent`.
        layer: String,
        /// The note.
        slug: String,
        /// Its file, relative to the project.
        path: String,
    },
    /// Something was forgotten.
    MemoryDeleted {
        /// `shared` or `agent`.
        layer: String,
        /// The note.
        slug: String,
        /// Its file, relative to the project.
        path: String,
    },
    /// Texts of a file became vectors.
    EmbedProgress {
        /// The turn.
        chain_id: String,
        /// Texts that are done.
        embedded: u64,
        /// Texts that were there.
        skipped: u64,
        /// Texts of the file.
        total: u64,
        /// How far it is, 0 to 100.
        pct: u64,
    },
    /// What was looked for could not become a vector; keywords may have answered all the same.
    RecallEmbedFailed {
        /// The turn.
        chain_id: String,
        /// What was looked for, cut.
        query: String,
        /// Why.
        error: String,
    },
    /// An index was removed.
    IndexDropped {
        /// The turn.
        chain_id: String,
        /// Its source.
        source: String,
        /// Texts that were in it.
        chunks_dropped: u64,
    },
    /// A text from outside, or a command, could not be looked through.
    ThreatScanFailed {
        /// The turn.
        chain_id: String,
        /// The tool that brought the text or would run the command.
        tool: String,
        /// Whether it was let through all the same (`safety.threat_scan.fail_open`).
        is_let_through: bool,
    },
    /// A command looks harmful, and was not stopped for that.
    ExecThreatMatch {
        /// The turn.
        chain_id: String,
        /// Which pattern.
        pattern_id: String,
        /// `warn` or `block`.
        severity: String,
        /// The program and its arguments.
        argv: Vec<String>,
    },
    /// A command looks harmful and was not run.
    ExecThreatBlocked {
        /// The turn.
        chain_id: String,
        /// Which pattern.
        pattern_id: String,
        /// The program and its arguments.
        argv: Vec<String>,
    },
    /// Certificates are not checked in this run.
    NetworkSslVerifyDisabled {
        /// What says so.
        reason: String,
    },
    /// A call is about to be judged.
    ToolCalled {
        /// The turn.
        chain_id: String,
        /// The call.
        call_id: String,
        /// The tool's name as the model wrote it.
        tool: String,
        /// Arguments, redacted and cut.
        args: Value,
        /// Whether the call was read out of plain text.
        salvaged: bool,
    },
    /// A call gave a result.
    ToolReturned {
        /// The turn.
        chain_id: String,
        /// The call.
        call_id: String,
        /// The tool's name.
        tool: String,
        /// Length of the result's text, in bytes.
        result_bytes: u64,
    },
    /// A call gave no result.
    ToolFailed {
        /// The turn.
        chain_id: String,
        /// The call.
        call_id: String,
        /// The tool's name.
        tool: String,
        /// Which kind of failure.
        error_kind: String,
        /// In words.
        message: String,
    },
    /// A person is asked.
    UserInterventionRequested {
        /// The turn.
        chain_id: String,
        /// What for, e.g. `file.write`.
        key: String,
        /// Which path or name.
        subject: String,
    },
    /// A person said yes.
    PermissionGranted {
        /// The turn.
        chain_id: String,
        /// The approval's key.
        key: String,
        /// Whether it is kept beyond this run.
        persisted: bool,
    },
    /// A person or a rule said no, or nobody was there.
    PermissionDenied {
        /// The turn.
        chain_id: String,
        /// What for, e.g. `file.write`; `tool` when the tool itself is taken away.
        key: String,
        /// Which path or name.
        subject: String,
        /// In words.
        reason: String,
    },
    /// A person took back an answer that was kept.
    PermissionApprovalRevoked {
        /// The approval's key.
        key: String,
    },
    /// A person took back every answer that was kept.
    PermissionApprovalsCleared {
        /// How many.
        count: u64,
    },
    /// A limit stopped a turn's work.
    LimitDenied {
        /// The turn.
        chain_id: String,
        /// Which limit.
        kind: String,
    },
    /// A file of the workspace was written.
    WorkspaceUpdated {
        /// The turn.
        chain_id: String,
        /// Which file.
        path: String,
    },
}

/// Every event's name, in the order of their definition.
pub const KINDS: [&str; 52] = [
    "session_started",
    "session_restored",
    "session_removed",
    "turn_started",
    "turn_completed",
    "turn_cancelled",
    "turn_settled",
    "user_message_received",
    "llm_called",
    "llm_response_received",
    "llm_call_retry",
    "llm_request_error",
    "router_empty_response_detected",
    "router_empty_response_retry_injected",
    "sandboxed_exec_started",
    "sandboxed_exec_completed",
    "sandboxed_exec_cancelled",
    "shell_started",
    "shell_completed",
    "shell_timeout",
    "shell_not_allowed",
    "sandbox_axis_unenforced",
    "web_search_started",
    "web_search_completed",
    "web_search_failed",
    "web_fetch_started",
    "web_fetch_completed",
    "web_fetch_failed",
    "web_fetch_ssrf_blocked",
    "web_fetch_too_large",
    "web_fetch_too_many_redirects",
    "threat_scan_match",
    "threat_block",
    "memory_saved",
    "memory_deleted",
    "embed_progress",
    "recall_embed_failed",
    "index_dropped",
    "threat_scan_failed",
    "exec_threat_match",
    "exec_threat_blocked",
    "network_ssl_verify_disabled",
    "tool_called",
    "tool_returned",
    "tool_failed",
    "user_intervention_requested",
    "permission_granted",
    "permission_denied",
    "permission_approval_revoked",
    "permission_approvals_cleared",
    "limit_denied",
    "workspace_updated",
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_is_listed_and_known() {
        let unknown: Vec<_> = KINDS
            .iter()
            .filter(|kind| {
                let event = json!({"type": kind, "data": {}});
                let error = serde_json::from_value::<AuditEvent>(event).unwrap_err().to_string();
                error.contains("unknown variant")
            })
            .collect();
        assert_eq!(unknown, Vec::<&&str>::new());
        let error = serde_json::from_value::<AuditEvent>(json!({"type": "x", "data": {}})).unwrap_err();
        assert_eq!(error.to_string().matches('`').count() / 2 - 1, KINDS.len(), "{error}");
    }
}
