//! `permissions.exec`, `--allow exec`, and the verdict on a command that they give together.

use super::{Approvals, AskReason};
use crate::capability::Verdict;
use crate::gate::Refusal;
use crate::text::{excerpt, shell_word};
use crate::tool::ErrorKind;

/// The key in configuration, approvals and `--allow`.
pub const EXEC_KEY: &str = "exec";

/// A program that a call would run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Command {
    /// The program as the call names it, and its arguments.
    pub argv: Vec<String>,
    /// Whether the call gives it something to read, which may be a program too.
    pub has_stdin: bool,
}

/// Programs that take a program: what begins with one of them says nothing about what is done.
const INTERPRETERS: [&str; 26] = [
    "sh", "bash", "dash", "zsh", "fish", "ksh", "busybox", "env", "xargs", "sudo", "doas", "nice", "nohup",
    "time", "timeout", "setsid", "watch", "python", "python3", "perl", "ruby", "node", "deno", "bun", "php",
    "lua",
];

/// Programs that fetch files.
const DOWNLOADERS: [&str; 23] = [
    "curl",
    "wget",
    "wget2",
    "aria2c",
    "axel",
    "lftp",
    "ftp",
    "sftp",
    "scp",
    "rsync",
    "xh",
    "httpie",
    "lynx",
    "w3m",
    "yt-dlp",
    "gh",
    "svn",
    "rclone",
    "ssh",
    "nc",
    "ncat",
    "socat",
    "urlretrieve",
];
/// How calls begin that do the same in a line for an interpreter.
const DOWNLOADING_CALLS: [&str; 4] = ["urllib.", "requests.get", "http.client", "httpx.get"];
/// What Git does that fetches files.
const GIT_DOWNLOADS: [&str; 4] = ["clone", "pull", "fetch", "submodule"];
/// Words behind `git` in which that is looked for where options come first.
const GIT_OPTION_WORDS_MAX: usize = 12;
/// Programs that fetch files where a word more says so.
const DOWNLOADS_BY_TWO_WORDS: [(&str, &str); 6] =
    [("hg", "clone"), ("hg", "pull"), ("pip", "download"), ("npm", "pack"), ("go", "get"), ("docker", "cp")];

impl Command {
    /// The whole command as a person would type it in a shell.
    #[must_use]
    pub fn line(&self) -> String {
        self.argv.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
    }

    /// The beginning that a wider yes covers: the program and its first word, such as `cargo test`. `None` where
    /// that would say nothing about what is done.
    #[must_use]
    pub fn beginning(&self) -> Option<&[String]> {
        let [_, first, ..] = self.argv.as_slice() else { return None };
        let is_word = first.starts_with(|c: char| c.is_ascii_alphanumeric());
        (!self.is_interpreter() && is_word && !self.has_stdin).then(|| &self.argv[..2])
    }

    /// Whether it takes a program, in its arguments or its input.
    #[must_use]
    pub fn is_interpreter(&self) -> bool {
        let Some(program) = self.argv.first() else { return false };
        let name = program.rsplit('/').next().unwrap_or(program);
        INTERPRETERS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
            || INTERPRETERS.contains(&name)
    }

    /// Whether it, or what it is given to read, names a program that fetches files: also inside a line for a shell.
    #[must_use]
    pub fn may_download(&self, stdin: Option<&str>) -> bool {
        let is_of_a_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
        let stdin = stdin.filter(|_| self.is_interpreter());
        let texts = self.argv.iter().map(String::as_str).chain(stdin);
        let names = texts.flat_map(|word| word.split(move |c: char| !is_of_a_name(c)));
        let words: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        let of_git = |(at, word): (usize, &&str)| {
            let rest = &words[at + 1..];
            // `-C` and `-c` take a word of their own, so it is not known which one is the command.
            let looked_at =
                if rest.first().is_some_and(|next| next.starts_with('-')) { GIT_OPTION_WORDS_MAX } else { 1 };
            *word == "git" && rest.iter().take(looked_at).any(|word| GIT_DOWNLOADS.contains(word))
        };
        words.iter().any(|word| {
            DOWNLOADERS.contains(word) || DOWNLOADING_CALLS.iter().any(|call| word.starts_with(call))
        }) || words.windows(2).any(|pair| DOWNLOADS_BY_TWO_WORDS.contains(&(pair[0], pair[1])))
            || words.iter().enumerate().any(of_git)
    }

