//! Text that a model means as such inside a string of JSON, and writes as if it were outside.
//!
//! A small model that writes code into a string forgets to escape: its quote would end the string in the middle
//! of a line. What it wants to say after the quote tells which of the two it means.

/// What a token becomes that stands in a string as it is meant: escaped. `None` for one that needs no escape, or
/// that ends the string and goes on with the JSON around it.
pub(crate) fn escaped(token: &str) -> Option<String> {
    let (before, behind) = match token.split_once('"') {
        Some((before, behind)) => (before, Some(behind)),
        None => (token, None),
    };
    let is_escape = before.ends_with('\\');
    if is_escape || behind.is_some_and(|behind| behind.is_empty() || goes_on(behind)) {
        return None;
    }
    let text = quoted(token);
    (text != token).then_some(text)
}

/// The token that ends a string with its last letter, as text that does not end it.
pub(crate) fn as_text(token: &str) -> Option<String> {
    let is_end =
        token.split_once('"').is_some_and(|(before, behind)| behind.is_empty() && !before.ends_with('\\'));
    is_end.then(|| quoted(token))
}

/// Whether this is how JSON goes on behind a string.
pub(crate) fn goes_on(text: &str) -> bool {
    text.trim_start().starts_with(['}', ',', ']'])
}

/// The text as it stands inside a string. A backslash is left: the model writes its own escapes.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            other => quoted.push(other),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_meant_as_text_is_escaped_and_what_ends_a_string_is_not() {
        let table = [
            ("\"Hello", Some("\\\"Hello")),
            ("\n\n", Some("\\n\\n")),
            ("\")", Some("\\\")")),
            ("\"}", None),
            ("\"}\n", None),
            ("\", ", None),
            ("\"", None),
            ("\\\"", None),
            ("word", None),
        ];
        for (token, expected) in table {
            assert_eq!(escaped(token).as_deref(), expected, "{token:?}");
        }
    }

    #[test]
    fn a_quote_that_would_end_a_string_can_be_text() {
        let table = [
            ("\"", Some("\\\"")),
            ("!(\"", Some("!(\\\"")),
            ("\",", None),
            ("\"}}", None),
            ("\\\"", None),
            ("x", None),
        ];
        for (token, expected) in table {
            assert_eq!(as_text(token).as_deref(), expected, "{token:?}");
        }
    }

    #[test]
    fn a_string_is_followed_by_its_object_or_the_next_key() {
        assert_eq!(["}", ", ", " }", ")", "Hello", ""].map(goes_on), [true, true, true, false, false, false]);
    }
}
