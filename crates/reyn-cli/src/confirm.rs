//! A yes or no from the person at the terminal.

use std::io::BufRead;

use crate::output;

/// What an empty line means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Default {
    /// Yes.
    Yes,
    /// No.
    No,
}

/// Asks once. Whatever is no clear answer is a no, and so is the end of the input.
pub(crate) fn is_yes(question: &str, default: Default) -> bool {
    let letters = match default {
        Default::Yes => "[Y/n]",
        Default::No => "[y/N]",
    };
    output::note_part(&format!("{} {letters} ", output::for_terminal(question)));
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(taken) if taken > 0 => is_clear_yes(&line, default),
        Ok(_) | Err(_) => {
            output::note("");
            false
        }
    }
}

/// Whether a line says yes, where an empty one means `default`.
pub(crate) fn is_clear_yes(line: &str, default: Default) -> bool {
    match line.trim() {
        "" => default == Default::Yes,
        word => matches!(word, "y" | "Y" | "yes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        for (line, yes, no) in [
            ("", true, false),
            ("y\n", true, true),
            ("yes", true, true),
            ("n", false, false),
            ("yep", false, false),
        ] {
            let answers = [Default::Yes, Default::No].map(|default| is_clear_yes(line, default));
            assert_eq!(answers, [yes, no], "{line:?}");
        }
    }
}
