//! Which variables of the environment a program gets. Those that look like credentials only when they are named.

use std::ffi::OsString;

use super::ProcessSettings;
use super::asked_paths::named;

/// Passed unless something else is said; a trailing `*` stands for the rest of a name.
const USUAL: [&str; 44] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "CLICOLOR",
    "COLUMNS",
    "LINES",
    "CI",
    "EDITOR",
    "PAGER",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "CARGO_TERM_*",
    "CARGO_NET_OFFLINE",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RUSTFLAGS",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONPATH",
    "PYTHONUTF8",
    "PYTHONIOENCODING",
    "NODE_ENV",
    "NODE_PATH",
    "NVM_DIR",
    "GOPATH",
    "GOROOT",
    "GOFLAGS",
    "JAVA_HOME",
    "CC",
    "CXX",
    "MAKEFLAGS",
];
/// Parts of names that hold, or lead to, credentials.
const CREDENTIALS: [&str; 16] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "AUTH",
    "COOKIE",
    "SESSION",
    "ASKPASS",
    "SSH_",
    "DOCKER_",
    "KUBECONFIG",
    "DBUS_",
    "GPG_",
];

/// The whole environment of a program. PATH is always there; `asked` are the names that a call asks for.
pub(super) fn passed(settings: &ProcessSettings, asked: Option<&[String]>) -> Vec<(OsString, OsString)> {
    let is_passed = |name: &str| {
        if settings.deny_env_names.iter().any(|denied| denied == name) {
            return false;
        }
        let by_operator = match &settings.allow_env_names {
            Some(names) => names.iter().any(|allowed| allowed == name),
            None => is_usual(name) && !looks_like_a_credential(name),
        };
        name == "PATH" || (by_operator && asked.is_none_or(|asked| asked.iter().any(|one| one == name)))
    };
    let given = settings.environment.iter();
    given.filter(|(name, _)| name.to_str().is_some_and(is_passed)).cloned().collect()
}

/// What was asked for, is set, and is not passed, in words.
pub(super) fn shortfall(
    asked: Option<&[String]>,
    settings: &ProcessSettings,
    passed: &[(OsString, OsString)],
) -> Option<String> {
    let has = |variables: &[(OsString, OsString)], name: &str| variables.iter().any(|(one, _)| one == name);
    let is_kept = |name: &&String| has(&settings.environment, name) && !has(passed, name);
    let kept: Vec<&String> = asked.unwrap_or_default().iter().filter(is_kept).collect();
    (!kept.is_empty()).then(|| {
        format!(
            "`env_passthrough`: the operator does not pass {} (`sandbox.policy.allow_env_names`)",
            named(&kept)
        )
    })
}

fn is_usual(name: &str) -> bool {
    USUAL.iter().any(|usual| match usual.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *usual,
    })
}

fn looks_like_a_credential(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    CREDENTIALS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use reyn_sandbox::HelperProgram;

    use super::*;

    const GIVEN: [&str; 10] = [
        "PATH",
        "HOME",
        "LC_ALL",
        "OPENAI_API_KEY",
        "SSH_AUTH_SOCK",
        "DOCKER_HOST",
        "GIT_ASKPASS",
        "CARGO_TERM_TOKEN",
        "WHATEVER",
        "LD_PRELOAD",
    ];

    fn names(allow: Option<&[&str]>, deny: &[&str], asked: Option<&[&str]>) -> Vec<String> {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let environment = GIVEN.iter().map(|name| (OsString::from(name), OsString::from("x"))).collect();
        let mut settings = ProcessSettings::new(environment, None, HelperProgram::this_program());
        settings.allow_env_names = allow.map(list);
        settings.deny_env_names = list(deny);
        let asked = asked.map(list);
        let passed = passed(&settings, asked.as_deref());
        passed.into_iter().map(|(name, _)| name.into_string().unwrap()).collect()
    }

    #[test]
    fn what_is_usual_is_passed_and_a_credential_only_when_it_is_named() {
        let table = [
            (names(None, &[], None), vec!["PATH", "HOME", "LC_ALL"]),
            (names(None, &["HOME"], None), vec!["PATH", "LC_ALL"]),
            (names(Some(&["OPENAI_API_KEY"]), &[], None), vec!["PATH", "OPENAI_API_KEY"]),
            (names(Some(&[]), &[], None), vec!["PATH"]),
            (names(Some(&["WHATEVER"]), &["WHATEVER"], None), vec!["PATH"]),
            (names(None, &[], Some(&["HOME", "OPENAI_API_KEY"])), vec!["PATH", "HOME"]),
            (names(None, &[], Some(&[])), vec!["PATH"]),
        ];
        for (passed, expected) in table {
            assert_eq!(passed, expected);
        }
    }

    #[test]
    fn what_is_asked_for_and_set_and_not_passed_is_said() {
        let environment = vec![("PATH".into(), "x".into()), ("OPENAI_API_KEY".into(), "x".into())];
        let settings = ProcessSettings::new(environment, None, HelperProgram::this_program());
        let said = |asked: &[&str]| {
            let asked: Vec<String> = asked.iter().map(|name| (*name).to_owned()).collect();
            shortfall(Some(&asked), &settings, &passed(&settings, Some(&asked)))
        };
        assert_eq!(said(&["PATH", "NOT_SET"]), None);
        assert_eq!(
            said(&["PATH", "OPENAI_API_KEY"]).unwrap(),
            "`env_passthrough`: the operator does not pass `OPENAI_API_KEY` (`sandbox.policy.allow_env_names`)"
        );
    }
}
