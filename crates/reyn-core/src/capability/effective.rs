//! `effective = AgentLayer ∩ SandboxLayer ∩ ProfileLayer ∩ ContextualLayer`, asked value by value.

use super::Composed;
use crate::gate::Refusal;
use crate::memory::{FORGETTING_TOOL, Layer};
use crate::permission::{
    Approvals, AskReason, Command, ExecPolicy, FileOp, FilePolicy, Grants, Target, WebOp, WebPolicy, Zones,
    exec_verdict, file_verdict, web_verdict,
};
use crate::tool::{Category, ErrorKind};

/// Something that a layer is asked about.
#[derive(Debug, Clone, Copy)]
pub enum Axis<'a> {
    /// Use this tool at all.
    Tool {
        /// Its name.
        name: &'a str,
    },
    /// Call tools of this MCP server.
    Mcp {
        /// Its name.
        server: &'a str,
    },
    /// Touch this file or folder.
    File {
        /// What is done to it.
        op: FileOp,
        /// Which one.
        target: &'a Target,
    },
    /// Run this program.
    Exec {
        /// Which one, with its arguments.
        command: &'a Command,
    },
    /// Reach this host.
    Web {
        /// What for.
        op: WebOp,
        /// Which one.
        host: &'a str,
    },
}

/// What a layer says. The intersection of two verdicts is the stricter one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Yes.
    Allow,
    /// Only if a person says yes.
    Ask(AskReason),
    /// No.
    Deny(Refusal),
}

impl Verdict {
    /// The stricter of two; of two equally strict ones, the first.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if other.strictness() > self.strictness() { other } else { self }
    }

    const fn strictness(&self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Ask(_) => 1,
            Self::Deny(_) => 2,
        }
    }
}

/// What the agent was granted: configuration, command line and approvals. An approval stands inside this
/// layer, so that no yes can defeat another layer's no.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentLayer {
    /// Which folders are whose.
    pub zones: Zones,
    /// `permissions.file.*`.
    pub files: FilePolicy,
    /// `permissions.exec`, and what `--allow exec` gave.
    pub exec: ExecPolicy,
    /// `web`, and what `--allow web.…` gave.
    pub web: WebPolicy,
    /// What `--allow file.…` gave.
    pub grants: Grants,
    /// What a person said before.
    pub approvals: Approvals,
}

impl AgentLayer {
    /// Which folders are whose.
    #[must_use]
    pub const fn zones(&self) -> &Zones {
        &self.zones
    }

    fn verdict(&self, axis: Axis<'_>) -> Verdict {
        match axis {
            Axis::Tool { .. } | Axis::Mcp { .. } => Verdict::Allow,
            Axis::File { op, target } => {
                file_verdict(op, target, &self.zones, &self.files, &self.grants, &self.approvals)
            }
            Axis::Exec { command } => exec_verdict(command, &self.exec, &self.approvals),
            Axis::Web { op, host } => web_verdict(op, host, &self.web, &self.approvals),
        }
    }
}

/// What the sandbox lets be done. File tools run in the runtime itself, so only commands and the web are narrowed here;
/// what a command that runs may reach, the sandbox's policy bounds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SandboxLayer {
    /// Why no command may run, when none may: what is missing, and what lifts it.
    pub refuses_exec: Option<Refusal>,
    /// Why the network is not used, when it is not: the sandbox's policy shuts it.
    pub refuses_network: Option<Refusal>,
}

impl SandboxLayer {
    fn verdict(&self, axis: Axis<'_>) -> Verdict {
        let refusal = match axis {
            Axis::Exec { .. } => &self.refuses_exec,
            Axis::Web { .. } => &self.refuses_network,
            Axis::Tool { .. } | Axis::Mcp { .. } | Axis::File { .. } => &None,
        };
        refusal.clone().map_or(Verdict::Allow, Verdict::Deny)
    }
}

/// The agent's own profile: its list of MCP servers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProfileLayer {
    /// `allowed_mcp`; `None` does not constrain.
    pub mcp_allow: Option<Vec<String>>,
}

