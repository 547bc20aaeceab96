//! What the trail is told of something that began and was cut short, so that nothing in it stays open.

use super::AuditEvent;
use crate::tool::CallError;

impl AuditEvent {
    /// The end of what began with this event, when nobody else tells it; `error` says what cut it short.
    #[must_use]
    pub fn cut_short(&self, error: &CallError) -> Option<Self> {
        let words = || crate::redaction::told(&error.message);
        if let Self::WebFetchStarted { chain_id, url } = self {
            let (chain_id, url, status) = (chain_id.clone(), url.clone(), error.kind.name().to_owned());
            return Some(Self::WebFetchFailed { chain_id, url, status, error: words() });
        }
        if let Self::WebSearchStarted { chain_id, query, backend } = self {
            let (chain_id, query, backend) = (chain_id.clone(), query.clone(), backend.clone());
            return Some(Self::WebSearchFailed { chain_id, query, backend, error: words() });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::ErrorKind;

    #[test]
    fn a_fetch_and_a_search_that_are_cut_short_have_failed_and_a_turn_has_not() {
        let error = CallError::new(ErrorKind::Cancelled, "cancelled by the person");
        let text = |words: &str| words.to_owned();
        let (chain_id, words) = (text("t"), error.message.clone());
        let fetch = AuditEvent::WebFetchStarted { chain_id: chain_id.clone(), url: text("u") };
        let failed = AuditEvent::WebFetchFailed {
            chain_id: chain_id.clone(),
            url: text("u"),
            status: text("cancelled"),
            error: words.clone(),
        };
        assert_eq!(fetch.cut_short(&error), Some(failed));
        let (query, backend) = (text("q"), text("brave"));
        let search = AuditEvent::WebSearchStarted {
            chain_id: chain_id.clone(),
            query: query.clone(),
            backend: backend.clone(),
        };
        let failed = AuditEvent::WebSearchFailed { chain_id: chain_id.clone(), query, backend, error: words };
        assert_eq!(search.cut_short(&error), Some(failed));
        assert_eq!(AuditEvent::TurnStarted { chain_id }.cut_short(&error), None);
    }
}
