//! `web.search`, `web.fetch`, `--allow web.…`, and the verdict on reaching a host that they give together.

use super::{Approvals, AskReason};
use crate::capability::Verdict;
use crate::gate::Refusal;
use crate::tool::ErrorKind;

/// What is done on the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WebOp {
    /// Asking a search engine.
    Search,
    /// Getting a page of a host.
    Fetch,
}

impl WebOp {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Search, Self::Fetch];

    /// The key in configuration and `--allow`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Search => "web.search",
            Self::Fetch => "web.fetch",
        }
    }

    /// The key of kept answers, before the host.
    #[must_use]
    pub const fn approval_key(self) -> &'static str {
        match self {
            Self::Search => "web.search",
            Self::Fetch => "http.get",
        }
    }

    /// What it does, as in "wants to … `host`".
    #[must_use]
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Search => "search the web with",
            Self::Fetch => "fetch from",
        }
    }
}

/// One value of `web.search` or `web.fetch`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebRule {
    /// Everything, without asking.
    Allow,
    /// Nothing without asking.
    Ask,
    /// Nothing.
    Deny,
    /// These hosts without asking, others after asking.
    Only(Vec<String>),
}

/// What configuration and the command line say about the web. Unset is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebPolicy {
    /// `web.search`.
    pub search: Option<WebRule>,
    /// `web.fetch`.
    pub fetch: Option<WebRule>,
    /// `--allow web.search`, `--allow web.fetch` and `--allow web.fetch:HOST`.
    pub granted: Vec<(WebOp, Option<String>)>,
}

impl WebPolicy {
    const fn rule(&self, op: WebOp) -> Option<&WebRule> {
        match op {
            WebOp::Search => self.search.as_ref(),
            WebOp::Fetch => self.fetch.as_ref(),
        }
    }
}

/// Whether a pattern of hosts covers one: the same name, or with `*.` in front any name below it. Both in
/// lower case, in the form in which they are asked for.
#[must_use]
pub fn covers_host(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(above) => host.strip_suffix(above).is_some_and(|below| below.len() > 1 && below.ends_with('.')),
        None => pattern == host,
    }
}

/// What the agent's own layer says about reaching a host: denied, granted, answered before, or to be asked.
#[must_use]
pub fn web_verdict(op: WebOp, host: &str, policy: &WebPolicy, approvals: &Approvals) -> Verdict {
    let (key, verb) = (op.key(), op.verb());
    let is_open = match policy.rule(op) {
        Some(WebRule::Deny) => {
            return Verdict::Deny(Refusal {
                kind: ErrorKind::PermissionDenied,
                message: format!("cannot {verb} `{host}`: `{key}` is `deny`"),
                lifts_when: format!("the operator changes `{key}` in the configuration"),
                wants_person: false,
            });
        }
        None | Some(WebRule::Allow) => true,
        Some(WebRule::Only(hosts)) => hosts.iter().any(|pattern| covers_host(pattern, host)),
        Some(WebRule::Ask) => false,
    };
    let is_granted = policy.granted.iter().any(|(granted, pattern)| {
        *granted == op && pattern.as_deref().is_none_or(|pattern| covers_host(pattern, host))
    });
    // A kept no counts wherever no rule of the operator opens the host by itself.
    match (is_open || is_granted, approvals.answer_to_host(op, host)) {
        (true, _) | (false, Some(true)) => Verdict::Allow,
        (false, Some(false)) => Verdict::Deny(Refusal {
            kind: ErrorKind::PermissionDenied,
            message: format!("cannot {verb} `{host}`: a person said no before"),
            lifts_when:
                "the person revokes that answer in `.reyn/approvals.yaml`, or says yes in a new session"
                    .to_owned(),
            wants_person: false,
        }),
        (false, None) => Verdict::Ask(ask_reason(op, host, policy)),
    }
}

fn ask_reason(op: WebOp, host: &str, policy: &WebPolicy) -> AskReason {
    let key = op.key();
    let rule = match policy.rule(op) {
        Some(WebRule::Only(_)) => format!("`{key}` does not list `{host}`"),
        Some(WebRule::Allow | WebRule::Ask | WebRule::Deny) | None => format!("`{key}` is `ask`"),
    };
    let grant = match op {
        WebOp::Search => format!("`--allow {key}`"),
        WebOp::Fetch => format!("`--allow {key}:{host}`"),
    };
    AskReason { rule, allowed_by: Some(format!("{grant} for this run, or `{key}` in the configuration")) }
}

