//! The tasks.

use super::project::FILES;
use super::{Seen, Task};

/// A question of the README is answered from it: words that only its reader knows.
const README_WORDS: [&str; 14] = [
    "hash",
    "cach",
    "slow program",
    "disk",
    "zstd",
    "ptrace",
    "result",
    "cargo install",
    "windows",
    "ハッシュ",
    "ディスク",
    "結果",
    "キャッシュ",
    "保存",
];

pub(super) const TASKS: &[Task] = &[
    Task { said: "Summarize README.md in three bullet points.", is_met: |seen| tells_of_the_readme(seen) },
    Task { said: "What does README.md say this project is?", is_met: |seen| tells_of_the_readme(seen) },
    Task {
        said: "README.md を3つの箇条書きで日本語でまとめて。",
        is_met: |seen| tells_of_the_readme(seen) && seen.is_japanese(),
    },
    Task {
        said: "README.mdを一文で要約してください。",
        is_met: |seen| tells_of_the_readme(seen) && seen.is_japanese(),
    },
    Task { said: "What does HANDBOOK.md say?", is_met: |seen| tells_of_the_handbook(seen) },
    Task {
        said: "Summarize HANDBOOK.md in three bullet points.",
        is_met: |seen| tells_of_the_handbook(seen) && seen.words(&["- ", "1.", "* "]) > 0,
    },
    Task {
        said: "HANDBOOK.md には何が書いてありますか？",
        is_met: |seen| tells_of_the_handbook(seen) && seen.is_japanese(),
    },
    Task {
        said: "Does it run on Windows? See README.md.",
        is_met: |seen| seen.is_untouched() && seen.words(&["not supported", "no", "isn't"]) > 0,
    },
    Task {
        said: "Which license does this project have?",
        is_met: |seen| seen.is_untouched() && seen.words(&["MIT"]) > 0,
    },
    Task {
        said: "このプロジェクトのバージョンは？ Cargo.toml を見て。",
        is_met: |seen| seen.is_untouched() && seen.words(&["0.4.2"]) > 0,
    },
    Task {
        said: "In which file is the function parse_duration defined?",
        is_met: |seen| seen.is_untouched() && seen.words(&["src/time.rs", "time.rs"]) > 0,
    },
    Task {
        said: "How many files are in src?",
        is_met: |seen| seen.is_untouched() && seen.words(&["3", "three"]) > 0,
    },
    Task {
        said: "src フォルダには何がありますか？",
        is_met: |seen| seen.is_untouched() && seen.words(&["main.rs", "time.rs", "cache.rs"]) == 3,
    },
    Task {
        said: "What does the function parse_duration in src/time.rs do?",
        is_met: |seen| seen.is_untouched() && seen.words(&["second", "duration", "minute", "unit"]) >= 2,
    },
    Task {
        said: "Which crates does Cargo.toml depend on?",
        is_met: |seen| seen.is_untouched() && seen.words(&["zstd", "blake3"]) == 2,
    },
    Task {
        said: "What is the default of --size-max? It is in README.md.",
        is_met: |seen| seen.is_untouched() && seen.words(&["10GB", "10 GB"]) > 0,
    },
    Task {
        said: "Add a line 'Checked by me.' at the end of notes.md",
        is_met: |seen| ends_with_a_new_line(seen, "notes.md", "Checked by me."),
    },
    Task {
        said: "notes.md の最後に「確認済み」という行を追加して。",
        is_met: |seen| ends_with_a_new_line(seen, "notes.md", "確認済み"),
    },
    Task {
        said: "Add the line 'Thanks for reading.' at the end of README.md",
        is_met: |seen| ends_with_a_new_line(seen, "README.md", "Thanks for reading."),
    },
    Task {
        said: "Change the version in Cargo.toml to 0.5.0",
        is_met: |seen| is_replaced(seen, "Cargo.toml", "0.4.2", "0.5.0"),
    },
    Task {
        said: "Cargo.toml の edition を 2021 に変更して",
        is_met: |seen| is_replaced(seen, "Cargo.toml", "2024", "2021"),
    },
    Task {
        said: "In notes.md, replace Friday with Monday.",
        is_met: |seen| is_replaced(seen, "notes.md", "Friday", "Monday"),
    },
    Task {
        said: "Write a haiku about rain into haiku.txt",
        is_met: |seen| {
            seen.only_changed(&["haiku.txt"]) && seen.file("haiku.txt").is_some_and(|text| text.len() > 20)
        },
    },
    Task {
        said: "hello.py に「こんにちは」と表示するプログラムを書いて。",
        is_met: |seen| {
            seen.only_changed(&["hello.py"])
                && seen.file("hello.py").is_some_and(|text| text.contains("print"))
        },
    },
    Task {
        said: "Write a Rust program that says \"hello\" into hello.rs",
        is_met: |seen| {
            seen.only_changed(&["hello.rs"])
                && seen
                    .file("hello.rs")
                    .is_some_and(|text| text.contains("(\"") && text.trim_end().ends_with('}'))
        },
    },
    Task {
        said: "Delete old.txt",
        is_met: |seen| seen.only_changed(&["old.txt"]) && seen.file("old.txt").is_none(),
    },
    Task {
        said: "Show me a Rust example with a match on an Option.",
        is_met: |seen| seen.calls.is_empty() && seen.words(&["match", "Some(", "None =>", "}"]) == 4,
    },
    Task {
        said: "Show me how a for loop looks in Python.",
        is_met: |seen| seen.calls.is_empty() && seen.words(&["for ", " in "]) == 2,
    },
    Task {
        said: "Explain in two sentences what a mutex is.",
        is_met: |seen| seen.calls.is_empty() && seen.words(&["thread", "lock", "mutual", "process"]) > 0,
    },
    Task {
        said: "Rust の所有権を簡単に説明してください。",
        is_met: |seen| seen.calls.is_empty() && seen.is_japanese(),
    },
    Task { said: "Thanks!", is_met: |seen| seen.calls.is_empty() && !seen.answer.is_empty() },
    Task {
        said: "こんにちは。何ができますか？", is_met: |seen| seen.calls.is_empty() && seen.is_japanese()
    },
];

fn tells_of_the_readme(seen: &Seen<'_>) -> bool {
    seen.is_untouched() && seen.words(&README_WORDS) >= 2
}

/// Told, not copied.
fn tells_of_the_handbook(seen: &Seen<'_>) -> bool {
    const WORDS: [&str; 12] = [
        "team",
        "shar",
        "result",
        "trust",
        "clean",
        "small",
        "command",
        "チーム",
        "共有",
        "結果",
        "コマンド",
        "プログラム",
    ];
    seen.is_untouched() && seen.words(&WORDS) >= 2 && seen.answer.chars().count() < 1200
}

fn text_of(name: &str) -> &'static str {
    FILES.iter().find(|(file, _)| *file == name).map_or("", |(_, text)| text)
}

/// Whether the file is what it was and the line, with or without an empty one between.
fn ends_with_a_new_line(seen: &Seen<'_>, name: &str, line: &str) -> bool {
    let (before, after) = (text_of(name), seen.file(name).unwrap_or_default());
    let rest = after.strip_prefix(before.trim_end()).map(str::trim);
    seen.only_changed(&[name]) && rest == Some(line)
}

fn is_replaced(seen: &Seen<'_>, name: &str, old: &str, new: &str) -> bool {
    seen.only_changed(&[name]) && seen.file(name) == Some(text_of(name).replace(old, new))
}
