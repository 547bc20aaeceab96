//! The screen of the chat: what is printed, the live region below it, and what the keys do.

mod asking;
mod frame;
mod keys;
mod page;

pub(crate) use keys::is_command;

use std::collections::VecDeque;
use std::fs::File;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use reyn_terminal::{
    Editor, Input, InputReader, Line, MarkdownStream, RawMode, Screen, Style, diff_lines, wrap,
};
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

use super::status::Status;
use super::stops::Stops;
use super::turn_view::said_lines;
use super::wire::{CallEnded, News, Wish};
use crate::approval::visible_diff;
use asking::Asking;
use frame::one_row;
use page::Page;

/// Time between two frames while text streams in.
const FRAME_MS: u64 = 33;
/// Time between two steps of the spinner.
const SPIN_MS: u64 = 100;
/// How long the size must stay before the screen is painted anew.
const RESIZE_QUIET_MS: u64 = 60;
/// How long a hint stays, and how long a second press counts as one.
const HINT_MS: u64 = 2_000;
/// Results that can be looked at again.
const RESULTS_MAX: usize = 50;
/// All of them together, in bytes.
const RESULTS_BYTES_MAX: usize = 4 << 20;
/// Lines of a change shown in the conversation; the rest is a key away.
const DIFF_LINES_MAX: usize = 40;
/// Columns by which a broken line goes on further in, at most: no row of it begins where lines of ours do.
const INDENT_MAX: usize = 6;
/// What a person should not pass over.
const YELLOW: Style = Style::of(reyn_terminal::Colour::Yellow);
/// News taken at once before the screen is painted.
const NEWS_AT_ONCE_MAX: usize = 512;

/// What the last printed lines were; another kind begins after an empty line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nothing,
    Said,
    Answer,
    Call,
    Question,
    Note,
    Farewell,
}

/// A turn that runs.
struct Busy {
    since: Instant,
    /// What runs now.
    what: String,
    is_cancelling: bool,
    /// Whether the chat ends with it.
    is_leaving: bool,
}

/// Spaces that a line begins with.
fn leading(line: &Line) -> usize {
    line.text().chars().take_while(|c| *c == ' ').count()
}

/// A change as the conversation shows it: its first lines, indented, coloured. `all` is what a key shows.
fn diff_part(excerpt: &str, all: &str) -> Vec<Line> {
    let (lines, _) = diff_lines(&visible_diff(excerpt), DIFF_LINES_MAX);
    let mut shown: Vec<Line> = lines
        .iter()
        .map(|line| {
            let mut indented = Line::plain("    ");
            indented.append(line);
            indented
        })
        .collect();
    let (_, count) = diff_lines(all, 0);
    let left_out = count.saturating_sub(lines.len());
    if left_out > 0 {
        shown.push(Line::styled(&format!("    … {left_out} more lines; ctrl-O shows them"), Style::DIM));
    } else if all.len() > excerpt.len() {
        shown.push(Line::styled("    … the lines are longer; ctrl-O shows them", Style::DIM));
    }
    shown
}

/// Words in place of the status for a moment.
struct Hint {
    line: Line,
    until: Instant,
    /// Whether leaving is a press away.
    leaves: bool,
}

/// A result that can be looked at again.
struct Shown {
    title: Line,
    full: String,
}

/// Owns the terminal from its start to its end.
pub(crate) struct Front {
    screen: Screen<File>,
    editor: Editor,
    reader: InputReader,
    raw_mode: Option<RawMode>,
    stops: Stops,
    wishes: Sender<Wish>,
    printed: Vec<Line>,
    last: Kind,
    stream: Option<MarkdownStream>,
    busy: Option<Busy>,
    /// Said while a turn runs, and not yet part of the conversation.
    queued: Vec<String>,
    asking: Option<Asking>,
    /// Changes that the person has just allowed; showing them again would tell nothing.
    shown_diffs: Vec<String>,
    page: Option<Page>,
    results: VecDeque<Shown>,
    hint: Option<Hint>,
    status: Status,
    last_key: Instant,
    /// When a letter last answered a question.
    last_answer: Option<Instant>,
    resized: Option<(u16, u16, Instant)>,
    last_frame: Instant,
    is_over: bool,
}

/// What a front is made of.
pub(crate) struct FrontParts {
    pub screen: Screen<File>,
    pub editor: Editor,
    pub reader: InputReader,
    pub raw_mode: RawMode,
    pub stops: Stops,
    pub wishes: Sender<Wish>,
    pub status: Status,
}

