//! What a key does: it goes to the page, the question or the input, whichever is open.

use reyn_terminal::{Edited, Input};
use rustix::process::{Signal, kill_current_process_group};

use super::{Front, Kind};
use crate::chat::wire::Wish;
use crate::exit::Exit;

impl Front {
    pub(super) fn take_key(&mut self, input: &Input) {
        if self.page.is_some() {
            self.take_page_key(input);
            return;
        }
        if self.take_answer_key(input) {
            return;
        }
        let is_leaving = self.hint.take().is_some_and(|hint| hint.leaves);
        match self.editor.on_input(input) {
            Edited::Nothing | Edited::Changed => {}
            Edited::Submit(text) => self.submit(text),
            Edited::Interrupt => self.interrupt(is_leaving, true),
            Edited::Escape => self.interrupt(is_leaving, false),
            Edited::EndOfInput => self.leave(),
            Edited::ClearScreen => {
                let live = self.live();
                let _ = self.screen.clear(&live);
                self.last = Kind::Nothing;
            }
            Edited::Expand => self.expand(),
            // The key stops everything that was started with the chat, as it does elsewhere.
            Edited::Suspend => self.suspend(|| {
                let _ = kill_current_process_group(Signal::TSTP);
            }),
        }
    }

    fn submit(&mut self, text: String) {
        if self.is_reason() {
            self.refuse_because(text);
            return;
        }
        let is_command = is_command(&text);
        if is_command && matches!(text.trim(), "/quit" | "/exit") {
            self.leave();
            return;
        }
        let wish = if is_command { Wish::Command(text.clone()) } else { Wish::Say(text.clone()) };
        if !self.wish(wish) {
            self.editor.set_text(&text);
        } else if self.busy.is_some() {
            self.queued.push(text);
        }
    }

    /// Once stops what runs, or clears the input; twice leaves.
    fn interrupt(&mut self, is_leaving: bool, clears: bool) {
        if self.is_reason() {
            self.withdraw_reason();
        } else if let Some(busy) = &self.busy {
            if busy.is_cancelling {
                self.leave();
            } else {
                self.cancel();
            }
        } else if !self.editor.is_empty() {
            if clears {
                self.editor.set_text("");
            }
        } else if is_leaving {
            self.leave();
        } else {
            self.hint("again leaves; ctrl-D leaves at once", true);
        }
    }

    pub(super) fn cancel(&mut self) {
        self.wish(Wish::Cancel);
        if let Some(busy) = &mut self.busy {
            busy.is_cancelling = true;
        }
    }

    /// Leaves once the turn that runs is closed. Whoever does not want to wait for that leaves at once:
    /// everything that happened is written down already.
    fn leave(&mut self) {
        if self.busy.as_ref().is_some_and(|busy| busy.is_leaving) {
            let _ = self.screen.leave();
            reyn_terminal::RawMode::restore();
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        self.wish(Wish::Leave);
        if let Some(busy) = &mut self.busy {
            (busy.is_cancelling, busy.is_leaving) = (true, true);
        }
    }

    /// Gives the terminal back to the shell, asks to be stopped, and takes the terminal again once the shell has woken
    /// the process.
    pub(super) fn suspend(&mut self, stop: impl FnOnce()) {
        self.reader.pause();
        let _ = self.screen.leave();
        drop(self.raw_mode.take());
        if self.page.is_some() {
            self.close_page();
        }
        self.stops.wait(stop);
        self.raw_mode = reyn_terminal::RawMode::enter().ok();
        self.reader.resume();
        self.disarm_question();
        if let Ok((columns, rows)) = reyn_terminal::size() {
            self.resized = Some((columns, rows, std::time::Instant::now()));
        }
    }
}

/// Whether a text is a command: a slash and a word. A path such as `/etc/hosts is …` is none.
pub(crate) fn is_command(text: &str) -> bool {
    if let Some(rest) = text.strip_prefix('!') {
        return rest.starts_with(|c: char| !c.is_whitespace() && c != '!') && !rest.contains('\n');
    }
    let Some(rest) = text.strip_prefix('/') else { return false };
    let word = rest.split_whitespace().next().unwrap_or_default();
    !rest.starts_with(char::is_whitespace)
        && !rest.contains('\n')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '?'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_slash_and_a_word_or_what_is_meant_for_a_shell() {
        let table = [
            ("!ls -la", true),
            ("! ls", false),
            ("!!", false),
            ("!a\nb", false),
            ("/help", true),
            ("/", true),
            ("/model strong", true),
            ("/nonsense", true),
            ("/etc/hosts is what?", false),
            ("/ tmp", false),
            ("/help\nand more", false),
            ("hello /help", false),
            ("/日本", false),
        ];
        for (text, expected) in table {
            assert_eq!(is_command(text), expected, "{text:?}");
        }
    }
}
