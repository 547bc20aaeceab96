//! Whether a message is about a file that nobody has looked at yet.
//!
//! A small model answers such a message from the file's name, with a straight face. It is therefore not
//! offered an answer before it has made a call.

use crate::conversation::{Entry, Reply, asked, since_asked};

/// Endings of names that people mean a file by.
const ENDINGS: [&str; 48] = [
    "md", "txt", "rst", "adoc", "org", "toml", "json", "jsonl", "yaml", "yml", "ini", "cfg", "conf", "env",
    "lock", "xml", "csv", "tsv", "log", "html", "css", "rs", "py", "js", "ts", "jsx", "tsx", "go", "java",
    "kt", "c", "h", "cc", "cpp", "hpp", "cs", "rb", "php", "swift", "sh", "bash", "sql", "ipynb", "tex",
    "vue", "patch", "diff", "nix",
];
/// Longest name that is looked at, in bytes.
const NAME_BYTES_MAX: usize = 256;

/// Whether the latest message names a file that no call of the conversation has named, and the turn has had
/// no call yet.
#[must_use]
pub(crate) fn is_about_an_unseen_file(log: &[Entry]) -> bool {
    let Some(text) = asked(log) else { return false };
    if since_asked(log).iter().any(|entry| matches!(entry, Entry::Reply(_))) {
        return false;
    }
    file_names(&text).any(|name| !log.iter().any(|entry| names_it(entry, name)))
}

/// Whether the latest message names a page of the web that no call of the conversation has named, and the turn
/// has had no call yet.
#[must_use]
pub(crate) fn is_about_an_unseen_page(log: &[Entry]) -> bool {
    let Some(text) = asked(log) else { return false };
    if since_asked(log).iter().any(|entry| matches!(entry, Entry::Reply(_))) {
        return false;
    }
    let begins = ["https://", "http://"].into_iter().find_map(|scheme| Some((text.find(scheme)?, scheme)));
    let Some((at, scheme)) = begins else { return false };
    let is_of_an_address = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '`' | ')' | '(');
    let address = text[at..].split(|c| !is_of_an_address(c)).next().unwrap_or_default();
    let address = address.trim_end_matches(['.', ',', '?', '!', ':', ';', '\'']);
    address.len() > scheme.len() && !log.iter().any(|entry| names_it(entry, address))
}

/// Words that ask for a place in the files, with those for what stands there.
const PLACES: [&str; 3] = ["where", "which", "file"];
const DEFINED: [&str; 6] =
    ["defined", "declared", "implemented", "definition", "declaration", "implementation"];
/// The same in Japanese.
const PLACES_IN_JAPANESE: [&str; 2] = ["どこ", "どの"];
const DEFINED_IN_JAPANESE: [&str; 3] = ["定義", "宣言", "実装"];

/// Whether the latest message asks where something is defined, and no call of the turn was made yet. Its name is in the
/// files, and seldom in the names of files.
#[must_use]
pub(crate) fn asks_where_it_is_defined(log: &[Entry]) -> bool {
    let Some(text) = asked(log).map(|text| text.to_lowercase()) else { return false };
    if since_asked(log).iter().any(|entry| matches!(entry, Entry::Reply(_))) {
        return false;
    }
    let has_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    (has_word(&text, &PLACES) && has_word(&text, &DEFINED))
        || (has_any(&PLACES_IN_JAPANESE) && has_any(&DEFINED_IN_JAPANESE))
}

/// Words for what was indexed, beside the names of sources.
const INDEXED: [&str; 14] = [
    "doc",
    "docs",
    "documentation",
    "documents",
    "manual",
    "guide",
    "guides",
    "handbook",
    "notes",
    "according",
    "index",
    "sources",
    "recall",
    "passages",
];
/// The same in Japanese.
const INDEXED_IN_JAPANESE: [&str; 9] =
    ["ドキュメント", "資料", "文書", "マニュアル", "ガイド", "手順書", "索引", "によると", "によれば"];