impl Front {
    pub(crate) fn new(parts: FrontParts) -> Self {
        let now = Instant::now();
        Self {
            screen: parts.screen,
            editor: parts.editor,
            reader: parts.reader,
            raw_mode: Some(parts.raw_mode),
            stops: parts.stops,
            wishes: parts.wishes,
            printed: vec![],
            last: Kind::Nothing,
            stream: None,
            busy: None,
            queued: vec![],
            asking: None,
            shown_diffs: vec![],
            page: None,
            results: VecDeque::new(),
            hint: None,
            status: parts.status,
            last_key: now,
            last_answer: None,
            resized: None,
            last_frame: now,
            is_over: false,
        }
    }

    /// Shows what it hears until it hears that the chat is over, or the terminal is gone.
    pub(crate) fn run(mut self, news: &Receiver<News>) {
        let is_gone = loop {
            if self.paint().is_err() {
                break true;
            }
            if self.is_over {
                break false;
            }
            let mut is_urgent = self.wait(news);
            for _ in 0..NEWS_AT_ONCE_MAX {
                match news.try_recv() {
                    Ok(one) => is_urgent |= self.take(one),
                    Err(_) => break,
                }
            }
            // Text that streams in is shown a frame at a time; a key shows at once.
            while !is_urgent && self.last_frame.elapsed() < Duration::from_millis(FRAME_MS) {
                let left = Duration::from_millis(FRAME_MS).saturating_sub(self.last_frame.elapsed());
                match news.recv_timeout(left) {
                    Ok(one) => is_urgent |= self.take(one),
                    Err(_) => break,
                }
            }
        };
        if is_gone {
            // The session must not go on for nobody.
            let _ = self.wishes.try_send(Wish::Leave);
        } else {
            if self.page.is_some() {
                self.close_page();
            }
            let printed = std::mem::take(&mut self.printed);
            let live = self.live();
            let _ = self.screen.paint(&printed, &live).and_then(|()| self.screen.leave());
        }
        drop(self.raw_mode.take());
    }

