//! `reyn chat`: a conversation at a terminal.

use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use reyn_core::conversation::Entry;
use reyn_runtime::InputHistory;
use reyn_terminal::{Editor, History, InputReader, Line, Look, RawMode, Screen, Style};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::args::ChatArgs;
use crate::chat::desk::{self, Desk, PersonKind};
use crate::chat::front::{Front, FrontParts};
use crate::chat::names::Names;
use crate::chat::plain;
use crate::chat::slash;
use crate::chat::stops::Stops;
use crate::chat::ui::Ui;
use crate::chat::wire::{NEWS_MAX, News, WISHES_MAX, Wish};
use crate::defects;
use crate::drawn_answer;
use crate::exit::{Exit, Failure};
use crate::model_choice;
use crate::opening;
use crate::output;
use crate::person;
use crate::signals::cancel_on_signal;
use crate::wiring::{Project, runtime};

/// How long the screen may take to close.
const CLOSE_MS_MAX: u64 = 1_000;

/// Talks until the person leaves.
pub(crate) fn run(args: &ChatArgs) -> Result<Exit, Failure> {
    opening::check(&args.run)?;
    let fail = |error: std::io::Error| Failure::failed("io", format!("cannot start: {error}"));
    let stops = if can_draw() { Some(Stops::take().map_err(fail)?) } else { None };
    let runtime = runtime()?;
    let leave = CancellationToken::new();
    listen_for_signals(leave.clone())?;
    let result = catch_unwind(AssertUnwindSafe(|| runtime.block_on(talk(args, &leave, stops))));
    // A thread may still wait for a line or a file system; the process does not.
    runtime.shutdown_background();
    result.unwrap_or_else(|panic| {
        // No screen is closed on this way, and the terminal was raw until now.
        RawMode::restore();
        tell_defects();
        resume_unwind(panic)
    })
}

/// Tells which code failed while the screen was drawn.
fn tell_defects() {
    for words in defects::taken() {
        output::note(&output::for_terminal(&format!("reyn: a defect, please report it: {words}")));
    }
}

