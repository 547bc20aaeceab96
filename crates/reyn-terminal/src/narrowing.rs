//! What a terminal makes of rows that are wider than its new size.

/// What a terminal makes of rows that are wider than its new size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Narrowing {
    /// It breaks them into several.
    Breaks,
    /// It cuts them, or it is not known.
    Cuts,
}

/// Variables that are set where rows are broken.
const SET_BY_BREAKING: [&str; 7] = [
    "TMUX",
    "VTE_VERSION",
    "KITTY_WINDOW_ID",
    "ALACRITTY_WINDOW_ID",
    "WEZTERM_PANE",
    "WT_SESSION",
    "GHOSTTY_RESOURCES_DIR",
];
/// Values of `TERM_PROGRAM` that name such terminals.
const BREAKING_PROGRAMS: [&str; 6] = ["iTerm.app", "Apple_Terminal", "vscode", "WezTerm", "ghostty", "tmux"];
/// What `TERM` begins with there, also where no other variable comes along.
const BREAKING_TERMS: [&str; 6] = ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "tmux", "wezterm"];
/// Variables of terminals that cut, which may have been started in one that breaks.
const SET_BY_CUTTING: [&str; 2] = ["XTERM_VERSION", "STY"];

impl Narrowing {
    /// Finds out from the variables of the environment. In doubt it is [`Self::Cuts`].
    #[must_use]
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_set = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
        if SET_BY_CUTTING.iter().any(is_set) {
            return Self::Cuts;
        }
        let program = variable("TERM_PROGRAM").unwrap_or_default();
        let term = variable("TERM").unwrap_or_default();
        if SET_BY_BREAKING.iter().any(is_set)
            || BREAKING_PROGRAMS.contains(&program.as_str())
            || BREAKING_TERMS.iter().any(|name| term.starts_with(name))
        {
            Self::Breaks
        } else {
            Self::Cuts
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_known_by_its_variables() {
        let table: [(&[(&str, &str)], Narrowing); 8] = [
            (&[("TERM", "xterm-256color")], Narrowing::Cuts),
            (&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")], Narrowing::Breaks),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "vscode")], Narrowing::Breaks),
            (&[("TERM", "xterm-kitty")], Narrowing::Breaks),
            (&[("TERM", "screen-256color"), ("TMUX", "/tmp/tmux,1,0")], Narrowing::Breaks),
            (&[("TERM", "screen-256color"), ("STY", "1.x"), ("VTE_VERSION", "7600")], Narrowing::Cuts),
            (&[("TERM", "xterm"), ("XTERM_VERSION", "XTerm(390)"), ("VTE_VERSION", "1")], Narrowing::Cuts),
            (&[], Narrowing::Cuts),
        ];
        for (set, expected) in table {
            let variable = |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(Narrowing::of(variable), expected, "{set:?}");
        }
    }
}