/// Whether the latest message is about what was indexed, in one of these sources, and nothing was called yet.
#[must_use]
pub(crate) fn is_about_an_unasked_source(log: &[Entry], sources: &[&str]) -> bool {
    let Some(text) = asked(log).map(|text| text.to_lowercase()) else { return false };
    if sources.is_empty() || since_asked(log).iter().any(|entry| matches!(entry, Entry::Reply(_))) {
        return false;
    }
    let names: Vec<String> = sources.iter().map(|source| source.to_lowercase()).collect();
    let is_named = |name: &String| {
        if name.is_ascii() { has_word(&text, &[name.as_str()]) } else { text.contains(name.as_str()) }
    };
    has_word(&text, &INDEXED)
        || INDEXED_IN_JAPANESE.iter().any(|word| text.contains(word))
        || names.iter().any(is_named)
}

/// Words that ask for what is on the web.
const WEB: [&str; 14] = [
    "web", "internet", "online", "search", "google", "news", "latest", "website", "site", "today", "weather",
    "price", "release", "released",
];
/// The same in Japanese.
const WEB_IN_JAPANESE: [&str; 8] =
    ["ウェブ", "ネット", "検索", "調べて", "最新", "ニュース", "サイト", "天気"];

/// Whether the latest message asks for what is on the web.
#[must_use]
pub(crate) fn asks_for_the_web(log: &[Entry]) -> bool {
    let Some(text) = asked(log).map(|text| text.to_lowercase()) else { return false };
    text.contains("://") || has_word(&text, &WEB) || WEB_IN_JAPANESE.iter().any(|word| text.contains(word))
}

/// Words that ask to run a program, at the beginning of a message or before what is run.
const RUNS: [&str; 4] = ["run", "execute", "rerun", "launch"];
/// The same in Japanese.
const RUNS_IN_JAPANESE: [&str; 3] = ["実行して", "走らせ", "動かして"];

/// Whether the latest message says to run something.
#[must_use]
pub(crate) fn asks_to_run(log: &[Entry]) -> bool {
    let Some(text) = asked(log).map(|text| text.to_lowercase()) else { return false };
    // `how do I run it?` asks for words.
    let begins =
        text.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| !word.is_empty() && *word != "please");
    begins.is_some_and(|word| RUNS.contains(&word)) || RUNS_IN_JAPANESE.iter().any(|word| text.contains(word))
}

/// Programs that people name where they say what is to run.
const PROGRAMS: [&str; 36] = [
    "python", "python3", "pytest", "unittest", "tox", "uv", "pip", "cargo", "rustc", "npm", "npx", "node",
    "yarn", "pnpm", "jest", "vitest", "tsc", "deno", "bun", "go", "make", "cmake", "ctest", "just", "git",
    "ls", "cat", "bash", "sh", "mvn", "gradle", "dotnet", "ruby", "rake", "rspec", "docker",
];

/// Whether the latest message names the program or the file that is to run.
#[must_use]
pub(crate) fn names_what_runs(log: &[Entry]) -> bool {
    let Some(text) = asked(log).map(|text| text.to_lowercase()) else { return false };
    text.contains('`') || has_word(&text, &PROGRAMS) || file_names(&text).next().is_some()
}

/// Whether the latest message says to run one thing and no other after it.
#[must_use]
pub(crate) fn runs_once(log: &[Entry]) -> bool {
    let Some(text) = asked(log).map(|text| text.to_lowercase()) else { return false };
    let more = ["then", "again", "also", "twice", "both", "each"];
    let more_in_japanese = ["それから", "次に", "その後", "もう一度", "両方"];
    asks_to_run(log) && !has_word(&text, &more) && !more_in_japanese.iter().any(|word| text.contains(word))
}

/// Words that ask to change what is there.
const CHANGES: [&str; 22] = [
    "add",
    "append",
    "insert",
    "change",
    "edit",
    "replace",
    "fix",
    "update",
    "correct",
    "remove",
    "modify",
    "extend",
    "shorten",
    "translate",
    "delete",
    "rename",
    "set",
    "make",
    "swap",
    "bump",
    "convert",
    "rewrite",
];
/// The same in Japanese, where words are not set apart.
const CHANGES_IN_JAPANESE: [&str; 12] = [
    "追加",
    "追記",
    "変更",
    "修正",
    "直し",
    "直す",
    "置き換え",
    "更新",
    "書き換え",
    "変えて",
    "消して",
    "削除",
];

/// Those of them that change all of a text.
const REWRITES: [&str; 4] = ["translate", "convert", "rewrite", "shorten"];
/// The same in Japanese.
const REWRITES_IN_JAPANESE: [&str; 4] = ["翻訳", "訳して", "書き直", "書き換え"];

