//! From the text of a regular expression to what runs.

use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};

use crate::SearchError;
use crate::bounds::{PATTERN_BYTES_MAX, REGEX_BYTES_MAX};
use crate::grep::GrepRequest;

/// A compiled regular expression and how it is to be run.
#[derive(Debug, Clone)]
pub(crate) struct Matching {
    pub(crate) matcher: RegexMatcher,
    /// Whether a match can go across lines.
    pub(crate) is_multi_line: bool,
    /// Whether `\r` before `\n` is part of the text that is matched; only across lines.
    pub(crate) does_see_cr: bool,
}

impl Matching {
    pub(crate) fn new(request: &GrepRequest) -> Result<Self, SearchError> {
        let pattern = request.pattern.as_str();
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(SearchError::Pattern(format!(
                "the regular expression is longer than {PATTERN_BYTES_MAX} bytes"
            )));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(!request.is_case_sensitive)
            .multi_line(true)
            .size_limit(REGEX_BYTES_MAX)
            .dfa_size_limit(REGEX_BYTES_MAX);
        if !asks_for_lines_together(pattern) {
            match builder.crlf(true).build(pattern) {
                Ok(matcher) => return Ok(Self { matcher, is_multi_line: false, does_see_cr: false }),
                // A line ending is written in the expression.
                Err(error) if matches!(error.kind(), ErrorKind::NotAllowed(_)) => {}
                Err(error) => return Err(refused(pattern, &error)),
            }
        }
        let matcher = builder.crlf(false).build(pattern).map_err(|error| refused(pattern, &error))?;
        Ok(Self { matcher, is_multi_line: true, does_see_cr: has_cr(pattern) })
    }
}

/// Whether an expression can mean more than a line without a line ending written in it.
fn asks_for_lines_together(pattern: &str) -> bool {
    const EVERYTHING: [&str; 6] = [r"[\s\S]", r"[\S\s]", r"[\d\D]", r"[\D\d]", r"[\w\W]", r"[\W\w]"];
    EVERYTHING.iter().any(|class| pattern.contains(class))
        || pattern.match_indices("(?").any(|(at, _)| {
            let flags = pattern[at + 2..].chars().take_while(char::is_ascii_alphabetic);
            let is_escaped = pattern[..at].chars().rev().take_while(|c| *c == '\\').count() % 2 == 1;
            let ends_as_flags = pattern[at + 2..]
                .trim_start_matches(|c: char| c.is_ascii_alphabetic())
                .starts_with([')', ':', '-']);
            !is_escaped && ends_as_flags && flags.into_iter().any(|flag| flag == 's')
        })
}

fn has_cr(pattern: &str) -> bool {
    ["\r", r"\r", r"\x0d", r"\x0D"].iter().any(|cr| pattern.contains(cr))
}

fn refused(pattern: &str, error: &grep_regex::Error) -> SearchError {
    let text = error.to_string();
    let reason = text.rsplit_once("error: ").map_or(text.as_str(), |(_, reason)| reason).trim();
    let hint = if reason.contains("look-") {
        "match the text around it too, or find the lines first and read them"
    } else if reason.contains("backreference") {
        "write the repeated text out"
    } else if reason.contains("size limit") {
        "make its repetitions smaller"
    } else {
        r"to search for `( ) [ ] { } . * + ? ^ $ | \` as they stand, put a `\` before each"
    };
    let shown = reyn_core::text::excerpt(pattern, PATTERN_CHARS_SHOWN);
    SearchError::Pattern(format!(
        "`{shown}` is no regular expression that can be searched for: {reason}; {hint}"
    ))
}

const PATTERN_CHARS_SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GrepMode;

    fn request(pattern: &str) -> GrepRequest {
        GrepRequest {
            pattern: pattern.to_owned(),
            glob: None,
            is_case_sensitive: true,
            mode: GrepMode::Content,
            before: 0,
            after: 0,
            include_ignored: false,
            offset: 0,
            max_results: 10,
            output_bytes_max: 10_000,
        }
    }

    #[test]
    fn an_expression_is_matched_across_lines_only_when_it_says_so() {
        let cases = [
            (r"a\nb", true, false),
            ("a\nb", true, false),
            (r"a\x0Ab", true, false),
            (r"a\r\nb", true, true),
            (r"a\r$", true, true),
            (r"(?s)a.b", true, false),
            (r"(?is:a.b)", true, false),
            (r"a[\s\S]*b", true, false),
            (r"a\sb", false, false),
            (r"a[^b]c", false, false),
            (r"(?i)a.b", false, false),
            (r"(?-s)a.b", false, false),
            (r"\(?s\)", false, false),
            (r"(?P<s>a)", false, false),
            (r"(?<s>a)", false, false),
        ];
        for (pattern, is_multi_line, does_see_cr) in cases {
            let matching = Matching::new(&request(pattern)).unwrap();
            assert_eq!(
                (matching.is_multi_line, matching.does_see_cr),
                (is_multi_line, does_see_cr),
                "{pattern}"
            );
        }
    }

    #[test]
    fn an_expression_that_cannot_run_is_refused_with_what_to_do() {
        let literal = r"to search for `( ) [ ] { } . * + ? ^ $ | \` as they stand, put a `\` before each";
        let around = "look-around, including look-ahead and look-behind, is not supported; \
                      match the text around it too, or find the lines first and read them";
        let cases = [
            ("(?=a)b", around.to_owned()),
            ("(?<!a)b", around.to_owned()),
            (r"(a)\1", "backreferences are not supported; write the repeated text out".to_owned()),
            ("fn main(", format!("unclosed group; {literal}")),
            (
                r"(a{1000}){1000}",
                "compiled regex exceeds size limit of 4194304; make its repetitions smaller".to_owned(),
            ),
        ];
        for (pattern, reason) in cases {
            let text = format!("`{pattern}` is no regular expression that can be searched for: {reason}");
            assert_eq!(Matching::new(&request(pattern)).map(drop), Err(SearchError::Pattern(text)));
        }
        assert!(Matching::new(&request(r"fn main\(")).is_ok());
    }
}
