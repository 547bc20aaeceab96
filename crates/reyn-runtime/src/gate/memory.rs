//! What a call would have remembered, looked through before it is: by whatever tool it is written.

use std::sync::Arc;

use reyn_core::gate::Need;
use reyn_core::permission::FileOp;
use reyn_core::tool::{Args, CallError, ErrorKind, ToolCall};
use reyn_tools::Prepared;
use serde_json::Value;

use super::{Gate, audit_all, needs, undecided};
use crate::session::{Journal, SessionError};

impl Gate {
    /// Gives the call back when what it would have remembered may be, or when it would have nothing remembered.
    pub(super) async fn looked_through_for_memory(
        &self,
        call: &ToolCall,
        prepared: Prepared,
        journal: &mut Journal,
    ) -> Result<Result<Prepared, CallError>, SessionError> {
        let is_remembering = |need: &&Need| matches!(need, Need::File { op: FileOp::Remember, .. });
        let Some(need) = needs(&prepared).iter().find(is_remembering).cloned() else {
            return Ok(Ok(prepared));
        };
        let context = Arc::clone(&self.context);
        let asking = tokio::task::spawn_blocking(move || {
            let text = prepared.memory_text(&context);
            (prepared, text)
        });
        let (prepared, text) = match tokio::time::timeout(self.call_time_max, asking).await {
            Ok(Ok((prepared, Ok(text)))) => (prepared, text),
            Ok(Ok((_, Err(error)))) => return Ok(Err(error.into_call_error())),
            Ok(Err(error)) => return Ok(Err(undecided(&error))),
            Err(elapsed) => return Ok(Err(undecided(&elapsed))),
        };
        let tool = prepared.spec().name;
        let refusal = match text {
            Some(text) => {
                let is_own = |part: &str| holds(&call.args, part);
                let look = self.screening.memory(&text, tool, &journal.chain_id(), &is_own);
                audit_all(journal, look.events)?;
                look.refusal
            }
            None => Some(
                CallError::new(ErrorKind::PermissionDenied, format!("`{tool}` cannot write into a memory"))
                    .hint("`remember_shared` and `remember_agent` do"),
            ),
        };
        match refusal {
            None => Ok(Ok(prepared)),
            Some(error) => {
                journal.audit_denied(call, Some(&need), &error)?;
                Ok(Err(error))
            }
        }
    }
}

/// Whether the model wrote this itself: what is quoted must not show what it may not read.
fn holds(args: &Args, part: &str) -> bool {
    let part = part.trim_end_matches('…');
    args.as_object().is_some_and(|args| args.values().any(|value| is_in(value, part)))
}

fn is_in(value: &Value, part: &str) -> bool {
    match value {
        Value::String(text) => text.contains(part),
        Value::Array(items) => items.iter().any(|item| is_in(item, part)),
        Value::Object(map) => map.values().any(|item| is_in(item, part)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