/// Words that ask to be told something.
const QUESTIONS: [&str; 25] = [
    "what",
    "which",
    "who",
    "why",
    "how",
    "where",
    "when",
    "does",
    "is",
    "are",
    "summarize",
    "summarise",
    "summary",
    "explain",
    "list",
    "show",
    "tell",
    "describe",
    "read",
    "find",
    "count",
    "compare",
    "give",
    "look",
    "check",
];
/// The same in Japanese.
const QUESTIONS_IN_JAPANESE: [&str; 14] = [
    "?",
    "？",
    "まとめ",
    "要約",
    "説明",
    "教えて",
    "何",
    "どこ",
    "どの",
    "なぜ",
    "一覧",
    "読んで",
    "見せて",
    "数えて",
];

/// Those of them that are met by the text itself.
const TO_BE_SHOWN: [&str; 8] = ["show", "print", "quote", "copy", "list", "give", "code", "line"];
/// The same in Japanese.
const TO_BE_SHOWN_IN_JAPANESE: [&str; 4] = ["見せて", "表示", "引用", "一覧"];

/// Words that ask for names, with those of what is named.
const LISTS: [&str; 4] = ["list", "name", "names", "which"];
const LISTED: [&str; 8] =
    ["file", "files", "folder", "folders", "directory", "directories", "subfolders", "subdirectories"];
/// The same in Japanese.
const LISTS_IN_JAPANESE: [&str; 6] = ["一覧", "挙げ", "リスト", "どれ", "どの", "列挙"];
const LISTED_IN_JAPANESE: [&str; 3] = ["ファイル", "フォルダ", "ディレクトリ"];

/// Words for the form of an answer.
const FORMS: [&str; 12] = [
    "bullet",
    "bullets",
    "point",
    "points",
    "sentence",
    "sentences",
    "paragraph",
    "paragraphs",
    "table",
    "steps",
    "words",
    "json",
];
/// The same in Japanese.
const FORMS_IN_JAPANESE: [&str; 6] = ["箇条書き", "一文で", "文で", "行で", "表で", "文字"];

/// Whether the latest message says which form the answer shall have.
#[must_use]
pub(crate) fn asks_for_a_form(log: &[Entry]) -> bool {
    let Some(text) = asked(log).map(|text| text.to_lowercase()) else { return false };
    has_word(&text, &FORMS) || FORMS_IN_JAPANESE.iter().any(|form| text.contains(form))
}

/// Whether the latest message asks for one sentence.
#[must_use]
pub(crate) fn asks_for_a_sentence(log: &[Entry]) -> bool {
    let Some(text) = asked(log).map(|text| text.to_lowercase()) else { return false };
    ["one sentence", "a sentence", "single sentence", "一文で", "1文で", "１文で", "一言で", "ひとことで"]
        .iter()
        .any(|form| text.contains(form))
}

/// Whether the latest message asks to see a text, or lines of it.
#[must_use]
pub(crate) fn asks_to_be_shown(log: &[Entry]) -> bool {
    let Some(text) = asked(log).map(|text| text.to_lowercase()) else { return false };
    has_word(&text, &TO_BE_SHOWN) || TO_BE_SHOWN_IN_JAPANESE.iter().any(|shown| text.contains(shown))
}

/// Whether the latest message asks for the names of files or folders.
#[must_use]
pub(crate) fn asks_for_names(log: &[Entry]) -> bool {
    let Some(text) = asked(log).map(|text| text.to_lowercase()) else { return false };
    let has_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    (has_word(&text, &LISTS) && has_word(&text, &LISTED))
        || (has_any(&LISTS_IN_JAPANESE) && has_any(&LISTED_IN_JAPANESE))
}

/// Numbers as words; the place of each is its number.
const NUMBERS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];
/// The same in Japanese, from one.
const NUMBERS_IN_JAPANESE: [&str; 10] = ["一", "二", "三", "四", "五", "六", "七", "八", "九", "十"];
/// What follows a number of things in Japanese.
const COUNTERS: [char; 5] = ['個', 'つ', '件', '本', '番'];

