//! What confines the programs that tools run, and how far: what the self-test saw here, not what a version promises.

use reyn_core::settings::{BackendSetting, OnUnsupported};
use reyn_runtime::config::SandboxConfig;
use reyn_sandbox::{
    Axis, AxisName, AxisState, BackendChoice, BackendKind, NamespaceChoice, Resolution, Sandbox,
};
use serde_json::{Value, json};

use super::{Finding, Surroundings};
use crate::output;
use crate::wiring;

/// What was configured and what was found.
struct Seen {
    choice: BackendSetting,
    /// Where the choice was written; `None` for the default.
    origin: Option<String>,
    on_unsupported: OnUnsupported,
    kind: BackendKind,
    reason: Option<String>,
    axes: Vec<Axis>,
    landlock_abi: Option<u32>,
    is_nested: bool,
}

pub(super) fn check(surroundings: &Surroundings) -> Vec<Finding> {
    let runtime = match wiring::runtime() {
        Ok(runtime) => runtime,
        Err(failure) => return vec![Finding::fail(failure.message, "try again")],
    };
    let Ok(project) = surroundings.project() else {
        // With a configuration that is wrong nothing runs; what this machine could do is told all the same.
        let (helper, namespaces) = (wiring::helper_program(), NamespaceChoice::Auto);
        let found = runtime.block_on(Sandbox::resolve(BackendChoice::Auto, helper, namespaces));
        return findings(&Seen::of(&found, BackendSetting::Auto, OnUnsupported::Warn, None));
    };
    let config = &project.config;
    let processes = project.processes();
    let found = runtime.block_on(processes.resolution());
    let SandboxConfig { backend, on_unsupported, .. } = config.sandbox;
    let seen = Seen::of(found, backend, on_unsupported, config.origin("sandbox.backend"));
    let mut findings = findings(&seen);
    findings.push(bounds(&config.sandbox));
    findings
}

impl Seen {
    fn of(
        found: &Resolution,
        choice: BackendSetting,
        on_unsupported: OnUnsupported,
        origin: Option<String>,
    ) -> Self {
        Self {
            choice,
            origin,
            on_unsupported,
            kind: found.kind,
            reason: found.reason.clone(),
            axes: found.axes.clone(),
            landlock_abi: found.landlock_abi,
            is_nested: found.is_nested,
        }
    }
}

fn findings(seen: &Seen) -> Vec<Finding> {
    let mut findings = vec![backend(seen)];
    if seen.is_nested {
        findings.push(
            Finding::info("already inside a sandbox: what that one refuses, nothing here can give")
                .with_fix("run `reyn doctor` outside it to see what is this machine's own doing"),
        );
    }
    // Without a sandbox one sentence covers every axis, and one fix mends them all.
    if seen.kind != BackendKind::Noop {
        findings.extend(seen.axes.iter().filter_map(unenforced));
    }
    findings
}

fn backend(seen: &Seen) -> Finding {
    let abi = seen.landlock_abi.map(|abi| format!(" (Landlock ABI {abi})")).unwrap_or_default();
    let lines = axis_lines(&seen.axes);
    let finding = match (seen.kind, &seen.reason) {
        (BackendKind::Landlock | BackendKind::Seatbelt, _) => {
            Finding::ok(format!("{}{abi} confines the programs that tools run{lines}", seen.kind))
        }
        (BackendKind::Noop, None) => {
            let origin = seen.origin.as_deref().unwrap_or("the default");
            let message = format!("none, as `sandbox.backend: noop` says ({origin}){lines}");
            Finding::warn(message, "write `sandbox.backend: auto`")
        }
        (BackendKind::Noop, Some(reason)) => missing(seen, reason, &lines),
    };
    finding.with_details(details(seen))
}

