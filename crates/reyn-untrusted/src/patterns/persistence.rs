//! Staying: in the files that steer later sessions, in keys of a host, in memory.

use super::Pattern;
use crate::scan::Scope::Strict;

const STEERING: &[&str] = &[
    "agents.md",
    "claude.md",
    "gemini.md",
    ".cursorrules",
    ".windsurfrules",
    "copilot-instructions",
    ".clinerules",
    "system prompt file",
    "soul.md",
    ".cursor/rules",
    "skill.md",
];
const OURS: &[&str] = &[
    "reyn.yaml",
    "reyn.local.yaml",
    ".reyn/config",
    ".reyn/approvals",
    ".reyn/agents",
    ".reyn/profiles",
    ".reyn/hooks",
];

/// What is looked for.
pub(super) const PATTERNS: &[Pattern] = &[
    Pattern::block("ssh_backdoor", Strict, &["authorized_keys"], "")
        .after(r"(?:>>?|\b(?:append|add|write|put|insert|tee|echo|copy|place|install|paste)\b)[^\n]{0,140}$"),
    Pattern::block("ssh_backdoor", Strict, &["authorized_keys"],
        r"[^\n]{0,60}?(?:追加|追記|書き込|書き加|登録|入れ|置)"),
    Pattern::block("autostart_entry", Strict, &["curl", "wget"],
        r"[^\n|]{0,160}\|\s*(?:sudo\s+)?(?:/bin/)?(?:ba|z|da)?sh\b")
        .after(r"(?:[\d*]\s+\*\s+[\d*]|@(?:reboot|hourly|daily|weekly)|crontab|execstart\s?=|\.(?:bashrc|zshrc|bash_profile|zprofile|profile)\b|rc\.local|launchagents)[^\n]{0,160}$"),
    Pattern::block("autostart_entry", Strict, &["execstart=", "execstart =", "@reboot"],
        r"\s*(?:\S{0,12}/(?:tmp|dev/shm|var/tmp)/|(?:[~\w%/-]{0,60}/)\.\w|/bin/(?:ba)?sh\s+-c\s[^\n]{0,80}?(?:curl|wget|\bnc\b|/dev/tcp))"),
    Pattern::block("ssh_access", Strict, &["ssh -i", "~/.ssh/id_", ".ssh/id_rsa", ".ssh/id_ed25519", "scp -i"], ""),
    Pattern::block("ssh_access", Strict, &["copy", "send", "share", "use", "move", "export"],
        r"\s+(?:\w+\s+){0,2}?private (?:ssh )?keys?\b[^\n]{0,40}?\b(?:to|host|server|here)\b"),
    Pattern::block("agent_config_mod", Strict, STEERING, "")
        .after(r"\b(?:add|append|write|edit|modify|update|insert|change|put|overwrite|replace|set|extend|rewrite|patch)\b[^.\n]{0,80}$"),
    Pattern::block("agent_config_mod", Strict, STEERING,
        r"[^\n]{0,30}?(?:に|を|へ)[^\n]{0,120}?(?:追記|追加|書き込|書き換え|書き加|編集|変更|書く|書い|挿入)(?:し|す|せ|て|る|え|む|み|ん|こ|く)"),
    Pattern::block("agent_config_mod", Strict, &["update", "change", "edit", "modify", "rewrite", "replace", "overwrite"],
        r"\s+(?:the|your|its)\s+(?:\w+\s+)?(?:system prompt|persona|instructions file|rules file|prompt file)\b"),
    Pattern::block("reyn_config_mod", Strict, OURS, "")
        .after(r"\b(?:add|append|write|edit|modify|update|insert|change|put|overwrite|replace|set|disable|turn off|switch|rewrite)\b[^.\n]{0,80}$"),
    Pattern::block("reyn_config_mod", Strict, OURS,
        r"[^\n]{0,60}?(?:を|に)[^\n]{0,60}?(?:編集|書き換え|変更|無効|追加|追記|許可|有効)(?:する|して|せよ|し、|こと|しろ|に(?:する|して|書き換え|変え))"),
    Pattern::block("reyn_config_mod", Strict, &["permissions.", "safety.", "threat_scan", "fence_enabled", "sandbox.", "approvals"],
        r"[^\n]{0,40}?(?:\b(?:is|be|to|as|=|:)\s*(?:allow\b|disabled|false|off|never|warn)|に?(?:無効|許可)(?:に|化))")
        .after(r"\b(?:set|change|so that|make|turn|edit|switch|write|を|の)[^\n]{0,80}$"),
    Pattern::block("agent_config_mod", Strict, &["remember", "for all future", "in all future", "in every future", "from now on", "in future sessions", "save to your memory", "save to memory", "store in memory", "add to memory", "keep in mind", "memorise", "memorize", "note for later"],
        r"[^\n]{0,140}?\b(?:warnings?|security|checks?|confirm\w*|approv\w*|safety|verif\w*|trusts?|permission|without asking)\b[^\n]{0,60}?\b(?:ignored?|skip\w*|never|not needed|trusted|without asking|bypass\w*|disabled?|always (?:safe|allow\w*)|unnecessary|no need|every command|evil)\b"),
    Pattern::block("agent_config_mod", Strict, &["approve", "allow", "run", "execute", "accept"],
        r"\s+(?:every|all|any|each)\s+(?:commands?|requests?|actions?|tools?|calls?|changes?)\s+without\s+(?:asking|confirm\w+|checking|review|approval)\b"),
    Pattern::block("agent_config_mod", Strict, &["今後", "これから", "以後", "次回から", "常に", "記憶", "覚え", "次のセッション"],
        r"[^\n]{0,120}?(?:警告|確認|セキュリティ|安全|承認|検査|許可)[^\n]{0,60}?(?:無視|不要|省略|せずに|なしで|飛ばし|しない|信頼|取ら(?:ない|ず)|とら(?:ない|ず)|求め(?:ない|ず)|待た(?:ない|ず)|聞か(?:ない|ず))"),
    Pattern::block("agent_config_mod", Strict, &["確認なし", "承認なし", "許可なし", "確認せず", "無条件"],
        r"(?:で|に)?[^\n]{0,30}?(?:実行|許可|承認)(?:する|して|せよ|こと)"),
];