/// How many things the latest message asks for.
#[must_use]
pub(crate) fn number_asked(log: &[Entry]) -> Option<usize> {
    let text = asked(log)?.to_lowercase();
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation()));
    let number = |word: &str| {
        let written = NUMBERS.iter().position(|number| *number == word);
        written.or_else(|| word.parse().ok()).filter(|number| (1..=NAMES_MAX).contains(number))
    };
    let counted = || {
        let (before, _) = text.split_once(COUNTERS)?;
        let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let written =
            || NUMBERS_IN_JAPANESE.iter().position(|number| before.ends_with(number)).map(|at| at + 1);
        before[before.len() - digits..].parse().ok().or_else(written).filter(|number| *number <= NAMES_MAX)
    };
    words.filter_map(number).next().or_else(counted)
}

/// Names that are asked for at most in one message.
const NAMES_MAX: usize = 100;

/// Whether the latest message asks for what comes first.
#[must_use]
pub(crate) fn asks_for_the_first(log: &[Entry]) -> bool {
    let Some(text) = asked(log).map(|text| text.to_lowercase()) else { return false };
    has_word(&text, &["first"]) || text.contains("最初") || text.contains("先頭")
}

/// Whether the latest message is about folders, and says nothing of files.
#[must_use]
pub(crate) fn asks_for_folders(log: &[Entry]) -> bool {
    let text = asked(log).unwrap_or_default().to_lowercase();
    let has_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    has_any(&["folder", "director", "フォルダ", "ディレクトリ"]) && !has_any(&["file", "ファイル"])
}

/// Whether the latest message asks to be told something, and not to change anything. Of a message in other
/// words or languages nothing is known.
#[must_use]
pub(crate) fn asks_to_be_told(log: &[Entry]) -> bool {
    is_a_question(log) && !asks_for_a_change(log)
}

/// Whether the latest message says to change a file that it names, and asks nothing.
#[must_use]
pub(crate) fn says_to_change_a_file(log: &[Entry]) -> bool {
    let Some(text) = asked(log) else { return false };
    file_names(&text).next().is_some() && asks_for_a_change(log) && !is_a_question(log)
}

/// Whether the latest message names files, and none but those that `is_known`.
#[must_use]
pub(crate) fn names_only(log: &[Entry], is_known: &dyn Fn(&str) -> bool) -> bool {
    let Some(text) = asked(log) else { return false };
    let mut names = file_names(&text).peekable();
    names.peek().is_some() && names.all(is_known)
}

fn is_a_question(log: &[Entry]) -> bool {
    let Some(text) = asked(log) else { return false };
    let words = text.to_lowercase();
    has_word(&words, &QUESTIONS) || QUESTIONS_IN_JAPANESE.iter().any(|question| words.contains(question))
}

/// Whether one of these words stands in a text, outside the names of files.
fn has_word(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !is_of_a_name(c))
        .filter(|part| !is_file(&part.trim_matches('.')))
        .flat_map(|part| part.split(|c: char| !c.is_ascii_alphanumeric()))
        .any(|word| words.contains(&word))
}

fn file_names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !is_of_a_name(c)).map(|word| word.trim_matches('.')).filter(is_file)
}

/// Whether the latest message asks to change something that is there.
#[must_use]
pub(crate) fn asks_for_a_change(log: &[Entry]) -> bool {
    let Some(text) = asked(log).map(|text| text.to_lowercase()) else { return false };
    has_word(&text, &CHANGES) || CHANGES_IN_JAPANESE.iter().any(|change| text.contains(change))
}

/// Whether the latest message asks to change all of a text.
#[must_use]
pub(crate) fn asks_for_a_rewrite(log: &[Entry]) -> bool {
    let Some(text) = asked(log).map(|text| text.to_lowercase()) else { return false };
    has_word(&text, &REWRITES) || REWRITES_IN_JAPANESE.iter().any(|rewrite| text.contains(rewrite))
}

/// Words that ask to remember something, or to forget it.
const REMEMBERS: [&str; 5] = ["remember", "memorize", "memorise", "forget", "memory"];
/// The same in Japanese.
const REMEMBERS_IN_JAPANESE: [&str; 4] = ["覚えて", "覚えと", "記憶", "忘れて"];

/// Whether a message of the conversation asks to remember or to forget something.
#[must_use]
pub(crate) fn asks_to_remember(log: &[Entry]) -> bool {
    let asks = |text: &str| {
        let text = text.to_lowercase();
        has_word(&text, &REMEMBERS) || REMEMBERS_IN_JAPANESE.iter().any(|word| text.contains(word))
    };
    log.iter().any(|entry| matches!(entry, Entry::User { text } | Entry::Said { text } if asks(text)))
}