fn missing(seen: &Seen, reason: &str, lines: &str) -> Finding {
    let message = |what: &str| format!("none: {reason}; {what}{lines}");
    let fix = fix_of_backend(seen.choice);
    match seen.on_unsupported {
        OnUnsupported::Error => {
            Finding::fail(message("no program is run (`sandbox.on_unsupported: error`)"), fix)
        }
        OnUnsupported::Warn => {
            let what = "programs that tools run reach what you reach, and where nobody is there to be asked none is run";
            Finding::warn(message(what), fix)
        }
        OnUnsupported::Ignore => Finding::warn(message("programs that tools run reach what you reach"), fix),
    }
}

const fn fix_of_backend(choice: BackendSetting) -> &'static str {
    match choice {
        BackendSetting::Auto | BackendSetting::Noop if cfg!(target_os = "macos") => {
            "`/usr/bin/sandbox-exec` must be there and work; outside of another sandbox it does"
        }
        BackendSetting::Auto | BackendSetting::Noop | BackendSetting::Landlock => {
            "use Linux 5.13 or later with `landlock` in /sys/kernel/security/lsm; a container's runtime must allow it"
        }
        BackendSetting::Seatbelt => "Seatbelt is a part of macOS: write `sandbox.backend: auto`",
    }
}

/// Every axis, on a line for how sure it is.
fn axis_lines(axes: &[Axis]) -> String {
    let named = |is_asked: &dyn Fn(&Axis) -> bool| {
        // New entries are a right that some systems take along, not something that is enforced.
        let bounds = axes.iter().filter(|axis| axis.name != AxisName::NewEntries && is_asked(axis));
        bounds.map(|axis| axis.name.to_string()).collect::<Vec<_>>()
    };
    let is_enforced = |axis: &Axis| matches!(axis.state, AxisState::Enforced { .. });
    let groups = [
        ("tried and refused here", named(&|axis| is_enforced(axis) && axis.is_proven)),
        ("enforced, not tried", named(&|axis| is_enforced(axis) && !axis.is_proven)),
        ("not enforced", named(&|axis| !is_enforced(axis))),
    ];
    groups
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(group, names)| format!("\n{group}: {}", names.join(", ")))
        .collect()
}

fn unenforced(axis: &Axis) -> Option<Finding> {
    let AxisState::Unenforced { why } = &axis.state else { return None };
    let message = match axis.name {
        AxisName::NewEntries => format!("a program cannot make {}: {why}", axis.name),
        AxisName::Writes
        | AxisName::Metadata
        | AxisName::Reads
        | AxisName::Protected
        | AxisName::ReadDeny
        | AxisName::Network
        | AxisName::LocalSockets
        | AxisName::Subprocess
        | AxisName::OtherProcesses
        | AxisName::ProcessCount
        | AxisName::Memory
        | AxisName::Files
        | AxisName::Lifetime => format!("{}: not enforced: {why}", axis.name),
    };
    Some(Finding::warn(message, fix_of(axis.name)))
}

const NAMESPACES: &str = "allow user namespaces: `user.max_user_namespaces`, `kernel.unprivileged_userns_clone` and \
                          `kernel.apparmor_restrict_unprivileged_userns` of sysctl close them, or the container's runtime does";

/// What would make it enforced, or what keeps it apart from the sandbox.
const fn fix_of(axis: AxisName) -> &'static str {
    if cfg!(target_os = "macos") {
        return match axis {
            AxisName::ProcessCount | AxisName::Memory | AxisName::Files => {
                "macOS has no such bound; `sandbox.policy.timeout_seconds` still ends a program"
            }
            AxisName::Network
            | AxisName::LocalSockets
            | AxisName::Subprocess
            | AxisName::OtherProcesses
            | AxisName::Writes
            | AxisName::Metadata
            | AxisName::Reads
            | AxisName::Protected
            | AxisName::NewEntries
            | AxisName::ReadDeny
            | AxisName::Lifetime => "macOS cannot; keep what matters out of the folders that programs reach",
        };
    }
    match axis {
        AxisName::NewEntries | AxisName::ReadDeny | AxisName::Metadata => NAMESPACES,
        AxisName::LocalSockets => "`sandbox.policy.network: false` closes them too",
        AxisName::OtherProcesses => "use Linux 6.12 or later, or allow user namespaces",
        AxisName::ProcessCount => "do not run Reyn as root, or allow user namespaces",
        AxisName::Writes
        | AxisName::Reads
        | AxisName::Protected
        | AxisName::Network
        | AxisName::Subprocess
        | AxisName::Memory
        | AxisName::Files
        | AxisName::Lifetime => "use a newer kernel",
    }
}

