//! `sandbox`: what the programs that tools run may reach and use up.
//!
//! Invariant: a key that is written beats the mode, whatever it says; a list that is written empty is not a
//! list that is left out.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::flexible::{WORDS, optional_bool, yes_or_no};
use crate::limits;

/// `sandbox`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxSettings {
    /// What confines programs.
    pub backend: BackendSetting,
    /// What happens when that is not there, or fails its self-test. With nobody there to read a warning, `warn` is
    /// `error`.
    pub on_unsupported: OnUnsupported,
    /// The defaults of `sandbox.policy`; a key that is written there beats them.
    pub mode: SandboxMode,
    /// What programs may do.
    pub policy: SandboxPolicySettings,
}

/// `sandbox.backend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BackendSetting {
    /// The one of this system.
    #[default]
    Auto,
    /// Landlock with a filter of system calls, on Linux.
    Landlock,
    /// `sandbox-exec`, on macOS.
    Seatbelt,
    /// None: nothing is refused.
    Noop,
}

/// `sandbox.on_unsupported`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnUnsupported {
    /// Programs run without a sandbox, and that is said.
    #[default]
    Warn,
    /// Nothing is run.
    Error,
    /// Programs run without a sandbox.
    Ignore,
}

/// `sandbox.mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// Usual programs work: they reach the network, start processes and get the usual variables.
    #[default]
    Compat,
    /// No network, no further processes and no variables of the environment, unless a key opens them.
    Strict,
}

/// `sandbox.policy`. Paths are absolute or relative to the project; `~` is the home folder, `{{workspace}}` the
/// project, and `*`, `?`, `[…]` and `**` stand for what is there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxPolicySettings {
    /// Whether programs reach the network; unset, they do, but not in the mode `strict`.
    #[serde(deserialize_with = "network", skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    /// Whether programs start further ones; unset, they do, but not in the mode `strict`.
    #[serde(deserialize_with = "optional_bool", skip_serializing_if = "Option::is_none")]
    pub subprocess: Option<bool>,
    /// What they read beside the system's folders, toolchains and the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_read_paths: Option<Vec<String>>,
    /// What they write beside the project. An empty list: nothing, the project neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_write_paths: Option<Vec<String>>,
    /// What they do not read although it lies in a folder that they read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny_read_paths: Option<Vec<String>>,
    /// What they do not write although it lies in a folder that they write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny_write_paths: Option<Vec<String>>,
    /// Variables of the environment that they do not get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny_env_names: Option<Vec<String>>,
    /// The only variables that they get, `PATH` aside; unset, the usual ones that hold no secret, but none
    /// in the mode `strict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_env_names: Option<Vec<String>>,
    /// How long one program may take unless its call says otherwise; unset, 120.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u64>,
    /// How long a call may ask for at most; unset, 600.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_timeout_seconds: Option<u64>,
    /// How much of each of the two streams is kept; unset, 10 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_bytes: Option<u64>,
    /// Writable memory of each process; unset, 4 GiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processes and threads at a time; unset, 512.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// Open files of each process; unset, 4096.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// Length of each file that is written; unset, 4 GiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
}

/// What holds: `sandbox.policy`, with the mode's value where it says nothing. Paths are as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxValues {
    /// Whether programs reach the network.
    pub network: bool,
    /// Whether programs start further ones.
    pub subprocess: bool,
    /// Whether the workspace is written: not when the list of write paths is written as an empty one.
    pub is_workspace_writable: bool,
    /// What is read beside the default.
    pub allow_read_paths: Vec<String>,
    /// What is written beside the workspace.
    pub allow_write_paths: Vec<String>,
    /// What is not read.
    pub deny_read_paths: Vec<String>,
    /// What is not written.
    pub deny_write_paths: Vec<String>,
    /// Variables that are not passed.
    pub deny_env_names: Vec<String>,
    /// The only variables that are passed; `None` is the usual ones.
    pub allow_env_names: Option<Vec<String>>,
    /// Wall-clock time of a program whose call asks for none.
    pub timeout_seconds: u64,
    /// The longest that a call may ask for.
    pub max_timeout_seconds: u64,
    /// Output that is kept of each stream.
    pub max_output_bytes: u64,
    /// Writable memory of each process.
    pub memory_bytes: u64,
    /// Processes and threads at a time.
    pub processes: u64,
    /// Open files of each process.
    pub open_files: u64,
    /// Length of each file written.
    pub file_bytes: u64,
}

