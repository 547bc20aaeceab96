//! The commands of a chat: lines that begin with `/`. One file each, one row each in [`TABLE`].

mod clear;
mod context;
mod copy;
mod cost;
mod help;
mod model;
mod permissions;
mod quit;
mod resume;
mod save;
mod sessions;
mod tools;

use futures::future::BoxFuture;
use reyn_core::text::meant;
use reyn_terminal::{Line, Style};

use super::desk::{After, Desk};

pub(crate) use resume::past;

/// One command.
pub(crate) struct Slash {
    /// Its name, without the slash.
    pub name: &'static str,
    /// Its arguments, as help shows them; may be empty.
    pub arguments: &'static str,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// Runs it with what stands after its name. An error is what the person reads.
    pub run: for<'a> fn(&'a mut Desk, &'a str) -> BoxFuture<'a, Result<After, String>>,
}

/// Every command, in the order of the help.
static TABLE: [&Slash; 12] = [
    &help::SLASH,
    &tools::SLASH,
    &model::SLASH,
    &cost::SLASH,
    &context::SLASH,
    &permissions::SLASH,
    &sessions::SLASH,
    &resume::SLASH,
    &copy::SLASH,
    &save::SLASH,
    &clear::SLASH,
    &quit::SLASH,
];

/// Every command, in the order of the help.
pub(crate) fn all() -> impl Iterator<Item = &'static Slash> {
    TABLE.iter().copied()
}

/// Tells the editor what commands can be completed with.
pub(crate) fn set_names(desk: &Desk) {
    desk.names.set("tools", tools::names(desk));
    desk.names.set("model", model::names(desk));
    desk.names.set("resume", resume::names(desk));
    desk.names.set("permissions", vec![("revoke".to_owned(), "take a yes or a no back".to_owned())]);
    desk.names.set("help", all().map(|slash| (slash.name.to_owned(), slash.summary.to_owned())).collect());
}

/// Runs a line that begins with `/`. What goes wrong is printed; the chat goes on.
pub(crate) async fn run(desk: &mut Desk, line: &str) -> After {
    let line = line.trim();
    let (name, arguments) = line[1..].split_once(char::is_whitespace).unwrap_or((&line[1..], ""));
    let result = match find(name) {
        Ok(slash) => (slash.run)(desk, arguments.trim()).await,
        Err(words) => Err(words),
    };
    let after = result.unwrap_or_else(|words| {
        desk.has_failed = true;
        desk.ui.complain(&words);
        After::Stay
    });
    set_names(desk);
    after
}

fn find(name: &str) -> Result<&'static Slash, String> {
    let name = if name == "exit" { "quit" } else { name };
    if name.is_empty() || name == "?" {
        return Ok(&help::SLASH);
    }
    all().find(|slash| slash.name == name).ok_or_else(|| {
        let hint = match meant(name, all().map(|slash| slash.name)) {
            Some(near) => format!("did you mean `/{near}`?"),
            None => "/help lists the commands".to_owned(),
        };
        format!("there is no command `/{name}`; {hint}")
    })
}

/// Rows of two columns, the first one as wide as its widest word.
fn table(rows: &[(String, String)]) -> Vec<Line> {
    let width = rows.iter().map(|(left, _)| reyn_terminal::cell_width(left)).max().unwrap_or(0);
    rows.iter()
        .map(|(left, right)| {
            let mut line = Line::plain("  ");
            line.push(left, Style::BOLD);
            line.push(&" ".repeat(width + 2 - reyn_terminal::cell_width(left)), Style::PLAIN);
            line.push(right, Style::DIM);
            line
        })
        .collect()
}

/// A line about what was done.
fn done(words: &str) -> Vec<Line> {
    vec![Line::styled(words, Style::DIM)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_summaries_short() {
        let mut names: Vec<&str> = all().map(|slash| slash.name).collect();
        assert!(all().all(|slash| (1..=60).contains(&slash.summary.len())));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
    }

    #[test]
    fn a_wrong_name_is_told_with_the_near_one() {
        let told = |name| find(name).err().unwrap();
        assert_eq!(told("modle"), "there is no command `/modle`; did you mean `/model`?");
        assert_eq!(told("sesions"), "there is no command `/sesions`; did you mean `/sessions`?");
        assert_eq!(told("nope"), "there is no command `/nope`; /help lists the commands");
        assert_eq!(told("xyzzy"), "there is no command `/xyzzy`; /help lists the commands");
        assert_eq!(find("exit").ok().map(|slash| slash.name), Some("quit"));
    }
}