/// Signals are heard on a thread of their own: the session may wait for a terminal that takes nothing.
fn listen_for_signals(leave: CancellationToken) -> Result<(), Failure> {
    let fail = |error: std::io::Error| Failure::failed("io", format!("cannot start: {error}"));
    let signals = runtime()?;
    let (ready, is_ready) = sync_channel(1);
    let listen = move || {
        signals.block_on(async {
            let listening = cancel_on_signal(leave);
            let _ = ready.send(());
            listening.await;
        });
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(fail)?;
    // A signal that comes now is one that counts.
    let _ = is_ready.recv();
    Ok(())
}

async fn talk(args: &ChatArgs, leave: &CancellationToken, stops: Option<Stops>) -> Result<Exit, Failure> {
    let project = Project::load()?;
    project.tell_notices();
    let run = args.run.clone();
    let authority = opening::authority(&project, &run)?;
    let id = opening::id(&project, &run)?;
    let has_screen = stops.is_some();
    let choice = tokio::select! {
        biased;
        () = leave.cancelled() => return Err(Failure::interrupted("interrupted")),
        choice = model_choice::choose(&project, run.model.as_deref(), person::is_there()) => choice?,
    };
    let (news, heard) = sync_channel(NEWS_MAX);
    let ui = if has_screen { Ui::Screen(news.clone(), leave.clone()) } else { Ui::Plain };
    let kind = match (has_screen, person::is_there()) {
        (true, _) => PersonKind::Screen,
        (false, true) => PersonKind::Terminal,
        (false, false) => PersonKind::Nobody,
    };
    let (session, damage) = desk::open(&project, &run, &choice, authority.clone(), kind.person(&ui), id)?;
    let status = desk::fresh_status(&choice, &session);
    let names = Names::default();
    let mut desk =
        Desk { project, run, authority, choice, session, status, names, ui, person: kind, has_failed: false };
    slash::set_names(&desk);
    let greeting = greeting(&desk, damage);
    let Some(stops) = stops else {
        greeting.iter().for_each(|line| output::remark(&line.text()));
        let result = plain::serve(&mut desk, leave).await.map_err(|failure| broken_off(failure, &desk));
        desk::forget_if_empty(&desk.project, desk.session);
        return result;
    };
    let (wishes, mut wished) = mpsc::channel(WISHES_MAX);
    let screen_thread = start_screen(&desk, (news.clone(), heard), wishes, stops)?;
    desk.ui.print(greeting);
    desk.ui.print(slash::past(desk.session.log(), desk.ui.columns()));
    let result = desk.serve(&mut wished, leave).await.map_err(|failure| broken_off(failure, &desk));
    let words = if result.is_ok() { farewell(&desk) } else { vec![] };
    desk.ui.tell(News::Leave(words));
    let has_failed = !close(screen_thread);
    desk::forget_if_empty(&desk.project, desk.session);
    if has_failed {
        return Err(Failure::failed("defect", "the code of the screen failed"));
    }
    result
}

/// Whether a screen can be drawn: every stream is a terminal, and one that can move its cursor.
pub(crate) fn can_draw() -> bool {
    drawn_answer::can_draw() && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

fn start_screen(
    desk: &Desk,
    (news, heard): (SyncSender<News>, Receiver<News>),
    wishes: mpsc::Sender<Wish>,
    stops: Stops,
) -> Result<std::thread::JoinHandle<()>, Failure> {
    let fail = |error: std::io::Error| Failure::failed("io", format!("cannot use the terminal: {error}"));
    let (columns, rows) = reyn_terminal::size().map_err(fail)?;
    let out = std::fs::File::from(std::io::stdout().as_fd().try_clone_to_owned().map_err(fail)?);
    let look = if output::has_colours() { Look::Coloured } else { Look::Uncoloured };
    let raw_mode = RawMode::enter().map_err(fail)?;
    defects::keep();
    stops.tell(news.clone());
    let reader = InputReader::start(move |input| news.send(News::Input(input)).is_ok()).map_err(fail)?;
    let editor = Editor::new(Box::new(Typed::load(desk)), Box::new(desk.names.clone()));
    let front = Front::new(FrontParts {
        screen: Screen::new(out, look, drawn_answer::narrowing(), columns.into(), rows.into()),
        editor,
        reader,
        raw_mode,
        stops,
        wishes,
        status: desk.status.clone(),
    });
    std::thread::Builder::new().name("screen".to_owned()).spawn(move || front.run(&heard)).map_err(fail)
}

/// Waits until the screen is closed, but not for a terminal that takes nothing. Returns whether its code worked.
fn close(screen: std::thread::JoinHandle<()>) -> bool {
    let deadline = Instant::now() + Duration::from_millis(CLOSE_MS_MAX);
    while !screen.is_finished() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    RawMode::restore();
    tell_defects();
    !screen.is_finished() || screen.join().is_ok()
}

fn greeting(desk: &Desk, damage: Option<String>) -> Vec<Line> {
    let mut first = Line::styled("reyn", Style::BOLD);
    first.push(
        &format!(" {} · {} ({})", env!("CARGO_PKG_VERSION"), desk.choice.model.name(), desk.choice.why),
        Style::DIM,
    );
    let mut lines = vec![first];
    lines.extend(desk.choice.note.iter().map(|note| Line::styled(note, Style::DIM)));
    let how = match desk.person {
        PersonKind::Screen => "/help lists the commands; esc stops the model; ctrl-D leaves",
        PersonKind::Terminal => "/help lists the commands; ctrl-D leaves",
        PersonKind::Nobody => "a line is a message; /help lists the commands",
    };
    lines.push(Line::styled(how, Style::DIM));
    lines.extend(damage.map(|words| Line::styled(&words, Style::of(reyn_terminal::Colour::Yellow))));
    lines
}

fn farewell(desk: &Desk) -> Vec<Line> {
    let has_said = desk.session.log().iter().any(|entry| matches!(entry, Entry::User { .. }));
    if !has_said {
        return vec![];
    }
    let words = format!("`{}` goes on", way_on(desk));
    vec![Line::styled(&words, Style::DIM)]
}

fn broken_off(failure: Failure, desk: &Desk) -> Failure {
    opening::broken_off(failure, &desk.session, &way_on(desk))
}

fn way_on(desk: &Desk) -> String {
    format!("reyn chat --session {}", desk.session.id())
}

/// What was typed before in this project.
struct Typed {
    entries: Vec<String>,
    file: InputHistory,
}

impl Typed {
    /// A history that cannot be read is an empty one: nothing depends on it.
    fn load(desk: &Desk) -> Self {
        let file = InputHistory::new(&desk.project.state());
        Self { entries: file.load().unwrap_or_default(), file }
    }
}

impl History for Typed {
    fn entries(&self) -> &[String] {
        &self.entries
    }

    fn add(&mut self, text: &str) {
        self.entries.push(text.to_owned());
        // The next session lacks the entry; this one goes on.
        let _ = self.file.add(text);
    }
}