impl SandboxSettings {
    /// The value of every key of `sandbox.policy`.
    #[must_use]
    pub fn effective(&self) -> SandboxValues {
        let policy = &self.policy;
        let is_open = match self.mode {
            SandboxMode::Compat => true,
            SandboxMode::Strict => false,
        };
        let list = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
        SandboxValues {
            network: policy.network.unwrap_or(is_open),
            subprocess: policy.subprocess.unwrap_or(is_open),
            is_workspace_writable: policy.allow_write_paths.as_ref().is_none_or(|paths| !paths.is_empty()),
            allow_read_paths: list(&policy.allow_read_paths),
            allow_write_paths: list(&policy.allow_write_paths),
            deny_read_paths: list(&policy.deny_read_paths),
            deny_write_paths: list(&policy.deny_write_paths),
            deny_env_names: list(&policy.deny_env_names),
            allow_env_names: policy.allow_env_names.clone().or_else(|| (!is_open).then(Vec::new)),
            timeout_seconds: policy.timeout_seconds.unwrap_or(limits::EXEC_SECONDS),
            max_timeout_seconds: policy.max_timeout_seconds.unwrap_or(limits::EXEC_SECONDS_MAX),
            max_output_bytes: policy.max_output_bytes.unwrap_or(limits::EXEC_OUTPUT_BYTES_MAX),
            memory_bytes: policy.memory_bytes.unwrap_or(limits::EXEC_MEMORY_BYTES_MAX),
            processes: policy.processes.unwrap_or(limits::EXEC_PROCESSES_MAX),
            open_files: policy.open_files.unwrap_or(limits::EXEC_OPEN_FILES_MAX),
            file_bytes: policy.file_bytes.unwrap_or(limits::EXEC_FILE_BYTES_MAX),
        }
    }
}

/// A truth value; a list of domains says that it is not kept yet.
fn network<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    struct NetworkVisitor;
    impl<'de> Visitor<'de> for NetworkVisitor {
        type Value = Option<bool>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(WORDS)
        }
        fn visit_unit<E: Error>(self) -> Result<Option<bool>, E> {
            Ok(None)
        }
        fn visit_bool<E: Error>(self, value: bool) -> Result<Option<bool>, E> {
            Ok(Some(value))
        }
        fn visit_str<E: Error>(self, value: &str) -> Result<Option<bool>, E> {
            yes_or_no(value).map(Some).ok_or_else(|| E::invalid_value(Unexpected::Str(value), &self))
        }
        fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Option<bool>, A::Error> {
            Err(A::Error::custom(
                "a list of domains is not enforced yet and is therefore refused; write `true` for the whole network \
                 or `false` for none",
            ))
        }
    }
    from.deserialize_any(NetworkVisitor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn effective(value: Value) -> SandboxValues {
        serde_json::from_value::<SandboxSettings>(value).unwrap().effective()
    }

    fn compat() -> SandboxValues {
        SandboxValues {
            network: true,
            subprocess: true,
            is_workspace_writable: true,
            allow_read_paths: vec![],
            allow_write_paths: vec![],
            deny_read_paths: vec![],
            deny_write_paths: vec![],
            deny_env_names: vec![],
            allow_env_names: None,
            timeout_seconds: 120,
            max_timeout_seconds: 600,
            max_output_bytes: 10 << 20,
            memory_bytes: 4 << 30,
            processes: 512,
            open_files: 4096,
            file_bytes: 4 << 30,
        }
    }

    fn strict() -> SandboxValues {
        SandboxValues { network: false, subprocess: false, allow_env_names: Some(vec![]), ..compat() }
    }

    #[test]
    fn the_mode_gives_defaults_and_a_written_key_beats_it() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let table = [
            (json!({}), compat()),
            (json!({"mode": "compat"}), compat()),
            (json!({"mode": "strict"}), strict()),
            (
                json!({"mode": "strict", "policy": {"network": true}}),
                SandboxValues { network: true, ..strict() },
            ),
            (
                json!({"mode": "strict", "policy": {"subprocess": "yes"}}),
                SandboxValues { subprocess: true, ..strict() },
            ),
            (
                json!({"mode": "strict", "policy": {"allow_env_names": ["LANG"]}}),
                SandboxValues { allow_env_names: Some(names(&["LANG"])), ..strict() },
            ),
            (json!({"policy": {"network": "off"}}), SandboxValues { network: false, ..compat() }),
            (json!({"policy": {"network": null}}), compat()),
            (
                json!({"policy": {"allow_env_names": []}}),
                SandboxValues { allow_env_names: Some(vec![]), ..compat() },
            ),
            (
                json!({"policy": {"allow_write_paths": []}}),
                SandboxValues { is_workspace_writable: false, ..compat() },
            ),
            (
                json!({"policy": {"allow_write_paths": ["out"]}}),
                SandboxValues { allow_write_paths: names(&["out"]), ..compat() },
            ),
            (json!({"policy": {"allow_read_paths": []}}), compat()),
            (
                json!({"policy": {"timeout_seconds": 5, "processes": 9, "deny_env_names": ["A"]}}),
                SandboxValues { timeout_seconds: 5, processes: 9, deny_env_names: names(&["A"]), ..compat() },
            ),
        ];
        for (written, expected) in table {
            assert_eq!(effective(written.clone()), expected, "{written}");
        }
    }

    #[test]
    fn a_list_of_domains_is_refused_and_says_why() {
        let error = serde_json::from_value::<SandboxSettings>(json!({"policy": {"network": ["a.example"]}}));
        assert_eq!(
            error.unwrap_err().to_string(),
            "a list of domains is not enforced yet and is therefore refused; write `true` for the whole network or \
             `false` for none"
        );
    }
}
