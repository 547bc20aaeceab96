//! Where a narrowing comes from.

/// The ways in which a session can be narrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NarrowingPath {
    /// A topology binds a profile to the agent.
    Topology,
    /// The floor under delegated work.
    DelegateFloor,
    /// The session was started with a narrowing of its own.
    Session,
    /// The agent that started this one is narrowed.
    Parent,
    /// The person switched something off.
    Visibility,
    /// Content from outside is live in the context.
    Untrusted,
    /// The run was started with a list of excluded tools or categories.
    ExcludeTools,
}

/// Why the delegate floor holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DelegateFloor {
    /// No topology binds a profile and `delegation.capability_default` is `deny`.
    Unbound,
    /// The bound profile's file does not exist.
    Missing(String),
    /// The bound profile's file cannot be read as a profile.
    Malformed(String),
    /// The agent that started this one is gone.
    ParentGone,
    /// The parent's name now belongs to another agent.
    ParentReplaced,
}

/// Which narrowing it is, why it holds now, and what lifts it. All three are always there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NarrowingOrigin {
    path: NarrowingPath,
    label: String,
    cause: String,
    lifts_when: String,
}

impl NarrowingOrigin {
    fn new(
        path: NarrowingPath,
        label: impl Into<String>,
        cause: impl Into<String>,
        lifts_when: impl Into<String>,
    ) -> Self {
        Self { path, label: label.into(), cause: cause.into(), lifts_when: lifts_when.into() }
    }

    /// A topology binds `profile` to this agent; `file` is the profile's path.
    #[must_use]
    pub fn topology(topology: &str, profile: &str, file: &str) -> Self {
        Self::new(
            NarrowingPath::Topology,
            format!("the profile `{profile}` bound by the topology `{topology}`"),
            "the topology declares what this agent may do, and this lies outside it",
            format!(
                "the operator edits `{file}` or binds this member to another profile; it never lifts by itself"
            ),
        )
    }

    /// The `_delegate` floor.
    #[must_use]
    pub fn delegate_floor(reason: &DelegateFloor) -> Self {
        let cause = match reason {
            DelegateFloor::Unbound => {
                "this agent works on delegated requests, no topology binds a profile to it, and \
                 `delegation.capability_default` is `deny`"
                    .to_owned()
            }
            DelegateFloor::Missing(file) => format!("the bound profile `{file}` does not exist"),
            DelegateFloor::Malformed(file) => format!("the bound profile `{file}` cannot be read"),
            DelegateFloor::ParentGone => "the agent that started this one is gone".to_owned(),
            DelegateFloor::ParentReplaced => {
                "the name of the agent that started this one now belongs to another agent".to_owned()
            }
        };
        Self::new(
            NarrowingPath::DelegateFloor,
            "the delegate floor (profile `_delegate`)",
            cause,
            "a topology binds a `capability_profile` to this agent, or \
             `.reyn/capability_profiles/_delegate.yaml` is loosened; both stay within what its starter may do",
        )
    }

    /// The narrowing that a session was started with; `profile` is its name.
    #[must_use]
    pub fn session(profile: &str) -> Self {
        Self::new(
            NarrowingPath::Session,
            format!("this session's own narrowing (profile `{profile}`)"),
            "whoever started the session narrowed it",
            "a new session is started without it; a session cannot widen itself",
        )
    }

    /// A term that the agent `parent` is under, and so everything it starts.
    #[must_use]
    pub fn parent(parent: &str, inner: &Self) -> Self {
        Self::new(
            NarrowingPath::Parent,
            format!("{}, inherited from the agent `{parent}`", inner.label),
            format!("an agent may do no more than the one that started it; there, {}", inner.cause),
            inner.lifts_when.clone(),
        )
    }

    /// The person switched it off for this session.
    #[must_use]
    pub fn visibility() -> Self {
        Self::new(
            NarrowingPath::Visibility,
            "this session's `/visibility` override",
            "the person switched it off for this session",
            "the person switches it on again with `/visibility on`",
        )
    }

    /// Content from outside is live; `tool` brought it in.
    #[must_use]
    pub fn untrusted(tool: &str) -> Self {
        Self::new(
            NarrowingPath::Untrusted,
            "the untrusted-content narrowing (profile `_untrusted`)",
            format!("content from outside, brought in by `{tool}`, is live in the context"),
            "that content is compacted away, the operator sets \
             `safety.threat_scan.capability_narrowing: off`, or loosens \
             `.reyn/capability_profiles/_untrusted.yaml`",
        )
    }

    /// The run was started with an explicit list.
    #[must_use]
    pub fn exclude_tools() -> Self {
        Self::new(
            NarrowingPath::ExcludeTools,
            "this run's exclusion list",
            "it was started with `--exclude-tools` or `--exclude-categories`",
            "the run is started without it; it is fixed for the run",
        )
    }

    /// Which way of narrowing.
    #[must_use]
    pub const fn path(&self) -> NarrowingPath {
        self.path
    }
    /// Which narrowing, by a name that can be looked up.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }
    /// Why it holds now.
    #[must_use]
    pub fn cause(&self) -> &str {
        &self.cause
    }
    /// What lifts it.
    #[must_use]
    pub fn lifts_when(&self) -> &str {
        &self.lifts_when
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_says_which_why_and_what_lifts_it() {
        let session = NarrowingOrigin::session("readers");
        let origins = [
            (
                NarrowingOrigin::topology("team", "p", ".reyn/capability_profiles/p.yaml"),
                vec!["`p`", "`team`"],
            ),
            (NarrowingOrigin::delegate_floor(&DelegateFloor::Missing("x.yaml".into())), vec!["`_delegate`"]),
            (session.clone(), vec!["`readers`"]),
            (NarrowingOrigin::parent("lead", &session), vec!["`readers`", "`lead`"]),
            (NarrowingOrigin::visibility(), vec!["`/visibility`"]),
            (NarrowingOrigin::untrusted("web_fetch"), vec!["`_untrusted`"]),
            (NarrowingOrigin::exclude_tools(), vec!["exclusion list"]),
        ];
        let mut paths: Vec<_> = origins.iter().map(|(origin, _)| origin.path()).collect();
        paths.dedup();
        assert_eq!(paths.len(), 7, "one origin a path");
        for (origin, names) in origins {
            assert!(names.iter().all(|name| origin.label().contains(name)), "{origin:?}");
            assert!(!origin.cause().is_empty() && !origin.lifts_when().is_empty(), "{origin:?}");
        }
    }

    #[test]
    fn the_untrusted_origin_names_the_tool_and_all_three_ways_out() {
        let origin = NarrowingOrigin::untrusted("web_fetch");
        assert!(origin.cause().contains("`web_fetch`"));
        for way in ["compacted", "capability_narrowing: off", "_untrusted.yaml"] {
            assert!(origin.lifts_when().contains(way), "{way}");
        }
    }
}
