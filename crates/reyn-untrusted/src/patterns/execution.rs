//! Commands that run what a stranger sends, or hand a shell to one. Escapes to a terminal and look-alike hosts are
//! found in `scan.rs`, in the text as it was given.

use super::Pattern;
use crate::scan::Scope::Exec;

/// What is looked for.
pub(super) const PATTERNS: &[Pattern] = &[
    Pattern::block(
        "pipe_to_interpreter",
        Exec,
        &["|"],
        r"\s*(?:sudo\s+(?:-\w+\s+)?)?(?:/(?:usr/)?bin/)?(?:env\s+)?(?:ba|z|k|da|a|fi)?sh(?:\s+-[\w-]*){0,4}\s*(?:\s[^|;&\n]{0,60})?(?:$|[;&|)\x22'\n])",
    ),
    Pattern::block(
        "pipe_to_interpreter",
        Exec,
        &["|"],
        r"\s*(?:sudo\s+(?:-\w+\s+)?)?(?:python[\d.]*|perl|ruby|node|php|iex|invoke-expression|pwsh|powershell|tclsh|lua|osascript)(?:\s+-)?\s*(?:$|[;&|)\x22'\n])",
    ),
    Pattern::block(
        "pipe_to_interpreter",
        Exec,
        &["sh -c", "bash -c", "eval", "source", ". <(", "bash", "sh", "zsh", "zsh -c"],
        r"\s*[\x22']?(?:\$\(|<\(|`)\s*(?:curl|wget|fetch)\b",
    ),
    Pattern::block(
        "pipe_to_interpreter",
        Exec,
        &["$(curl", "$(wget", "$(fetch", "`curl", "`wget", "`fetch"],
        r"\s[^\n`)]{0,200}?[)`][^\n]{0,60}?[;&|\n]\s*(?:eval|(?:ba|z|da)?sh\s+-c|source|python[\d.]*\s+-c|perl\s+-e)\s+[\x22']?\$",
    ),
    Pattern::block(
        "pipe_to_interpreter",
        Exec,
        &["exec(", "eval(", "exec (", "eval ("],
        r"[^\n]{0,80}?(?:urlopen|requests\.get|urllib|http\.get|fetch\(|b64decode|base64)",
    ),
    Pattern::block(
        "pipe_to_interpreter",
        Exec,
        &["iex", "invoke-expression"],
        r"\s*\(?[^\n]{0,60}?(?:downloadstring|iwr|invoke-webrequest|irm|net\.webclient)",
    ),
    Pattern::block("reverse_shell_devtcp", Exec, &["/dev/tcp/", "/dev/udp/"], ""),
    Pattern::block(
        "reverse_shell_interactive",
        Exec,
        &["nc", "ncat", "netcat"],
        r"[^\n|;]{0,60}?\s-(?:\w*[ec]|-exec|-sh-exec)\s*[\x22']?(?:/bin/|/usr/bin/)?(?:ba|z|da|k)?sh\b",
    ),
    Pattern::block(
        "reverse_shell_interactive",
        Exec,
        &["sh -i", "bash -i", "bash -li", "zsh -i", "sh -li"],
        r"(?:\s*[^\n]{0,40}?(?:>&|2>&1|<&|\|\s*(?:nc|ncat|openssl)|0>&1|,pty)|[\x22']\s*\)?)",
    ),
    Pattern::block("reverse_shell_interactive", Exec, &["socat"], r"[^\n]{0,120}?exec:"),
    Pattern::block(
        "reverse_shell_interactive",
        Exec,
        &[
            "import socket",
            "use socket",
            "require 'socket'",
            "require(\"net\")",
            "require('net')",
            "fsockopen",
            "rsocket",
            "tcpsocket",
            "net.sockets.tcpclient",
        ],
        r"[^\n]{0,300}?(?:dup2|subprocess|pty\.spawn|/bin/(?:ba|z)?sh|exec|spawn|iex|popen|proc_open|passthru|system\()",
    ),
    Pattern::block(
        "reverse_shell_interactive",
        Exec,
        &["mkfifo", "mknod"],
        r"[^\n]{0,160}?\|\s*(?:nc|ncat|netcat|telnet|openssl)\b",
    ),
    Pattern::block(
        "download_then_exec",
        Exec,
        &["curl", "wget", "fetch", "aria2c", "iwr", "invoke-webrequest", "certutil", "bitsadmin", "scp"],
        r"[^\n]{0,240}?(?:&&|;|\|\|)\s*(?:sudo\s+|nohup\s+)?(?:chmod\s+(?:[ugoa]*\+\w*x|[0-7]{3,4})|(?:ba|z|da)?sh\s+\S|\./\S|/tmp/|/dev/shm/|python[\d.]*\s+[^-\s]|source\s|start\s)",
    ),
];
