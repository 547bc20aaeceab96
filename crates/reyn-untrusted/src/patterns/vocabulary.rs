//! Words that many patterns share, written `@NAME@` in them.

/// Who is spoken to.
pub(crate) const AI: &[&str] = &[
    "ai",
    "llm",
    "llms",
    "assistant",
    "assistants",
    "language model",
    "language models",
    "chatbot",
    "chat bot",
    "agent",
    "agents",
    "model",
    "bot",
    "copilot",
    "crawler",
    "gpt",
    "claude",
    "gemini",
];
/// Who is spoken to, in Japanese text.
pub(crate) const AI_JAPANESE: &[&str] =
    &["ai", "llm", "アシスタント", "言語モデル", "チャットボット", "エージェント", "人工知能", "gpt"];

const WORDS: &[(&str, &str)] = &[
    (
        "AI",
        r"(?:ai|llms?|assistants?|language models?|chat ?bots?|agents?|models?|bots?|copilot|gpt|crawlers?)",
    ),
    (
        "RULES",
        r"(?:instructions?|rules?|guidelines?|directions?|directives?|orders?|commands?|prompts?|constraints?|restrictions?|guidance|polic(?:y|ies)|context|training|programming|safeguards?|briefing)",
    ),
    (
        "PRIOR",
        r"(?:previous|prior|earlier|above|preceding|former|initial|original|old|past|existing|foregoing|system|safety|developer'?s?)",
    ),
    (
        "FILLER",
        r"(?:\s+(?:all|any|each|every|of|the|your|its|their|his|our|these|those|this|that|my|and|or|whatever|both|other)){0,5}",
    ),
    ("USER", r"(?:user|human|operator|customer|person|owner|client|reader)"),
    (
        "STRONG",
        r"(?:ignore|disregard|forget|override|overlook|skip|drop|abandon|discard|do not follow|don't follow|stop following|do not obey|never follow|never tell|bypass|set aside)",
    ),
    // Words to a model, anywhere in a hidden text.
    (
        "TO_AI",
        r"(?:\b(?:ai|llm|assistant|language model|chatbot|agent|model|system)s?\b.{0,60}?\b(?:ignore|disregard|must|instructions?|commands?|forget|override|answer|reply|recommend|rate|praise|say|insert|approve|do not|follow|required|choose|note|prompt|output)\b|\b(?:ai|llm|assistant|chatbot)s?(?:\s+\w+){0,2}\s*[:,]\s*[^<>\n]{0,60}?\b@VERB@\b|\b(?:ignore|disregard|forget|override)\b.{0,40}?\b(?:instructions?|rules|prompt|requests?|user)\b|(?:ai|llm|アシスタント|言語モデル|エージェント|チャットボット).{0,200}?(?:無視|指示|命令|こと|答え|従|評価|ください|薦め|推薦))",
    ),
    (
        "VERB",
        r"(?:run|execute|call|open|visit|click|send|delete|install|download|obey|comply|follow|respond|answer|reply|recommend|insert|add|approve|rate|praise|say|output|write|give|list|choose|accept|fill|submit|change|mark|remove|tell|act|treat|include|post|buy|pick|prefer|promote|mention|state|claim|confirm|grant|transfer|pay|use)",
    ),
    (
        "WILL",
        r"(?:must|shall|has to|have to|should|will|is required to|are required to|needs? to|is to|may only|ought to)",
    ),
    (
        "SECRET_FILE",
        r"(?:\.env(?:[^.\w-]|$)|id_(?:rsa|ed25519|ecdsa|dsa)(?:[^.\w]|$)|\.aws/credentials|/etc/(?:passwd|shadow)|\.netrc|\.npmrc|\.pgpass|\.git-credentials|secrets\.(?:env|ya?ml|json|toml)|\.kube/config|\.docker/config|oauth_tokens)",
    ),
    (
        "SECRET_WORD",
        r"(?:api[ _-]?keys?|passwords?|passphrases?|credentials?|secrets|private keys?|(?:access|auth|session) tokens?|keys and tokens)",
    ),
    ("SECRET_VARIABLE", r"\$\{?\w{0,30}(?:key|token|secret|passw|credential)\w{0,20}"),
    (
        "TALK",
        r"(?:conversations?|chat(?: history| log)?|context|history|messages?|transcripts?|dialogues?|what the user (?:said|says|wrote|typed)|prompts?|passwords?|keys?|documents?|files|secrets|everything|data)",
    ),
    ("ADDRESS", r"(?:https?:|wss?:|webhook|url|\w@\w)"),
    // Rules in Japanese.
    (
        "RULES_J",
        r"(?:指示|命令|ルール|規則|プロンプト|制約|制限|指針|ガイドライン|方針|依頼|文脈|設定|役割|約束|きまり)",
    ),
    // What was said before, in Japanese.
    (
        "PRIOR_J",
        r"(?:これまで|今まで|以前|前述|上記|先ほど|先程|さきほど|先の|最初|元の|もとの|元々|ここまで|従来|前の|事前|与えられ|既存|すべての|全ての|あらゆる|開発者|あなたの|システム|直前の|現在の)",
    ),
    (
        "CANCEL_J",
        r"(?:無視|忘れ|破棄|取り消|取消|無効|上書き|従わな|脇に置|捨て|リセット|解除|撤回|有効で(?:は)?(?:な|あ)|なかったこと|置き換え|守らな|廃止)",
    ),
    (
        "DO_J",
        r"(?:て(?:いただ|も|、|。|\n|$|」|く)|て下さい|せよ|しろ|なさい|ること|こと(?:(?:、|」|\n)|$)|ください|下さい|ませ|ましょう|(?:ませ|せ)ん|し(?:、|た(?:上|うえ))|です(?:\n|$)|されました(?:\n|$)|い(?:、|\n|$)|ろ(?:\n|$|」))",
    ),
    ("AI_J", r"(?:ai|llm|gpt|アシスタント|言語モデル|チャットボット|エージェント|人工知能|モデル)"),
    ("USER_J", r"(?:ユーザー|ユーザ|利用者|使用者|人間|お客様|顧客|本人|相手)"),
    ("SEND_J", r"(?:送信|転送|送る|送っ|送り|送付|投稿|アップロード|読み込|通知|提出|メール|post)"),
];

/// A pattern with the shared words written out.
pub(crate) fn expanded(pattern: &str) -> String {
    WORDS.iter().fold(pattern.to_owned(), |pattern, (name, words)| {
        let mark = format!("@{name}@");
        if pattern.contains(&mark) { pattern.replace(&mark, words) } else { pattern }
    })
}
