//! Taking orders from a server, and covering the traces of it.

use super::Pattern;
use crate::scan::Scope::{Context};

/// What is looked for.
pub(super) const PATTERNS: &[Pattern] = &[
    Pattern::warn("c2_node_registration", Context, &["register", "enrol", "enroll", "sign up", "join", "announce"],
        r"\s+(?:yourself|this|the|your|itself)\b[^\n]{0,50}?(?:node|agent|worker|bot|implant|host|id|yourself|machine|client)?[^\n]{0,80}?(?:controller|https?:|swarm|c2\b|coordinator|botnet|mesh|hive)"),
    Pattern::warn("c2_node_registration", Context, &["ノード", "ワーカー", "ボット", "エージェント", "自分", "自身", "端末"],
        r"(?:として|を)[^\n]{0,60}?(?:登録|参加)(?:し|せ|する)(?:て|よ|こと|ろ)?"),
    Pattern::warn("c2_heartbeat", Context, &["heartbeat", "beacon", "ping", "check in", "check-in", "poll", "report in", "call home", "phone home"],
        r"[^\n]{0,80}?(?:https?:|wss?:|every\s+\w+\s+(?:seconds|minutes|hours)|wait for (?:commands|orders|instructions|tasks))"),
    Pattern::warn("c2_heartbeat", Context, &["ハートビート", "死活", "定期的に", "秒ごと", "分ごと", "分おき", "秒おき", "生存通知"],
        r"[^\n]{0,120}?(?:送信|送っ|送る|接続|問い合わせ|通知|アクセス)[^\n]{0,60}?(?:待|こと|ください|て|せよ|る)"),
    Pattern::warn("c2_task_pull", Context, &["pull", "fetch", "poll", "get", "retrieve", "download", "request", "receive", "take", "accept", "ask"],
        r"(?:\s+\w+){0,3}?\s+(?:tasks?|jobs?|orders|commands|instructions|work|assignments?)\b[^\n]{0,60}?(?:\bfrom\b|\bat\b|https?:|/work)[^\n]{0,100}?(?:https?:|server|controller|coordinator|obey|carry out|execute|run|c2)"),
    Pattern::warn("c2_task_pull", Context, &["タスク", "命令", "仕事", "ジョブ", "指令", "作業", "指示"],
        r"を[^\n]{0,30}?(?:取得|受け取|受信|ダウンロード|取りに|問い合わせ)[^\n]{0,60}?(?:実行|従|こな|処理|こと|ください|待)"),
    Pattern::warn("c2_network_connect", Context, &["connect", "join", "attach", "link up", "log on", "subscribe"],
        r"(?:\s+\w+){0,4}?\s+(?:network of agents|agent network|swarm|mesh|botnet|hive|controller|c2|command channel|wss?:\S+)\b"),
    Pattern::warn("forced_action", Context, &["you must immediately", "immediately run", "immediately execute", "run the following", "execute the following", "run this command", "execute this command"],
        r"[^\n]{0,80}?\b(?:command|report|script|and|now)\b"),
    Pattern::warn("forced_action", Context, &["次のコマンド", "以下のコマンド", "下記のコマンド", "このコマンド", "次のスクリプト", "次の命令"],
        r"[^\n]{0,40}?(?:今すぐ|必ず|直ちに|ただちに|すぐに|確認なし|無条件)[^\n]{0,40}?(?:実行|走らせ|入力)"),
    Pattern::block("known_c2_framework", Context, &["cobalt strike", "cobaltstrike", "sliver", "mythic", "havoc", "meterpreter", "brute ratel", "poshc2", "empire", "merlin", "metasploit", "covenant"],
        r"\s+(?:\w+\s+)?(?:beacon|implant|payload|stager|listener|team ?server|agent|session|c2)\b"),
    Pattern::block("known_c2_framework", Context, &["use", "start", "launch", "deploy", "run", "install", "set up", "with"],
        r"(?:\s+(?:the|a))?\s+(?:cobalt strike|sliver|mythic|havoc|meterpreter|brute ratel|poshc2|empire|metasploit|covenant|msfvenom)\s+(?:\w+\s+){0,3}?(?:to|generate|implant|beacon|payload|and|server)\b"),
    Pattern::block("c2_explicit", Context, &["connect", "check in", "report", "register", "beacon", "set up", "setup", "contact", "phone home", "call", "reach", "start", "obey", "wait for"],
        r"(?:\s+\w+){0,5}?\s+(?:c2|c&c|cnc)(?:\s+(?:server|node|channel|host))?\b"),
    Pattern::block("c2_explicit", Context, &["c2サーバ", "c&cサーバ", "c2 サーバ", "指令サーバ", "c2に", "司令サーバ"],
        r"[^\n]{0,40}?(?:接続|登録|連絡|報告|通信|受け取)(?:し|せ|する|て|り|っ|る)"),
    Pattern::block("c2_explicit_long", Context, &["connect", "check in", "report", "register", "set up", "setup", "contact", "establish", "start", "open", "keep", "join"],
        r"(?:\s+\w+){0,5}?\s+command[- ](?:and|&)[- ]control\s+(?:server|channel|node|infrastructure|link|host)"),
    Pattern::block("env_var_unset_agent", Context, &["unset", "env -u", "export -n", "delete", "clear", "remove"],
        r"[^\n]{0,60}?\b(?:claudecode|claude_code\w*|ai_agent|cursor_(?:agent|trace)\w*|reyn_\w{1,30}|codex_\w+|gemini_cli|agent_mode|is_agent)\b"),
    Pattern::warn("anti_forensic_oneliner", Context, &["history -c", "history -cw", "unset histfile", "histfile=/dev/null", "histsize=0", "set +o history", "clear-history", "export histfile="], ""),
    Pattern::warn("anti_forensic_oneliner", Context, &["rm", "shred", "truncate", "unlink", "> "],
        r"[^\n]{0,30}?(?:\.(?:bash|zsh|sh|python)_history|fish_history)"),
    Pattern::warn("anti_forensic_disk", Context, &["shred", "wipe", "srm", "dd if=/dev/zero", "dd if=/dev/urandom", "rm -rf", "rm -f", "truncate", "wevtutil cl", "journalctl --vacuum", "logrotate -f"],
        r"[^\n]{0,40}?(?:/var/log|\.log\b|/dev/sd|/dev/nvme|system\b|security\b|--vacuum|\bof=/dev/)"),
];
