//! What this terminal can show.

use std::io::IsTerminal;

use rustix::termios::tcgetwinsize;

use super::{Finding, Surroundings};
use crate::output;

/// Variables that name the locale of characters, the strongest first.
const LOCALE_VARIABLES: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];
/// Columns below which text is hard to read.
const COLUMNS_MIN: u16 = 40;

pub(super) fn check(_: &Surroundings) -> Vec<Finding> {
    let term = variable("TERM");
    let out = std::io::stdout();
    if !out.is_terminal() {
        return vec![Finding::info("the output is no terminal: no colours, and nobody is asked")];
    }
    let term_shown = term.clone().unwrap_or_else(|| "no TERM".to_owned());
    let colours = if output::result_has_colours() { "colours" } else { "no colours" };
    let mut findings = vec![match tcgetwinsize(&out) {
        Ok(size) if size.ws_col >= COLUMNS_MIN => {
            Finding::ok(format!("{term_shown}, {} x {}, {colours}", size.ws_col, size.ws_row))
        }
        Ok(size) if size.ws_col > 0 => Finding::warn(
            format!("{term_shown}, {} x {}, {colours}: very narrow", size.ws_col, size.ws_row),
            "make the window wider",
        ),
        Ok(_) | Err(_) => Finding::info(format!("{term_shown}, of unknown size, {colours}")),
    }];
    findings.push(editing(term.as_deref(), std::io::stdin().is_terminal()));
    let locale = LOCALE_VARIABLES.into_iter().find_map(|name| Some((name, variable(name)?)));
    findings.extend(characters(locale.as_ref().map(|(name, value)| (*name, value.as_str()))));
    findings
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// How a line is typed into a chat here.
fn editing(term: Option<&str>, is_typed: bool) -> Finding {
    match (term, is_typed) {
        (_, false) => Finding::info("the input is no terminal: `reyn chat` reads plain lines"),
        (None, true) => Finding::info("`reyn chat` reads plain lines, since TERM is not set")
            .with_fix("`export TERM=xterm-256color`, if the terminal is one like it"),
        (Some("dumb"), true) => Finding::info("`reyn chat` reads plain lines, since TERM is `dumb`"),
        (Some(_), true) => Finding::ok("`reyn chat` can edit lines in place"),
    }
}

/// What the locale says of characters.
fn characters(locale: Option<(&str, &str)>) -> Vec<Finding> {
    let lower = locale.map(|(_, value)| value.to_ascii_lowercase()).unwrap_or_default();
    let is_utf8 = lower.contains("utf-8") || lower.contains("utf8");
    let fix = "`export LANG=C.UTF-8`, and set the terminal to UTF-8";
    let mut findings = vec![match locale {
        Some((name, value)) if is_utf8 => Finding::ok(format!("UTF-8 ({name}={value})")),
        Some((name, value)) => {
            Finding::warn(format!("{name}={value} is not UTF-8, in which Reyn writes"), fix)
        }
        None => Finding::warn("no locale is set (LANG), and Reyn writes UTF-8", fix),
    }];
    if ["ja", "zh", "ko"].iter().any(|language| lower.starts_with(language)) {
        findings.push(Finding::info(
            "characters that fonts draw in one column or two, such as `…` and `①`, count as one; when lines look \
             shifted, set ambiguous width to narrow in the terminal",
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    #[test]
    fn only_a_utf_8_locale_is_right() {
        for (locale, statuses) in [
            (Some(("LANG", "en_US.UTF-8")), vec![Status::Ok]),
            (Some(("LC_ALL", "C.utf8")), vec![Status::Ok]),
            (Some(("LANG", "ja_JP.UTF-8")), vec![Status::Ok, Status::Info]),
            (Some(("LANG", "ja_JP.eucJP")), vec![Status::Warn, Status::Info]),
            (Some(("LANG", "C")), vec![Status::Warn]),
            (None, vec![Status::Warn]),
        ] {
            let found: Vec<Status> = characters(locale).iter().map(|finding| finding.status).collect();
            assert_eq!(found, statuses, "{locale:?}");
        }
    }

    #[test]
    fn a_chat_edits_in_place_only_at_a_terminal_that_can() {
        let status = |term, is_typed| editing(term, is_typed).status;
        assert_eq!(status(Some("xterm"), true), Status::Ok);
        for (term, is_typed) in [(Some("dumb"), true), (None, true), (Some("xterm"), false)] {
            assert_eq!(status(term, is_typed), Status::Info, "{term:?} {is_typed}");
        }
    }
}