/// Whether a text is Japanese: it has letters that no other language has.
#[must_use]
pub(crate) fn is_japanese(text: &str) -> bool {
    text.chars().any(|letter| ('\u{3041}'..='\u{30ff}').contains(&letter))
}

/// Letters of a path as people write it in a sentence; a name in another script ends where its letters do.
const fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | ':')
}

fn is_file(word: &&str) -> bool {
    let Some((stem, ending)) = word.rsplit_once('.') else { return false };
    let name = stem.rsplit('/').next().unwrap_or(stem);
    word.len() <= NAME_BYTES_MAX
        && !word.contains(':')
        && name.chars().any(char::is_alphanumeric)
        && ENDINGS.contains(&ending)
}

/// Whether a reply holds a call about this file.
fn names_it(entry: &Entry, name: &str) -> bool {
    let about_it = |reply: &Reply| reply.calls.iter().any(|call| call.args.to_json().contains(name));
    match entry {
        Entry::Reply(reply) => about_it(reply),
        Entry::User { .. }
        | Entry::Said { .. }
        | Entry::Started { .. }
        | Entry::Finished { .. }
        | Entry::Nudged
        | Entry::LimitReached { .. }
        | Entry::Ended { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{Args, ToolCall};

    fn says(text: &str) -> Entry {
        Entry::User { text: text.into() }
    }

    #[test]
    fn a_message_may_ask_to_run_something_or_for_the_web() {
        let table = [
            ("run the tests and tell me what fails", true, false),
            ("Please run cargo test", true, false),
            ("テストを実行して", true, false),
            ("how do I run it?", false, false),
            ("what does it do in the long run?", false, false),
            ("search the web for landlock", false, true),
            ("Rust の最新バージョンは？", false, true),
            ("what is a mutex?", false, false),
        ];
        for (text, runs, web) in table {
            let log = [says(text)];
            assert_eq!((asks_to_run(&log), asks_for_the_web(&log)), (runs, web), "{text}");
        }
    }

    #[test]
    fn a_message_may_name_what_is_to_run() {
        let table = [
            ("run the tests", false),
            ("テストを実行して", false),
            ("run the tests with python3 -m unittest", true),
            ("`check` を実行して", true),
            ("run build.sh", true),
            ("cargo test を実行して", true),
        ];
        for (text, expected) in table {
            assert_eq!(names_what_runs(&[says(text)]), expected, "{text}");
        }
    }

    #[test]
    fn a_message_that_names_a_page_is_about_it_until_it_was_looked_at() {
        let table = [
            ("what is new in https://example.org/news ?", true),
            ("https://example.org/news を要約して", true),
            ("see (http://127.0.0.1:8000/a).", true),
            ("what does https:// mean?", false),
            ("what is example.org?", false),
        ];
        for (text, expected) in table {
            assert_eq!(is_about_an_unseen_page(&[says(text)]), expected, "{text}");
        }
        let args = Args::parse(r#"{"url": "https://example.org/news"}"#, false);
        let calls = vec![ToolCall { id: "1".into(), name: "web_fetch".into(), args }];
        let looked = [
            says("hi"),
            Entry::Reply(Reply { calls, ..Reply::default() }),
            says("and https://example.org/news?"),
        ];
        assert!(!is_about_an_unseen_page(&looked));
    }

    #[test]
    fn a_message_that_asks_where_something_is_defined_is_known() {
        for (text, expected) in [
            ("In which file is the trait BufMut defined?", true),
            ("where is `parse` implemented", true),
            ("parse はどこで定義されている？", true),
            ("what is a trait?", false),
            ("where is the README?", false),
            ("how is it implemented?", false),
        ] {
            assert_eq!(asks_where_it_is_defined(&[says(text)]), expected, "{text}");
        }
        let looked = [says("where is it defined?"), Entry::Reply(Reply::default())];
        assert!(!asks_where_it_is_defined(&looked));
    }

    #[test]
    fn a_message_about_what_was_indexed_is_one_that_names_it() {
        let table = [
            ("how do I rotate a key? use the docs", true),
            ("what do my notes say about keys?", true),
            ("how are keys rotated, as in runbooks", true),
            ("資料によると鍵はいつ交換する？", true),
            ("運用メモにある鍵の交換", true),
            ("what is a noun?", false),
            ("what does docs/a.md say?", false),
        ];
        for (text, expected) in table {
            let is_about = is_about_an_unasked_source(&[says(text)], &["runbooks", "運用メモ"]);
            assert_eq!(is_about, expected, "{text}");
        }
        assert!(!is_about_an_unasked_source(&[says("use the docs")], &[]));
        let args = Args::parse("{}", false);
        let calls = vec![ToolCall { id: "1".into(), name: "recall".into(), args }];
        let looked = [says("use the docs"), Entry::Reply(Reply { calls, ..Reply::default() })];
        assert!(!is_about_an_unasked_source(&looked, &["docs"]));
    }

    #[test]
    fn a_message_that_names_a_file_is_about_it() {
        let table = [
            ("what does README.md say about security?", true),
            ("README.mdは何の説明ですか？", true),
            ("explain `src/main.rs`, please", true),
            ("look at (docs/a.txt).", true),
            ("what is a noun?", false),
            ("e.g. i.e. 1.46 v2.0", false),
            ("what is Node.js", true),
            ("fetch https://example.org/a.md", false),
            ("files that end in .md", false),
            ("", false),
        ];
        for (text, expected) in table {
            assert_eq!(is_about_an_unseen_file(&[says(text)]), expected, "{text}");
        }
    }

    #[test]
    fn a_message_may_say_to_change_a_file() {
        let table = [
            ("Add a line to README.md", true),
            ("README.mdに一行追加して", true),
            ("how would you fix README.md?", false),
            ("explain what to add to README.md", false),
            ("add two numbers", false),
        ];
        for (text, expected) in table {
            assert_eq!(says_to_change_a_file(&[says(text)]), expected, "{text}");
        }
    }

    #[test]
    fn a_message_may_ask_to_be_told_something() {
        let table = [
            ("Summarize README.md in three points", true),
            ("README.md を3つの箇条書きでまとめて。", true),
            ("which license does it have", true),
            ("show a.md and fix the typo", false),
            ("can you delete a.md", false),
            ("今日は", false),
            ("corrige la faute dans a.md", false),
            ("README.mdの誤字を直して", false),
        ];
        for (text, expected) in table {
            assert_eq!(asks_to_be_told(&[says(text)]), expected, "{text}");
        }
    }

    #[test]
    fn a_message_may_ask_for_a_change() {
        let table = [
            ("Add a line to README.md", true),
            ("please fix the typo in a.md", true),
            ("README.mdに一行追加して", true),
            ("put hello into b.txt", false),
            ("write a poem to poem.txt", false),
            ("b.txt を作って", false),
            ("what is in a.md?", false),
        ];
        for (text, expected) in table {
            assert_eq!(asks_for_a_change(&[says(text)]), expected, "{text}");
        }
    }

    #[test]
    fn a_message_may_ask_to_change_all_of_a_text_and_be_japanese() {
        let table = [
            ("translate a.md", true, false),
            ("a.md を英語に翻訳して", true, true),
            ("add a line to a.md", false, false),
            ("a.md に一行追加して", false, true),
            ("翻译 a.md", false, false),
        ];
        for (text, is_rewrite, in_japanese) in table {
            assert_eq!(
                (asks_for_a_rewrite(&[says(text)]), is_japanese(text)),
                (is_rewrite, in_japanese),
                "{text}"
            );
        }
    }

    #[test]
    fn a_file_that_was_looked_at_and_a_turn_that_has_a_reply_are_free() {
        let call = |path: &str| {
            let args = Args::parse(&format!(r#"{{"path":"{path}"}}"#), false);
            let calls = vec![ToolCall { id: "a".into(), name: "read_file".into(), args }];
            Entry::Reply(Reply { calls, ..Reply::default() })
        };
        let seen = [says("read a.md"), call("docs/a.md"), says("what else does a.md say?")];
        assert!(!is_about_an_unseen_file(&seen));
        let other = [says("read a.md"), call("a.md"), says("and b.md?")];
        assert!(is_about_an_unseen_file(&other));
        assert!(!is_about_an_unseen_file(&[says("read a.md"), call("elsewhere")]));
    }
}