fn details(seen: &Seen) -> Value {
    let axes: Vec<Value> = seen
        .axes
        .iter()
        .map(|axis| {
            let (is_enforced, how, why) = match &axis.state {
                AxisState::Enforced { how } => (true, Some(how), None),
                AxisState::Unenforced { why } => (false, None, Some(why)),
            };
            json!({
                "name": axis.name.to_string(),
                "is_enforced": is_enforced,
                "is_proven": axis.is_proven,
                "how": how,
                "why": why,
            })
        })
        .collect();
    json!({
        "backend": seen.kind.to_string(),
        "asked_for": seen.choice,
        "on_unsupported": seen.on_unsupported,
        "reason": seen.reason,
        "landlock_abi": seen.landlock_abi,
        "is_nested": seen.is_nested,
        "axes": axes,
    })
}

/// What a program may use up and reach, as configured.
fn bounds(config: &SandboxConfig) -> Finding {
    let word = |is_open: bool| if is_open { "open" } else { "closed" };
    Finding::info(format!(
        "a program gets: network {}, further processes {}, {} s (at most {}), {} of memory and {} files open for each \
         process, {} processes, files up to {}",
        word(config.network),
        word(config.subprocess),
        config.timeout_seconds,
        config.max_timeout_seconds,
        output::size(config.memory_bytes),
        config.open_files,
        config.processes,
        output::size(config.file_bytes),
    ))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::commands::doctor::in_words;

    fn axis(name: AxisName, state: Result<&str, &str>, is_proven: bool) -> Axis {
        let state = match state {
            Ok(how) => AxisState::Enforced { how: how.to_owned() },
            Err(why) => AxisState::Unenforced { why: why.to_owned() },
        };
        Axis { name, state, is_proven }
    }

    fn landlock() -> Seen {
        Seen {
            choice: BackendSetting::Auto,
            origin: None,
            on_unsupported: OnUnsupported::Warn,
            kind: BackendKind::Landlock,
            reason: None,
            axes: vec![
                axis(AxisName::Writes, Ok("Landlock"), true),
                axis(AxisName::Network, Ok("no sockets, Landlock"), true),
                axis(AxisName::Memory, Ok("a limit"), false),
                axis(AxisName::LocalSockets, Err("Landlock does not govern them"), false),
                axis(AxisName::NewEntries, Err("mount namespaces are forbidden here"), false),
            ],
            landlock_abi: Some(7),
            is_nested: true,
        }
    }

    fn noop(choice: BackendSetting, on_unsupported: OnUnsupported, reason: Option<&str>) -> Seen {
        Seen {
            choice,
            origin: Some("reyn.yaml:2".to_owned()),
            on_unsupported,
            kind: BackendKind::Noop,
            reason: reason.map(str::to_owned),
            axes: vec![
                axis(AxisName::Writes, Err("there is no sandbox"), false),
                axis(AxisName::Lifetime, Ok("a supervisor kills every descendant"), false),
            ],
            landlock_abi: None,
            is_nested: false,
        }
    }

    fn words(seen: &Seen) -> String {
        let named: Vec<_> = findings(seen).into_iter().map(|finding| ("sandbox", finding)).collect();
        in_words(&named, false, None)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn it_says_what_is_enforced_what_was_tried_and_what_to_do() {
        expect![[r#"
            ✓ sandbox  landlock (Landlock ABI 7) confines the programs that tools run
                       tried and refused here: writes, network
                       enforced, not tried: memory
                       not enforced: local sockets
            ·          already inside a sandbox: what that one refuses, nothing here can give
                       -> run `reyn doctor` outside it to see what is this machine's own doing
            !          local sockets: not enforced: Landlock does not govern them
                       -> `sandbox.policy.network: false` closes them too
            !          a program cannot make new entries beside protected ones: mount namespaces are forbidden here
                       -> allow user namespaces: `user.max_user_namespaces`, `kernel.unprivileged_userns_clone` and `kernel.apparmor_restrict_unprivileged_userns` of sysctl close them, or the container's runtime does

            0 to mend, 2 to know about
        "#]]
        .assert_eq(&words(&landlock()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn without_a_sandbox_it_says_why_and_what_that_means() {
        let why = Some("this kernel has no Landlock, or it is switched off");
        let table = [
            noop(BackendSetting::Noop, OnUnsupported::Warn, None),
            noop(BackendSetting::Auto, OnUnsupported::Warn, why),
            noop(BackendSetting::Landlock, OnUnsupported::Error, why),
            noop(BackendSetting::Seatbelt, OnUnsupported::Ignore, Some("Seatbelt is not here")),
        ];
        let all: Vec<String> = table.iter().map(words).collect();
        expect![[r#"
            ! sandbox  none, as `sandbox.backend: noop` says (reyn.yaml:2)
                       enforced, not tried: lifetime
                       not enforced: writes
                       -> write `sandbox.backend: auto`

            0 to mend, 1 to know about
            ---
            ! sandbox  none: this kernel has no Landlock, or it is switched off; programs that tools run reach what you reach, and where nobody is there to be asked none is run
                       enforced, not tried: lifetime
                       not enforced: writes
                       -> use Linux 5.13 or later with `landlock` in /sys/kernel/security/lsm; a container's runtime must allow it

            0 to mend, 1 to know about
            ---
            ✗ sandbox  none: this kernel has no Landlock, or it is switched off; no program is run (`sandbox.on_unsupported: error`)
                       enforced, not tried: lifetime
                       not enforced: writes
                       -> use Linux 5.13 or later with `landlock` in /sys/kernel/security/lsm; a container's runtime must allow it

            1 to mend, 0 to know about
            ---
            ! sandbox  none: Seatbelt is not here; programs that tools run reach what you reach
                       enforced, not tried: lifetime
                       not enforced: writes
                       -> Seatbelt is a part of macOS: write `sandbox.backend: auto`

            0 to mend, 1 to know about
        "#]].assert_eq(&all.join("---\n"));
    }

    #[test]
    fn the_details_name_every_axis() {
        expect![[r#"
            {
              "backend": "landlock",
              "asked_for": "auto",
              "on_unsupported": "warn",
              "reason": null,
              "landlock_abi": 7,
              "is_nested": true,
              "axes": [
                {
                  "name": "writes",
                  "is_enforced": true,
                  "is_proven": true,
                  "how": "Landlock",
                  "why": null
                },
                {
                  "name": "network",
                  "is_enforced": true,
                  "is_proven": true,
                  "how": "no sockets, Landlock",
                  "why": null
                },
                {
                  "name": "memory",
                  "is_enforced": true,
                  "is_proven": false,
                  "how": "a limit",
                  "why": null
                },
                {
                  "name": "local sockets",
                  "is_enforced": false,
                  "is_proven": false,
                  "how": null,
                  "why": "Landlock does not govern them"
                },
                {
                  "name": "new entries beside protected ones",
                  "is_enforced": false,
                  "is_proven": false,
                  "how": null,
                  "why": "mount namespaces are forbidden here"
                }
              ]
            }"#]]
        .assert_eq(&serde_json::to_string_pretty(&details(&landlock())).unwrap());
    }
}