impl ProfileLayer {
    fn verdict(&self, axis: Axis<'_>) -> Verdict {
        match (axis, &self.mcp_allow) {
            (Axis::Mcp { server }, Some(allowed)) if !allowed.iter().any(|name| name == server) => {
                Verdict::Deny(Refusal {
                    kind: ErrorKind::PermissionDenied,
                    message: format!("the MCP server `{server}` is not in this agent's `allowed_mcp`"),
                    lifts_when: format!("add `{server}` to `allowed_mcp` in the agent's `profile.yaml`"),
                    wants_person: false,
                })
            }
            (
                Axis::Mcp { .. }
                | Axis::Tool { .. }
                | Axis::File { .. }
                | Axis::Exec { .. }
                | Axis::Web { .. },
                _,
            ) => Verdict::Allow,
        }
    }
}

/// What a session may do right now.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Effective {
    agent: AgentLayer,
    sandbox: SandboxLayer,
    profile: ProfileLayer,
    contextual: Composed,
}

/// Builds the authority of a session. The only constructor: there is no authority without all four layers.
#[must_use]
pub const fn effective(
    agent: AgentLayer,
    sandbox: SandboxLayer,
    profile: ProfileLayer,
    contextual: Composed,
) -> Effective {
    Effective { agent, sandbox, profile, contextual }
}

impl Effective {
    /// What all four layers together say. Where two deny, the narrowing is named rather than the grant.
    #[must_use]
    pub fn verdict(&self, axis: Axis<'_>) -> Verdict {
        contextual_verdict(&self.contextual, axis, self.agent.zones())
            .and(self.profile.verdict(axis))
            .and(self.sandbox.verdict(axis))
            .and(self.agent.verdict(axis))
    }

    /// Whether the category is shown at all.
    #[must_use]
    pub fn shows(&self, category: Category) -> bool {
        self.contextual.shows(category)
    }

    /// The agent's own layer, to which approvals are added.
    pub const fn agent_mut(&mut self) -> &mut AgentLayer {
        &mut self.agent
    }

    /// The sandbox's layer, which learns at the first command what the system can do.
    pub const fn sandbox_mut(&mut self) -> &mut SandboxLayer {
        &mut self.sandbox
    }

    /// The agent's own layer.
    #[must_use]
    pub const fn agent(&self) -> &AgentLayer {
        &self.agent
    }
}

/// The tool whose effect a change of a memory or of an index is, whatever tool makes it.
fn own_tool(op: FileOp, target: &Target, zones: &Zones) -> Option<&'static str> {
    match op {
        // Of a place that is in no memory nobody can say whose it is; it is judged as everybody's.
        FileOp::Remember => {
            Some(zones.memory_layer(&target.path).unwrap_or(Layer::Shared).remembering_tool())
        }
        FileOp::Forget => Some(FORGETTING_TOOL),
        FileOp::WriteIndex | FileOp::DropIndex => Some(op.key()),
        FileOp::Read
        | FileOp::Glob
        | FileOp::Grep
        | FileOp::Write
        | FileOp::Edit
        | FileOp::Delete
        | FileOp::RegenerateIndex => None,
    }
}

