//! Carrying away what is private: keys, files, what was said.

use super::Pattern;
use crate::scan::Scope::{All, Context, Strict};

/// What is looked for.
pub(super) const PATTERNS: &[Pattern] = &[
    Pattern::block(
        "exfil_curl",
        All,
        &["curl"],
        r"[^\n]{0,200}?(?:\$\((?:cat|env|printenv)|(?:[?&]\w{0,20}=|-d\s*\S{0,40}|--data\S*\s\S{0,40}|-f\s\S{0,40})@SECRET_VARIABLE@|@(?:~|/home/\w+|/root|\$home)?/?\.(?:ssh|aws|env|netrc|gnupg|kube)|@/etc/(?:passwd|shadow)|`cat\s)",
    ),
    Pattern::block(
        "exfil_wget",
        All,
        &["wget"],
        r"[^\n]{0,200}?(?:\$\((?:cat|env|printenv)|[?&]\w{0,20}=@SECRET_VARIABLE@|--post-(?:file|data)[= ]\S{0,60}(?:\.ssh|\.env|\.aws|/etc/|@SECRET_VARIABLE@))",
    ),
    Pattern::block(
        "exfil_curl",
        All,
        &["env", "printenv", "cat", "tar", "base64", "set"],
        r"(?:\s[^\n|]{0,80})?\s?\|[^\n]{0,80}?\b(?:curl|wget|nc|ncat|telnet)\b[^\n]{0,80}?(?:https?:|-d\s?@-|\d+\.\d+\.\d+\.\d+|--data)",
    ),
    Pattern::block(
        "read_secrets",
        All,
        &[
            "cat", "read", "open", "print", "show", "display", "paste", "type", "less", "head", "copy",
            "load", "upload", "send", "post", "attach", "look at", "fetch", "include", "dump", "take",
            "submit", "forward", "mail", "email",
        ],
        r"(?:\s+(?:the|file|files|contents?|of|your|all|from|in|at|out|me|us)){0,5}\s+[\x22'`(]{0,2}(?:[~./\w-]{0,40}/)?@SECRET_FILE@[^\n]{0,80}?\b(?:and|then|,|&&|\|)[^\n]{0,40}?\b(?:include|paste|send|show|post|print|share|list|report|output|reply|answer|upload|e-?mail|curl|write|tell|append|put|submit|forward|transmit|deliver)\b",
    ),
    Pattern::block(
        "read_secrets",
        All,
        &[
            "collect",
            "gather",
            "find",
            "list",
            "extract",
            "harvest",
            "reveal",
            "tell me",
            "send",
            "print",
            "output",
            "dump",
            "search for",
            "look for",
            "give me",
        ],
        r"(?:\s+(?:me|us|all|every|any|the|your|each|of)){0,4}\s+@SECRET_WORD@\b[^\n]{0,100}?\b(?:repl(?:y|ies)|answer|response|send|post|here|list|include|to http|paste|write|report|output|email|upload)\b",
    ),
    Pattern::block(
        "read_secrets",
        All,
        &[
            ".env",
            "id_rsa",
            "id_ed25519",
            ".aws/credentials",
            "secrets.env",
            "/etc/passwd",
            "/etc/shadow",
            ".netrc",
            "secrets.yaml",
        ],
        r"[^\n]{0,80}?(?:の|を)[^\n]{0,80}?(?:貼り|表示|出力|送|書い|書き|含め|教え|見せ|報告)",
    ),
    Pattern::block(
        "read_secrets",
        All,
        &[
            "apiキー",
            "api キー",
            "認証情報",
            "秘密鍵",
            "パスワード",
            "資格情報",
            "アクセストークン",
            "機密情報",
        ],
        r"(?:を|は)?[^\n]{0,30}?(?:集め|収集|抜き出|探し|列挙|一覧|取得|読み取)[^\n]{0,60}?(?:書|送|表示|返信|報告|教|出力|貼)",
    ),
    Pattern::block(
        "read_secrets",
        All,
        &["append", "add", "put", "include", "insert", "attach", "encode", "send", "paste"],
        r"\s+(?:the\s+)?(?:values?|contents?)\s+of\s+[^.\n]{0,60}?(?:key|token|secret|password|credentials?)\b[^.\n]{0,30}?\b(?:variables?|environment|env)\b[^.\n]{0,30}?\b(?:to|in|into|as)\s+(?:this|that|the|following)\s+(?:\w+\s+)?(?:links?|urls?|address|query|images?)\b",
    ),
    Pattern::block(
        "read_secrets",
        All,
        &["環境変数", "保存された", "保存してある", "設定ファイル", "手元の", "端末の", "利用者の"],
        r"[^\n]{0,66}?(?:apiキー|api キー|認証情報|秘密鍵|パスワード|資格情報|トークン|機密)[^\n]{0,66}?を[^\n]{0,66}?(?:https?:|\w@\w|webhook|外部)[^\n]{0,198}?@SEND_J@",
    ),
    Pattern::warn(
        "context_exfil",
        Context,
        &["](http"],
        r"[^)\n]{0,160}?(?:[?&=/]\s*[\[{<(]{0,6}|%7b)[^)\n&]{0,132}?(?:\bconversation|\bchat|\bhistory|\btranscript|\bprompt|\bpassword|\bsecret|what the user|\buser's|会話|履歴|やり取り|発言|入力内容|パスワード|秘密)",
    ),
    // A picture is fetched as soon as it is shown.
    Pattern::block(
        "context_exfil",
        Context,
        &["](http"],
        r"[^)\n\x22\x27]{0,120}?[?&]\w{0,20}=(?:[\[{<(]{1,3}|%7b)?\s?(?:(?:insert|put|the|our|this|your|whole|full|entire|all|previous|everything|summary|of|user's|last)[ _+-]){1,5}(?:conversation|chat|history|transcript|messages?|context|prompt|questions?|secrets?|keys?|data|said)\b",
    )
    .after(r"!\[[^\]\n]{0,100}$"),
    Pattern::block(
        "context_exfil",
        Context,
        &["src=\"http", "src='http"],
        r"[^)\n\x22\x27]{0,120}?[?&]\w{0,20}=(?:[\[{<(]{1,3}|%7b)?\s?(?:(?:insert|put|the|our|this|your|whole|full|entire|all|previous|everything|summary|of|user's|last)[ _+-]){1,5}(?:conversation|chat|history|transcript|messages?|context|prompt|questions?|secrets?|keys?|data|said)\b",
    ),
    Pattern::block(
        "context_exfil",
        Context,
        &["](http"],
        r"[^)\n]{0,120}?=[^)\n]{0,88}?(?:会話|履歴|やり取り|発言|秘密|パスワード|入力)[^)\n]{0,66}?(?:を|の|入れ|埋め|付け)",
    )
    .after(r"!\[[^\]\n]{0,100}$"),
    Pattern::block(
        "send_to_url",
        Strict,
        &[
            "passwords",
            "tokens",
            "api keys",
            "private keys",
            "secrets",
            "credentials",
            "conversations",
            "transcripts",
            "chats",
            "prompts",
        ],
        r"[^\n]{0,90}?\b(?:is|are|be|gets?)\s+(?:(?:to\s+be|always|also|then)\s+){0,2}(?:sent|mailed|e-?mailed|posted|uploaded|forwarded|copied|transmitted|submitted|pushed)\b[^\n]{0,60}?@ADDRESS@",
    ),
    Pattern::block(
        "send_to_url",
        Strict,
        &[
            "send", "post", "upload", "forward", "transmit", "submit", "push", "email", "mail", "copy",
            "report", "deliver", "sync", "publish",
        ],
        r"[^\n]{0,80}?\b(?:@TALK@|it|output|results?|copy)\b[^\n]{0,80}?\b?@ADDRESS@",
    ),
    Pattern::block(
        "send_to_url",
        Strict,
        &["パスワード", "内容", "資料", "ファイル", "文書", "結果", "鍵", "秘密", "すべて", "データ", "キー"],
        r"[^\n]{0,140}?(?:https?:|\w@\w|webhook)[^\n]{0,60}?@SEND_J@",
    ),
    Pattern::block(
        "context_exfil",
        Strict,
        &[
            "include", "append", "encode", "encodes", "appends", "copy", "forward", "attach", "post", "send",
            "log", "record", "put", "add", "embed", "save", "share", "upload", "email", "mail", "transmit",
            "leak",
        ],
        r"[^\n]{0,60}?\b(?:conversation|chat|context|history|messages|what the user|transcript|session|dialogue|user said|user's)\b[^\n]{0,140}?(?:https?:|\burl\b|query|parameter|webhook|\bimage\b|\w@\w|external|remote|server)",
    ),
    Pattern::block(
        "context_exfil",
        Strict,
        &["!["],
        r"[^\]\n]{0,80}\]\(https?:[^)\n]{0,120}?(?:\{\{|\$\{|\{|%7b|\[)\s*(?:\w+[ _-])?(?:conversation|context|history|chat|messages?|data|summary|user|secret|prompt)",
    ),
    Pattern::block(
        "context_exfil",
        Strict,
        &["会話", "やり取り", "やりとり", "履歴", "対話", "発言", "文脈"],
        r"[^\n]{0,140}?(?:https?:|\w@\w|webhook|url|外部|サーバー|画像)[^\n]{0,120}?@SEND_J@",
    ),
    Pattern::block(
        "reyn_secret_access",
        Strict,
        &[".reyn/secrets.env", "secrets.env", "oauth_tokens.json", ".reyn/oauth", ".reyn/secrets"],
        "",
    ),
];