impl AskReason {
    /// The refusal of a host when nobody is there to be asked.
    #[must_use]
    pub fn no_person_for_host(&self, op: WebOp, host: &str) -> Refusal {
        Refusal {
            kind: ErrorKind::PermissionDenied,
            message: format!(
                "nobody is there to allow it: to {} `{host}` takes a person's yes, because {}",
                op.verb(),
                self.rule
            ),
            lifts_when: self.allowed_by.clone().unwrap_or_default(),
            wants_person: true,
        }
    }

    /// The refusal of a host when a person said no, with what they said about it.
    #[must_use]
    pub fn host_refused(op: WebOp, host: &str, reason: Option<&str>) -> Refusal {
        let verb = op.verb();
        let (message, lifts_when) = match reason {
            None => (
                format!("the person said no: you may not {verb} `{host}`"),
                "do not try again unless the person asks for it; say what you would have looked up",
            ),
            Some(reason) => (
                format!("the person said no to this ({verb} `{host}`), and why: {reason}"),
                "do as they say; another attempt is asked about again",
            ),
        };
        Refusal {
            kind: ErrorKind::PermissionDenied,
            message,
            lifts_when: lifts_when.to_owned(),
            wants_person: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::{Approval, Scope};

    #[test]
    fn a_pattern_covers_a_name_or_what_is_below_it() {
        let table = [
            ("example.org", "example.org", true),
            ("example.org", "www.example.org", false),
            ("*.example.org", "www.example.org", true),
            ("*.example.org", "a.b.example.org", true),
            ("*.example.org", "example.org", false),
            ("*.example.org", ".example.org", false),
            ("*.example.org", "badexample.org", false),
            ("*.example.org", "example.org.evil", false),
        ];
        for (pattern, host, expected) in table {
            assert_eq!(covers_host(pattern, host), expected, "{pattern} {host}");
        }
    }

    #[test]
    fn a_host_is_open_unless_a_rule_says_otherwise() {
        let only = || Some(WebRule::Only(vec!["a.org".into(), "*.b.org".into()]));
        let none = || vec![];
        let all = || vec![(WebOp::Fetch, None)];
        let one = || vec![(WebOp::Fetch, Some("c.org".to_owned()))];
        let (yes, no) = (vec![("c.org", true)], vec![("c.org", false)]);
        // Rule, what is granted, answers, host, and what comes of it.
        let table = [
            (None, none(), vec![], "c.org", "allow"),
            (None, none(), no.clone(), "c.org", "allow"),
            (Some(WebRule::Allow), none(), vec![], "c.org", "allow"),
            (Some(WebRule::Deny), all(), yes.clone(), "c.org", "deny"),
            (Some(WebRule::Ask), none(), vec![], "c.org", "ask"),
            (Some(WebRule::Ask), none(), yes.clone(), "c.org", "allow"),
            (Some(WebRule::Ask), none(), yes, "d.org", "ask"),
            (Some(WebRule::Ask), none(), no.clone(), "c.org", "deny"),
            (Some(WebRule::Ask), one(), no.clone(), "c.org", "allow"),
            (Some(WebRule::Ask), one(), vec![], "d.org", "ask"),
            (Some(WebRule::Ask), vec![(WebOp::Search, None)], vec![], "c.org", "ask"),
            (only(), none(), vec![], "a.org", "allow"),
            (only(), none(), vec![], "x.b.org", "allow"),
            (only(), none(), no, "c.org", "deny"),
            (only(), none(), vec![], "c.org", "ask"),
        ];
        for (fetch, granted, answers, host, expected) in table {
            let policy = WebPolicy { fetch, granted, ..WebPolicy::default() };
            let answers = answers
                .iter()
                .map(|(host, is_allowed)| Approval::host(WebOp::Fetch, host, Scope::JustPath, *is_allowed));
            let approvals = Approvals(answers.collect());
            let verdict = match web_verdict(WebOp::Fetch, host, &policy, &approvals) {
                Verdict::Allow => "allow",
                Verdict::Ask(_) => "ask",
                Verdict::Deny(_) => "deny",
            };
            assert_eq!(verdict, expected, "{policy:?} {approvals:?} {host}");
        }
    }

    #[test]
    fn a_refusal_says_which_rule_and_what_lifts_it() {
        let ask = WebPolicy { fetch: Some(WebRule::Ask), ..WebPolicy::default() };
        let verdict = web_verdict(WebOp::Fetch, "a.org", &ask, &Approvals::default());
        let Verdict::Ask(reason) = verdict else { panic!("{verdict:?}") };
        let refusal = reason.no_person_for_host(WebOp::Fetch, "a.org");
        assert_eq!(
            refusal.to_string(),
            "nobody is there to allow it: to fetch from `a.org` takes a person's yes, because `web.fetch` is \
             `ask`; `--allow web.fetch:a.org` for this run, or `web.fetch` in the configuration"
        );
        assert!(refusal.wants_person);
    }
}