fn contextual_verdict(contextual: &Composed, axis: Axis<'_>, zones: &Zones) -> Verdict {
    let (subject, name, origin) = match axis {
        Axis::Tool { name } => ("tool", name, contextual.tool_denied_by(name)),
        Axis::Mcp { server } => ("MCP server", server, contextual.mcp_denied_by(server)),
        Axis::File { op, target } => match own_tool(op, target, zones) {
            Some(name) => ("tool", name, contextual.tool_denied_by(name)),
            None => return Verdict::Allow,
        },
        Axis::Exec { .. } | Axis::Web { .. } => return Verdict::Allow,
    };
    origin.map_or(Verdict::Allow, |origin| Verdict::Deny(Refusal::excluded(subject, name, origin)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::{Narrowing, NarrowingOrigin, compose_resolved};
    use crate::permission::Rule;
    use proptest::prelude::*;
    use std::path::PathBuf;

    fn agent(rule: Option<Rule>) -> AgentLayer {
        AgentLayer {
            zones: Zones::new(PathBuf::from("/work"), vec![]),
            files: FilePolicy { write: rule, ..FilePolicy::default() },
            ..AgentLayer::default()
        }
    }

    fn contextual(deny: &[&str]) -> Composed {
        compose_resolved([Narrowing {
            tool_deny: deny.iter().map(|name| (*name).to_owned()).collect(),
            mcp_deny: deny.iter().map(|name| (*name).to_owned()).collect(),
            ..Narrowing::inert(NarrowingOrigin::exclude_tools())
        }])
    }

    #[test]
    fn a_denied_tool_and_server_are_refused_with_the_name_the_cause_and_the_way_out() {
        let authority = effective(
            agent(None),
            SandboxLayer::default(),
            ProfileLayer::default(),
            contextual(&["write_file", "db"]),
        );
        for (axis, subject) in
            [(Axis::Tool { name: "write_file" }, "tool"), (Axis::Mcp { server: "db" }, "MCP server")]
        {
            let Verdict::Deny(refusal) = authority.verdict(axis) else { panic!("allowed") };
            let origin = NarrowingOrigin::exclude_tools();
            assert_eq!(refusal.kind, ErrorKind::ToolExcluded);
            for part in [subject, origin.label(), origin.cause()] {
                assert!(refusal.message.contains(part), "{part}: {refusal:?}");
            }
            assert!(refusal.lifts_when.contains(origin.lifts_when()));
        }
        assert_eq!(authority.verdict(Axis::Tool { name: "read_file" }), Verdict::Allow);
    }

    #[test]
    fn a_change_of_a_memory_is_judged_as_the_memory_tool_that_makes_it() {
        let authority = |deny: &[&str]| {
            effective(agent(None), SandboxLayer::default(), ProfileLayer::default(), contextual(deny))
        };
        let says = |deny: &str, op, path: &str| {
            let target = Target { asked: path.into(), path: path.into(), same_as: None, link: None };
            authority(&[deny]).verdict(Axis::File { op, target: &target }) == Verdict::Allow
        };
        let (shared, own) = ("/work/.reyn/memory/a.md", "/work/.reyn/agents/default/memory/a.md");
        for (deny, op, path, is_allowed) in [
            ("write_file", FileOp::Remember, shared, true),
            ("remember_shared", FileOp::Remember, shared, false),
            ("remember_shared", FileOp::Remember, own, true),
            ("remember_agent", FileOp::Remember, own, false),
            ("forget_memory", FileOp::Forget, own, false),
            ("forget_memory", FileOp::Remember, own, true),
            ("remember_shared", FileOp::Write, "/work/.reyn/notes.md", true),
        ] {
            assert_eq!(says(deny, op, path), is_allowed, "{deny} {op:?} {path}");
        }
    }

    #[test]
    fn an_agents_own_list_narrows_servers() {
        let profile = ProfileLayer { mcp_allow: Some(vec!["a".into()]) };
        let authority = effective(agent(None), SandboxLayer::default(), profile, Composed::default());
        assert_eq!(authority.verdict(Axis::Mcp { server: "a" }), Verdict::Allow);
        assert!(matches!(authority.verdict(Axis::Mcp { server: "b" }), Verdict::Deny(_)));
    }

    proptest! {
        /// Whatever the grants say, a narrowing term never makes a verdict less strict.
        #[test]
        fn adding_a_term_never_allows_more(
            denied in prop::sample::subsequence(vec!["a", "b", "c"], 0..=3),
            name in prop::sample::select(vec!["a", "b", "c"]),
            own in prop::option::of(prop::sample::subsequence(vec!["a", "b", "c"], 0..=3)),
        ) {
            let profile = ProfileLayer { mcp_allow: own.map(|names| names.into_iter().map(str::to_owned).collect()) };
            let free = effective(agent(Some(Rule::Allow)), SandboxLayer::default(), profile.clone(), Composed::default());
            let narrowed = effective(agent(Some(Rule::Allow)), SandboxLayer::default(), profile, contextual(&denied));
            for axis in [Axis::Tool { name }, Axis::Mcp { server: name }] {
                let (before, after) = (free.verdict(axis).strictness(), narrowed.verdict(axis).strictness());
                prop_assert!(after >= before);
            }
        }
    }
}