    fn begins_with(&self, words: &[String]) -> bool {
        !words.is_empty() && self.argv.starts_with(words)
    }
}

/// The words of a command that a person wrote, split as a shell does; nothing in it is expanded or run.
///
/// # Errors
/// With what is wrong: no word, a quote that does not end, or a character that a program can never be given.
pub fn command_words(text: &str) -> Result<Vec<String>, String> {
    let words = shell_words::split(text)
        .map_err(|_| format!("a quote in `{}` does not end", excerpt(text, LINE_CHARS_SHOWN)))?;
    if words.is_empty() {
        return Err("the command is empty; write it as in `cargo test`".to_owned());
    }
    if words[0].is_empty() {
        return Err(format!(
            "`{}` begins with an empty word, which no program is called",
            excerpt(text, LINE_CHARS_SHOWN)
        ));
    }
    if text.contains('\0') {
        return Err("the command holds a NUL character; remove it".to_owned());
    }
    Ok(words)
}

/// One value of `permissions.exec`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecRule {
    /// Everything, without asking.
    Allow,
    /// Nothing without asking.
    Ask,
    /// Nothing.
    Deny,
    /// What begins with these words, without asking; anything else after asking.
    Only(Vec<Vec<String>>),
}

/// What configuration and the command line say about commands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExecPolicy {
    /// `permissions.exec`.
    pub rule: Option<ExecRule>,
    /// `--allow exec` and `--allow exec:COMMAND`: what begins with these words; with none, everything.
    pub granted: Vec<Vec<String>>,
}

impl AskReason {
    /// The refusal of a command when nobody is there to be asked.
    #[must_use]
    pub fn no_person_for(&self, command: &Command) -> Refusal {
        Refusal {
            kind: ErrorKind::PermissionDenied,
            message: format!(
                "nobody is there to allow it: running `{}` takes a person's yes, because {}",
                shown(command),
                self.rule
            ),
            lifts_when: self.allowed_by.clone().unwrap_or_default(),
            wants_person: true,
        }
    }