    /// Waits for the next news, or for the time when something on the screen changes by itself. Returns
    /// whether it must show at once.
    fn wait(&mut self, news: &Receiver<News>) -> bool {
        let next = match self.next_change() {
            Some(wait) => news.recv_timeout(wait),
            None => news.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match next {
            Ok(one) => self.take(one),
            Err(RecvTimeoutError::Timeout) => true,
            Err(RecvTimeoutError::Disconnected) => {
                self.is_over = true;
                true
            }
        }
    }

    /// How long until the screen changes without any news.
    fn next_change(&self) -> Option<Duration> {
        let now = Instant::now();
        let spin = self.busy.as_ref().map(|_| Duration::from_millis(SPIN_MS));
        let hint = self.hint.as_ref().map(|hint| hint.until.saturating_duration_since(now));
        let armed =
            self.asking.as_ref().and_then(|asking| asking.until_armed(self.last_key, self.last_answer, now));
        let answered = self.asking.as_ref().and_then(|asking| asking.until_answered(now));
        let quiet = Duration::from_millis(RESIZE_QUIET_MS);
        let resize = self.resized.map(|(_, _, at)| (at + quiet).saturating_duration_since(now));
        [spin, hint, armed, answered, resize].into_iter().flatten().min()
    }

    /// Takes one piece of news. Returns whether it must show at once.
    fn take(&mut self, news: News) -> bool {
        match news {
            News::Input(input) => return self.take_input(&input),
            News::Answer(text) => {
                let columns = self.screen.columns();
                if self.stream.is_none() {
                    self.begin(Kind::Answer);
                }
                let stream = self.stream.get_or_insert_with(|| MarkdownStream::new(columns));
                self.printed.extend(stream.push(&text));
                return false;
            }
            News::Progress(what) => self.now_runs(what),
            News::RoundEnded => self.end_answer(),
            News::Void(line) => {
                self.end_answer();
                self.print(Kind::Note, vec![line]);
            }
            News::CallBegan(what) => {
                self.end_answer();
                self.now_runs(what);
            }
            News::CallEnded(call) => self.take_call(*call),
            News::Said(text) => {
                self.unqueue(&text);
                self.print_said(&text);
            }
            News::Ask(question, answer) => self.ask(*question, answer),
            News::TurnBegan => {
                let what = "thinking".to_owned();
                self.busy =
                    Some(Busy { since: Instant::now(), what, is_cancelling: false, is_leaving: false });
            }
            News::TurnEnded { notes, back } => self.end_turn(notes, &back),
            News::Print(lines) => self.print(Kind::Note, lines),
            News::Page { title, lines } => self.open_page(title, lines),
            News::Status(status) => self.status = *status,
            News::Copy(text) => {
                let _ = self.screen.copy(&text);
            }
            News::Clear => {
                if self.page.is_some() {
                    self.close_page();
                }
                self.results.clear();
                self.last = Kind::Nothing;
                let live = self.live();
                let _ = self.screen.clear(&live);
            }
            News::Suspend => self.suspend(|| ()),
            News::Leave(words) => {
                if !words.is_empty() {
                    self.print(Kind::Farewell, words);
                }
                self.is_over = true;
            }
        }
        true
    }

    fn now_runs(&mut self, what: String) {
        if let Some(busy) = &mut self.busy {
            busy.what = what;
        }
    }

    fn take_call(&mut self, call: CallEnded) {
        self.now_runs("thinking".to_owned());
        let columns = self.screen.columns();
        let mut lines = vec![if call.is_error { call.line.clone() } else { one_row(&call.line, columns) }];
        if !call.diff.is_empty() && !self.was_just_shown(&call.diff) {
            lines.extend(diff_part(&call.diff, &call.diff));
        }
        self.print(Kind::Call, lines);
        let full = if call.diff.is_empty() { call.full } else { format!("{}\n\n{}", call.full, call.diff) };
        self.results.push_back(Shown { title: call.line, full });
        let bytes = |results: &VecDeque<Shown>| results.iter().map(|one| one.full.len()).sum::<usize>();
        while self.results.len() > RESULTS_MAX || bytes(&self.results) > RESULTS_BYTES_MAX {
            self.results.pop_front();
        }
    }

    fn end_turn(&mut self, notes: Vec<Line>, back: &[String]) {
        self.end_answer();
        let was_stopped = self.busy.take().is_some_and(|busy| busy.is_cancelling);
        self.withdraw_question();
        self.shown_diffs.clear();
        self.queued.clear();
        self.hint = None;
        if was_stopped {
            self.hint("again leaves", true);
        }
        if !notes.is_empty() {
            self.print(Kind::Note, notes);
        }
        if !back.is_empty() {
            let typed = self.editor.take();
            let all =
                back.iter().map(String::as_str).chain(Some(typed.as_str()).filter(|text| !text.is_empty()));
            self.editor.set_text(&all.collect::<Vec<_>>().join("\n"));
        }
    }

    /// Prints what is left of the answer.
    fn end_answer(&mut self) {
        if let Some(mut stream) = self.stream.take() {
            self.printed.extend(stream.finish());
        }
    }

    /// Prints lines of a kind, after an empty line where the kind changes.
    fn print(&mut self, kind: Kind, lines: Vec<Line>) {
        self.end_answer();
        self.begin(kind);
        let columns = self.screen.columns();
        self.printed
            .extend(lines.iter().flat_map(|line| wrap(line, columns, (leading(line) + 2).min(INDENT_MAX))));
    }

    fn begin(&mut self, kind: Kind) {
        if self.last != kind || matches!(kind, Kind::Said | Kind::Question) {
            if self.last != Kind::Nothing {
                self.printed.push(Line::new());
            }
            self.last = kind;
        }
    }

    /// Prints what the person said, as they typed it.
    fn print_said(&mut self, text: &str) {
        self.print(Kind::Said, said_lines(text));
    }

    fn unqueue(&mut self, text: &str) {
        if let Some(at) = self.queued.iter().position(|queued| queued == text) {
            self.queued.remove(at);
        }
    }

    /// Tells the session; says so when it cannot hear.
    fn wish(&mut self, wish: Wish) -> bool {
        match self.wishes.try_send(wish) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                self.hint("too much is waiting; try again in a moment", false);
                false
            }
            Err(TrySendError::Closed(_)) => {
                self.is_over = true;
                false
            }
        }
    }

    fn hint(&mut self, words: &str, leaves: bool) {
        let until = Instant::now() + Duration::from_millis(HINT_MS);
        self.hint = Some(Hint { line: Line::styled(words, Style::DIM), until, leaves });
    }

    fn take_input(&mut self, input: &Input) -> bool {
        match input {
            Input::Resize { columns, rows } => {
                self.resized = Some((*columns, *rows, Instant::now()));
                false
            }
            Input::Closed => {
                self.wish(Wish::Leave);
                self.is_over = true;
                true
            }
            Input::Key(_) | Input::Paste(_) => {
                self.take_key(input);
                self.last_key = Instant::now();
                true
            }
        }
    }
}
