//! What people read: every command that a page shows can be typed, every link leads somewhere, and every page is
//! there in both languages.

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap::error::ErrorKind;

use crate::args::Cli;
use crate::chat::slash;

/// Commands in all pages together; fewer would mean that the pages are not read.
const COMMANDS_MIN: usize = 80;
/// What may stand before a command on its line.
const BEFORE: [&str; 5] = ["!", "if", "then", "-", "run:"];

/// A page and its text.
struct Page {
    path: PathBuf,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn pages(folder: &str) -> Vec<Page> {
    let files = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    paths.sort();
    paths.into_iter().map(|path| Page { text: std::fs::read_to_string(&path).unwrap(), path }).collect()
}

fn all_pages() -> Vec<Page> {
    ["", "docs", "docs/guide", "docs/reference"].into_iter().flat_map(pages).collect()
}

/// Lines in which a person would type something: all of `sh`, `yaml` and `crontab`, and of `console` those after
/// the prompt. A line that ends with a backslash goes on.
fn typed_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    let mut fence: Option<&str> = None;
    let mut goes_on = false;
    for line in text.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = fence.is_none().then_some(language.trim());
            continue;
        }
        let line = match fence {
            Some("sh" | "yaml" | "crontab") => line.trim(),
            Some("console") if goes_on => line.trim(),
            Some("console") => match line.strip_prefix("$ ") {
                Some(line) => line.trim(),
                None => continue,
            },
            Some(_) | None => continue,
        };
        let (line, ends_open) = line.strip_suffix('\\').map_or((line, false), |line| (line, true));
        match lines.last_mut().filter(|_| goes_on) {
            Some(last) => last.push_str(line),
            None => lines.push(line.to_owned()),
        }
        goes_on = ends_open;
    }
    lines
}

/// The commands of a line as a shell splits them, each without what is redirected.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![vec![]];
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut is_target = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(letters.next()),
            (Some(_), letter) => word.get_or_insert_default().push(letter),
            (None, '"' | '\'') => {
                word.get_or_insert_default();
                quote = Some(letter);
            }
            (None, '#') if word.is_none() => break,
            (None, ' ' | '|' | '&' | ';' | '(' | ')' | '<' | '>') => {
                let is_number = word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit()));
                let word = word.take().filter(|_| !std::mem::take(&mut is_target));
                let is_redirection = matches!(letter, '<' | '>');
                all.last_mut().unwrap().extend(word.filter(|_| !(is_redirection && is_number)));
                if is_redirection {
                    letters.next_if(|next| matches!(next, '>' | '&'));
                    while letters.next_if_eq(&' ').is_some() {}
                    is_target = true;
                } else if letter != ' ' {
                    is_target = false;
                    all.push(vec![]);
                }
            }
            (None, letter) => word.get_or_insert_default().push(letter),
        }
    }
    all.last_mut().unwrap().extend(word.filter(|_| !is_target));
    all
}

/// The arguments of `reyn` where the command is that.
fn of_reyn(command: &[String]) -> Option<&[String]> {
    let is_before = |word: &&String| {
        let is_set = word
            .split_once('=')
            .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
        is_set || BEFORE.contains(&word.as_str())
    };
    let rest = &command[command.iter().take_while(is_before).count()..];
    let (first, arguments) = rest.split_first()?;
    (first == "reyn" || first.ends_with("/reyn")).then_some(arguments)
}

#[test]
fn every_command_of_the_guides_can_be_typed() {
    let mut count = 0;
    let mut wrong = vec![];
    for page in pages("docs/guide").into_iter().chain(pages("")) {
        for line in typed_lines(&page.text) {
            for command in commands(&line) {
                let Some(arguments) = of_reyn(&command) else { continue };
                count += 1;
                let words = std::iter::once("reyn").chain(arguments.iter().map(String::as_str));
                let Err(error) = Cli::command().try_get_matches_from(words) else { continue };
                if !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
                    wrong.push(format!("{}: {line}\n{error}", page.path.display()));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(count >= COMMANDS_MIN, "only {count} commands were found");
}

#[test]
fn every_link_leads_to_a_file_and_to_its_heading() {
    let mut dead = vec![];
    for page in all_pages() {
        let folder = page.path.parent().unwrap();
        let links =
            page.text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(link, _)| link));
        for link in links.filter(|link| !link.contains("://")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.path.clone() } else { folder.join(path) };
            let leads = if anchor.is_empty() {
                target.exists()
            } else {
                std::fs::read_to_string(&target).is_ok_and(|text| anchors(&text).any(|own| own == anchor))
            };
            if !leads {
                dead.push(format!("{}: {link}", page.path.display()));
            }
        }
    }
    assert_eq!(dead, Vec::<String>::new());
}

/// The names under which a page's headings are linked to.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let headings =
        text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    headings.map(|heading| {
        let letters = heading.to_lowercase().replace(' ', "-");
        letters.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
    })
}

#[test]
fn every_guide_is_there_in_both_languages_and_in_the_readme() {
    let names: Vec<String> = pages("docs/guide")
        .iter()
        .map(|page| page.path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let readmes =
        ["README.md", "README.ja.md"].map(|name| std::fs::read_to_string(root().join(name)).unwrap());
    let mut lacking = vec![];
    for name in &names {
        let english = name.replace(".ja.md", ".md");
        let others = [english.clone(), english.replace(".md", ".ja.md")];
        lacking.extend(others.into_iter().filter(|other| !names.contains(other)));
        lacking.extend(
            readmes.iter().filter(|text| !text.contains(&format!("docs/guide/{name}"))).map(|_| name.clone()),
        );
    }
    assert_eq!(lacking, Vec::<String>::new());
}

#[test]
fn every_command_of_a_chat_is_in_the_guide_to_it() {
    for name in ["daily-use.md", "daily-use.ja.md"] {
        let text = std::fs::read_to_string(root().join("docs/guide").join(name)).unwrap();
        let lacking: Vec<&str> = slash::all()
            .map(|slash| slash.name)
            .filter(|slash| !text.contains(&format!("`/{slash}")))
            .collect();
        assert_eq!(lacking, Vec::<&str>::new(), "{name}");
    }
}

#[test]
fn a_line_is_split_as_a_shell_splits_it() {
    let found = |line: &str| -> Vec<String> {
        commands(line).iter().filter_map(|command| of_reyn(command)).map(|words| words.join("|")).collect()
    };
    let table = [
        ("git diff | reyn ask \"write a message\"   # a comment", vec!["ask|write a message"]),
        ("cd x && /usr/bin/reyn ask 'a \"b\"' < /dev/null >> log 2>&1", vec!["ask|a \"b\""]),
        ("if ! reyn events --verify; then reyn doctor; fi", vec!["events|--verify", "doctor"]),
        ("NO_COLOR=1 reyn chat", vec!["chat"]),
        ("15 6 * * 1-5  cd x && reyn ask hi", vec!["ask|hi"]),
        ("source <(reyn completions bash)", vec!["completions|bash"]),
        ("man reyn", vec![]),
    ];
    for (line, expected) in table {
        assert_eq!(found(line), expected, "{line}");
    }
}