    /// The refusal of a command when a person said no, with what they said about it.
    #[must_use]
    pub fn command_refused(command: &Command, reason: Option<&str>) -> Refusal {
        let line = shown(command);
        let (message, lifts_when) = match reason {
            None => (
                format!("the person said no: you may not run `{line}`"),
                "do not try again unless the person asks for it; say what you would have done",
            ),
            Some(reason) => (
                format!("the person said no to this (run `{line}`), and why: {reason}"),
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

/// What the agent's own layer says about a command: denied, granted, answered before, or to be asked.
#[must_use]
pub fn exec_verdict(command: &Command, policy: &ExecPolicy, approvals: &Approvals) -> Verdict {
    if policy.rule == Some(ExecRule::Deny) {
        return Verdict::Deny(Refusal {
            kind: ErrorKind::PermissionDenied,
            message: format!("cannot run `{}`: `permissions.exec` is `deny`", shown(command)),
            lifts_when: "the operator changes `permissions.exec` in the configuration".to_owned(),
            wants_person: false,
        });
    }
    let is_listed = match &policy.rule {
        Some(ExecRule::Allow) => true,
        Some(ExecRule::Only(list)) => list.iter().any(|words| command.begins_with(words)),
        Some(ExecRule::Ask | ExecRule::Deny) | None => false,
    };
    if is_listed || policy.granted.iter().any(|words| words.is_empty() || command.begins_with(words)) {
        return Verdict::Allow;
    }
    match approvals.answer_to_command(command) {
        Some(true) => Verdict::Allow,
        Some(false) => Verdict::Deny(Refusal {
            kind: ErrorKind::PermissionDenied,
            message: format!("cannot run `{}`: a person said no before", shown(command)),
            lifts_when:
                "the person revokes that answer in `.reyn/approvals.yaml`, or says yes in a new session"
                    .to_owned(),
            wants_person: false,
        }),
        None => Verdict::Ask(ask_reason(command, policy)),
    }
}

fn ask_reason(command: &Command, policy: &ExecPolicy) -> AskReason {
    let rule = match policy.rule {
        Some(ExecRule::Ask) => "`permissions.exec` is `ask`",
        Some(ExecRule::Only(_)) => "it is not in the list of `permissions.exec`",
        Some(ExecRule::Allow | ExecRule::Deny) | None => "`permissions.exec` is not set",
    };
    let words = command.beginning().unwrap_or(&command.argv);
    let line = words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    // The words are the model's, and what stands here is copied: they are quoted for where they go.
    let quoted = serde_json::Value::from(line.as_str()).to_string();
    let setting = match policy.rule {
        Some(ExecRule::Only(_)) => format!("add `{quoted}` to `permissions.exec`"),
        Some(ExecRule::Ask | ExecRule::Allow | ExecRule::Deny) | None => {
            format!("set `permissions.exec: [{quoted}]`")
        }
    };
    let grant = shell_word(&format!("{EXEC_KEY}:{line}"));
    let allowed_by =
        format!("the person can run it again with `--allow {grant}`, or {setting} in `reyn.yaml`");
    AskReason { rule: rule.to_owned(), allowed_by: Some(allowed_by) }
}

/// The command in a message, on one line and no longer than a person reads.
fn shown(command: &Command) -> String {
    excerpt(&command.line(), LINE_CHARS_SHOWN)
}

/// Longest command in a message.
const LINE_CHARS_SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::{Approval, Scope};

    fn command(line: &str) -> Command {
        Command { argv: line.split(' ').map(str::to_owned).collect(), has_stdin: false }
    }

    fn words(line: &str) -> Vec<String> {
        command(line).argv
    }

    fn said(line: &str, policy: &ExecPolicy, approvals: &[Approval]) -> &'static str {
        match exec_verdict(&command(line), policy, &Approvals(approvals.to_vec())) {
            Verdict::Allow => "allow",
            Verdict::Ask(_) => "ask",
            Verdict::Deny(_) => "deny",
        }
    }

    #[test]
    fn a_command_that_fetches_files_is_known_by_its_words() {
        let table: [(&[&str], bool); 13] = [
            (&["git", "-C", "x", "-c", "user.name=a", "pull"], true),
            (&["sh", "-c", "git --no-pager fetch"], true),
            (&["git", "log", "--grep", "fetch"], false),
            (&["python3", "-c", "import urllib.request as u; u.urlopen('x')"], true),
            (&["sh", "-c", "nc a.org 80 > x"], true),
            (&["curl", "-O", "https://a.org/x"], true),
            (&["/usr/bin/wget", "x"], true),
            (&["sh", "-c", "cd a && curl -sL x > y"], true),
            (&["git", "clone", "x"], true),
            (&["git", "commit", "-m", "x"], false),
            (&["cargo", "test", "curling"], false),
            (&["cat", "libcurl.c"], false),
            (&["python3", "-c", "import os; os.system('wget x')"], true),
        ];
        for (argv, expected) in table {
            let argv = argv.iter().map(|word| (*word).to_owned()).collect();
            let command = Command { argv, has_stdin: false };
            assert_eq!(command.may_download(None), expected, "{command:?}");
        }
        // What only is kept or looked at is no program.
        for (program, expected) in
            [("sh", true), ("/bin/bash", true), ("python3.12", true), ("cat", false), ("wc", false)]
        {
            assert_eq!(
                command(program).may_download(Some("curl -O https://a.org/x\n")),
                expected,
                "{program}"
            );
        }
    }

    #[test]
    fn unset_is_ask_and_a_rule_a_grant_or_an_answer_decides() {
        let rule = |rule| ExecPolicy { rule: Some(rule), granted: vec![] };
        let granted = |line: &str| ExecPolicy {
            rule: None,
            granted: vec![if line.is_empty() { vec![] } else { words(line) }],
        };
        let answer = |line: &str, scope, is_allowed| Approval::command(words(line), scope, is_allowed);
        let unset = ExecPolicy::default();
        let table = [
            ("cargo test", unset.clone(), vec![], "ask"),
            ("cargo test", rule(ExecRule::Allow), vec![], "allow"),
            ("cargo test", rule(ExecRule::Deny), vec![answer("cargo test", Scope::JustPath, true)], "deny"),
            ("cargo test", rule(ExecRule::Only(vec![words("cargo test")])), vec![], "allow"),
            ("cargo test --lib", rule(ExecRule::Only(vec![words("cargo test")])), vec![], "allow"),
            ("cargo testing", rule(ExecRule::Only(vec![words("cargo test")])), vec![], "ask"),
            ("./cargo test", rule(ExecRule::Only(vec![words("cargo test")])), vec![], "ask"),
            ("anything", granted(""), vec![], "allow"),
            ("ls -l", granted("ls"), vec![], "allow"),
            ("rm -r x", granted("ls"), vec![], "ask"),
            ("cargo test", unset.clone(), vec![answer("cargo test", Scope::JustPath, true)], "allow"),
            ("cargo test x", unset.clone(), vec![answer("cargo test", Scope::JustPath, true)], "ask"),
            ("cargo test x", unset.clone(), vec![answer("cargo test", Scope::Recursive, true)], "allow"),
            ("cargo test", unset, vec![answer("cargo test", Scope::JustPath, false)], "deny"),
        ];
        for (line, policy, approvals, expected) in table {
            assert_eq!(said(line, &policy, &approvals), expected, "{line} {policy:?} {approvals:?}");
        }
    }

    #[test]
    fn what_a_program_is_given_to_read_is_asked_about_each_time() {
        let given = Command { has_stdin: true, ..command("bash -s") };
        let yes = Approvals(vec![Approval::command(words("bash -s"), Scope::JustPath, true)]);
        assert!(matches!(exec_verdict(&given, &ExecPolicy::default(), &yes), Verdict::Ask(_)));
        let once = Approvals(vec![Approval::command(words("bash -s"), Scope::ThisCall, true)]);
        assert_eq!(exec_verdict(&given, &ExecPolicy::default(), &once), Verdict::Allow);
    }

    #[test]
    fn a_wider_yes_is_offered_where_it_says_what_is_done() {
        let table = [
            ("cargo test --lib", Some("cargo test")),
            ("git status", Some("git status")),
            ("ls", None),
            ("ls -l", None),
            ("bash run.sh", None),
            ("/usr/bin/python3.11 x.py", None),
            ("sudo rm", None),
        ];
        for (line, expected) in table {
            let beginning = command(line).beginning().map(|words| words.join(" "));
            assert_eq!(beginning.as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_headless_refusal_names_what_would_allow_it_quoted_for_where_it_goes() {
        let Verdict::Ask(reason) =
            exec_verdict(&command("cargo test --lib"), &ExecPolicy::default(), &Approvals::default())
        else {
            panic!("not asked")
        };
        let refusal = reason.no_person_for(&command("cargo test --lib"));
        assert_eq!(
            refusal.to_string(),
            "nobody is there to allow it: running `cargo test --lib` takes a person's yes, because \
             `permissions.exec` is not set; the person can run it again with `--allow 'exec:cargo test'`, or set \
             `permissions.exec: [\"cargo test\"]` in `reyn.yaml`"
        );
        assert!(refusal.wants_person);
    }

    #[test]
    fn a_written_command_is_split_as_a_shell_does() {
        let table = [
            ("cargo test", Ok(vec!["cargo", "test"])),
            ("  git   commit -m 'two words' ", Ok(vec!["git", "commit", "-m", "two words"])),
            (r#"echo "a $b" c\ d"#, Ok(vec!["echo", "a $b", "c d"])),
            ("", Err("the command is empty; write it as in `cargo test`")),
            ("  ", Err("the command is empty; write it as in `cargo test`")),
            ("git commit -m 'x", Err("a quote in `git commit -m 'x` does not end")),
            ("'' x", Err("`'' x` begins with an empty word, which no program is called")),
            ("a\0b", Err("the command holds a NUL character; remove it")),
        ];
        for (text, expected) in table {
            let expected = expected
                .map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>())
                .map_err(str::to_owned);
            assert_eq!(command_words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_is_what_a_shell_would_take() {
        let argv = ["bash", "-c", "echo 'a b' > c"].map(str::to_owned).to_vec();
        assert_eq!(Command { argv, has_stdin: false }.line(), r"bash -c 'echo '\''a b'\'' > c'");
    }
}
