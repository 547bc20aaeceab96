//! `reyn memory`: what the project and its agents remember, looked at and changed by hand.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Read as _};
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use reyn_core::DEFAULT_AGENT;
use reyn_core::audit::AuditEvent;
use reyn_core::memory::{BODY_BYTES_MAX, Head, Kind, Layer, Note, Slug, one_line, split};
use reyn_core::permission::FileAxis;
use reyn_core::text::{alternatives, excerpt};
use reyn_runtime::config;
use reyn_tools::{LayerView, Memory};
use reyn_workspace::{FileError, Workspace};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::exit::{Exit, Failure};
use crate::wiring::{Project, place, runtime};
use crate::{management, output};

/// Longest description that is made of a body, in characters.
const DESCRIPTION_CHARS: usize = 120;

/// `reyn memory`.
#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Every note, in one line each.
    #[command(after_help = "Example: reyn memory list --json")]
    List(WhoseArgs),
    /// Notes with these words in them.
    #[command(after_help = "Example: reyn memory search tabs")]
    Search(SearchArgs),
    /// One note.
    #[command(after_help = "Example: reyn memory show likes_tabs")]
    Show(SlugArgs),
    /// Remember something; replaces a note of the same slug.
    #[command(after_help = "\
Examples:
  reyn memory add likes_tabs \"Tabs, never spaces.\" --type user
  cat deploy.md | reyn memory add deploy --description \"How we deploy\"")]
    Add(AddArgs),
    /// Forget a note.
    #[command(after_help = "Example: reyn memory rm likes_tabs")]
    Rm(SlugArgs),
    /// Make `MEMORY.md` again after files were edited by hand.
    #[command(after_help = "Example: reyn memory sync")]
    Sync(WhoseArgs),
}

/// Whose memory.
#[derive(Debug, Args)]
pub(crate) struct WhoseArgs {
    /// This agent's own memory, not the one that everybody in the project has.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// `reyn memory search`.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words that all stand in a note, in any case.
    text: String,
    #[command(flatten)]
    whose: WhoseArgs,
}

/// One note.
#[derive(Debug, Args)]
pub(crate) struct SlugArgs {
    /// Its slug, as `reyn memory list` shows it.
    slug: String,
    #[command(flatten)]
    whose: WhoseArgs,
}

/// `reyn memory add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Its slug: letters, digits, `_` and `-`.
    slug: String,
    /// What to remember; standard input when left out.
    body: Option<String>,
    /// A title; the slug when left out.
    #[arg(long)]
    name: Option<String>,
    /// One line that stands in every prompt; the first line of the body when left out.
    #[arg(long)]
    description: Option<String>,
    /// What it is about.
    #[arg(long = "type", default_value = "project")]
    kind: KindArg,
    #[command(flatten)]
    whose: WhoseArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum KindArg {
    /// The person.
    User,
    /// What the person thinks of the agent's work.
    Feedback,
    /// The project.
    Project,
    /// Where something is found.
    Reference,
}

impl From<KindArg> for Kind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::User => Self::User,
            KindArg::Feedback => Self::Feedback,
            KindArg::Project => Self::Project,
            KindArg::Reference => Self::Reference,
        }
    }
}

impl MemoryCommand {
    const fn whose(&self) -> &WhoseArgs {
        match self {
            Self::List(whose) | Self::Sync(whose) => whose,
            Self::Search(args) => &args.whose,
            Self::Show(args) | Self::Rm(args) => &args.whose,
            Self::Add(args) => &args.whose,
        }
    }

    /// Whether JSON is wanted.
    pub(crate) const fn is_json(&self) -> bool {
        self.whose().json
    }
}

/// A memory that a command is about.
struct Opened {
    project: config::Project,
    memory: Memory,
    layer: Layer,
    cancel: CancellationToken,
}

impl Opened {
    fn new(whose: &WhoseArgs) -> Result<Self, Failure> {
        let project = place()?;
        let zones = config::zones(&project.root, project.home.as_deref());
        let workspace = Workspace::open(zones, project.home.clone())
            .map_err(|error| Failure::failed("io", format!("cannot open the project: {error}")))?;
        let layer = if whose.agent.is_some() { Layer::Agent } else { Layer::Shared };
        let agent = match &whose.agent {
            None => DEFAULT_AGENT.to_owned(),
            Some(name) => known_agent(&project, name)?,
        };
        let memory = Memory::new(Arc::new(workspace), &agent);
        Ok(Self { project, memory, layer, cancel: CancellationToken::new() })
    }

    fn view(&self) -> Result<LayerView, Failure> {
        self.memory.view(self.layer, &self.cancel).map_err(failed)
    }

    fn whose(&self) -> String {
        match self.layer {
            Layer::Shared => "the shared memory".to_owned(),
            Layer::Agent => format!("the memory of `{}`", self.memory.agent()),
        }
    }

    /// What JSON says of every command.
    fn facts(&self) -> Value {
        let agent = matches!(self.layer, Layer::Agent).then(|| self.memory.agent());
        json!({ "layer": self.layer.name(), "agent": agent })
    }
}

/// An agent that the project has. A wrong name would be a memory that nobody reads.
fn known_agent(project: &config::Project, name: &str) -> Result<String, Failure> {
    let folder = project.root.join(".reyn/agents");
    let is_name = Slug::parse(name).is_ok_and(|slug| slug.as_str() == name);
    if name == DEFAULT_AGENT || (is_name && folder.join(name).is_dir()) {
        return Ok(name.to_owned());
    }
    let mut names = vec![DEFAULT_AGENT.to_owned()];
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten().take(100);
    names.extend(entries.filter_map(|entry| entry.file_name().into_string().ok()));
    names.sort();
    names.dedup();
    let message = format!("no agent is named `{}`; there is {}", output::visible(name), alternatives(&names));
    Err(Failure::usage("unknown_agent", message))
}

/// Lists, shows, adds, removes or syncs.
pub(crate) fn run(command: &MemoryCommand) -> Result<Exit, Failure> {
    let opened = Opened::new(command.whose())?;
    match command {
        MemoryCommand::List(args) => list(&opened, args.json),
        MemoryCommand::Search(args) => search(&opened, args),
        MemoryCommand::Show(args) => show(&opened, args),
        MemoryCommand::Add(args) => add(&opened, args),
        MemoryCommand::Rm(args) => remove(&opened, args),
        MemoryCommand::Sync(args) => sync(&opened, args.json),
    }
}

fn list(opened: &Opened, as_json: bool) -> Result<Exit, Failure> {
    let view = opened.view()?;
    if as_json {
        let mut all = opened.facts();
        all["notes"] = json!(view.heads);
        all["more"] = json!(view.more);
        all["passed_over"] = json!(view.passed_over);
        output::json(&all);
        return Ok(Exit::Done);
    }
    if view.heads.is_empty() {
        let whose = opened.whose();
        output::result_line(&format!("{whose} is empty; `reyn memory add SLUG TEXT` puts something in it"));
    } else {
        output::result(&table(&view.heads));
    }
    if view.more > 0 {
        output::note(&format!("reyn: {} more notes stand in no index; forget what is not needed", view.more));
    }
    if !view.passed_over.is_empty() {
        let names = view.passed_over.iter().map(|name| output::visible(name)).collect::<Vec<_>>().join(", ");
        output::note(&format!("reyn: passed over, since a slug is letters, digits, `_` and `-`: {names}"));
    }
    Ok(Exit::Done)
}

fn table(heads: &[Head]) -> String {
    let width = heads.iter().map(|head| head.slug.as_str().len()).max().unwrap_or(0);
    let mut text = String::new();
    for head in heads {
        let kind = head.kind.map_or("-", Kind::name);
        let (name, description) = (output::visible(&head.name), output::visible(&head.description));
        let _ = writeln!(text, "{:width$}  {kind:<9}  {name} — {description}", head.slug.as_str());
    }
    text
}

fn search(opened: &Opened, args: &SearchArgs) -> Result<Exit, Failure> {
    let words: Vec<String> = args.text.to_lowercase().split_whitespace().map(str::to_owned).collect();
    if words.is_empty() {
        return Err(Failure::usage("usage", "say which words to look for, as in `reyn memory search tabs`"));
    }
    let mut view = opened.view()?;
    view.heads.retain(|head| {
        let text = opened.memory.read(opened.layer, &head.slug, &opened.cancel).unwrap_or_default();
        let text = format!("{} {text}", head.slug).to_lowercase();
        words.iter().all(|word| text.contains(word))
    });
    if args.whose.json {
        let mut all = opened.facts();
        all["notes"] = json!(view.heads);
        output::json(&all);
    } else if view.heads.is_empty() {
        output::result_line("no note has all of these words; `reyn memory list` lists them all");
    } else {
        output::result(&table(&view.heads));
    }
    Ok(Exit::Done)
}

fn show(opened: &Opened, args: &SlugArgs) -> Result<Exit, Failure> {
    let slug = slug(&args.slug)?;
    let text = opened.memory.read(opened.layer, &slug, &opened.cancel).map_err(failed)?;
    if args.whose.json {
        let mut all = opened.facts();
        let (_, body) = split(&text);
        all["note"] = json!(Head::read(slug, &text));
        all["body"] = json!(body);
        output::json(&all);
    } else {
        output::result(&output::for_terminal(&text));
    }
    Ok(Exit::Done)
}

fn add(opened: &Opened, args: &AddArgs) -> Result<Exit, Failure> {
    let note = note(args)?;
    note.check().map_err(|error| Failure::usage("note", error.to_string()))?;
    let target = opened.memory.place(opened.layer, Some(&note.slug), FileAxis::Write).map_err(failed)?;
    let look = Project::load()?.screening()?.memory(&note.whole(), "reyn memory add", "", &|_| true);
    for event in &look.events {
        management::record(&opened.project.root, event)?;
    }
    if let Some(error) = look.refusal {
        let hint = error.hint.map_or_else(String::new, |hint| format!("; {hint}"));
        return Err(Failure::failed("threat_blocked", format!("{}{hint}", error.message)));
    }
    config::make_state_folder(&opened.project.root)
        .map_err(|error| Failure::failed("io", error.to_string()))?;
    let change = opened.memory.save(opened.layer, &target, &note, &opened.cancel).map_err(failed)?;
    let (layer, slug) = (opened.layer.name().to_owned(), note.slug.to_string());
    management::record(
        &opened.project.root,
        &AuditEvent::MemorySaved { layer, slug, path: change.path.clone() },
    )?;
    told(opened, &args.whose, ("saved", "remembered"), &note.slug, change.index_error);
    tell_search(opened);
    Ok(Exit::Done)
}

fn note(args: &AddArgs) -> Result<Note, Failure> {
    let slug = slug(&args.slug)?;
    let body = match &args.body {
        Some(body) => body.clone(),
        None => piped()?,
    };
    let first =
        || body.lines().map(|line| one_line(line.trim_start_matches('#'))).find(|line| !line.is_empty());
    let description =
        args.description.clone().or_else(|| first().map(|line| excerpt(&line, DESCRIPTION_CHARS)));
    Ok(Note {
        name: args.name.clone().unwrap_or_else(|| slug.to_string()),
        description: description.unwrap_or_default(),
        kind: args.kind.into(),
        slug,
        body,
    })
}

fn piped() -> Result<String, Failure> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        let message = "say what to remember, as in `reyn memory add SLUG \"TEXT\"`, or pipe it in";
        return Err(Failure::usage("usage", message));
    }
    let mut bytes = vec![];
    let read = stdin.lock().take(BODY_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::failed("io", format!("cannot read standard input: {error}")))?;
    String::from_utf8(bytes)
        .map_err(|_| Failure::usage("usage", "standard input is not UTF-8; convert it first"))
}

fn remove(opened: &Opened, args: &SlugArgs) -> Result<Exit, Failure> {
    let slug = slug(&args.slug)?;
    let target = opened.memory.place(opened.layer, Some(&slug), FileAxis::Write).map_err(failed)?;
    let change = opened.memory.delete(opened.layer, &target, &slug, &opened.cancel).map_err(failed)?;
    let event = AuditEvent::MemoryDeleted {
        layer: opened.layer.name().to_owned(),
        slug: slug.to_string(),
        path: change.path,
    };
    management::record(&opened.project.root, &event)?;
    told(opened, &args.whose, ("deleted", "forgotten"), &slug, change.index_error);
    tell_search(opened);
    Ok(Exit::Done)
}

/// Says what was done to a note, and what of it was not.
fn told(
    opened: &Opened,
    whose: &WhoseArgs,
    (key, verb): (&str, &str),
    slug: &Slug,
    index_error: Option<String>,
) {
    if whose.json {
        let mut all = opened.facts();
        all[key] = json!(slug);
        all["index_error"] = json!(index_error);
        output::json(&all);
        return;
    }
    output::result_line(&format!("{verb}: {slug}, in {}", opened.whose()));
    if let Some(error) = index_error {
        output::note(&format!(
            "reyn: `MEMORY.md` is not up to date: {error}; `reyn memory sync` makes it again"
        ));
    }
}

/// Takes into search what is remembered now. What stands in the way is said, and is no failure: `recall` looks again.
fn tell_search(opened: &Opened) {
    if let Err(why) = searched(opened) {
        output::note(&format!("reyn: search is not up to date: {why}"));
    }
}

fn searched(opened: &Opened) -> Result<(), String> {
    let said = |failure: Failure| failure.message;
    let knowledge = Project::load().and_then(|project| project.knowledge()).map_err(said)?;
    let (memory, layer, cancel) = (opened.memory.clone(), opened.layer, opened.cancel.clone());
    let working = move || knowledge.sync_memory(&memory, layer, &cancel);
    let runtime = runtime().map_err(said)?;
    // It blocks, and asks the runtime for vectors.
    let done = runtime.block_on(async { tokio::task::spawn_blocking(working).await });
    done.map_err(|error| error.to_string())?
}

fn sync(opened: &Opened, as_json: bool) -> Result<Exit, Failure> {
    let view = opened.memory.sync(opened.layer, &opened.cancel).map_err(failed)?;
    tell_search(opened);
    let entries = view.heads.len();
    if as_json {
        let mut all = opened.facts();
        all["entries"] = json!(entries);
        all["more"] = json!(view.more);
        all["passed_over"] = json!(view.passed_over);
        output::json(&all);
    } else {
        let notes = if entries == 1 { "1 note".to_owned() } else { format!("{entries} notes") };
        output::result_line(&format!("`MEMORY.md` of {} holds {notes}", opened.whose()));
    }
    Ok(Exit::Done)
}

fn slug(text: &str) -> Result<Slug, Failure> {
    Slug::parse(text).map_err(|error| Failure::usage("slug", error.to_string()))
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn failed(error: FileError) -> Failure {
    match &error {
        FileError::Failed { message, suggestions, .. } if !suggestions.is_empty() => {
            let near = alternatives(suggestions);
            Failure::usage("unknown_note", format!("{message}; did you mean {near}?"))
                .with(json!({ "suggestions": suggestions }))
        }
        FileError::Failed { message, hint, .. } => {
            // What a model calls is not what a person types.
            let hint =
                hint.as_deref().map(|hint| hint.replace("`list_memory` lists", "`reyn memory list` lists"));
            let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
            Failure::failed("memory", format!("{message}{hint}"))
        }
        FileError::Cancelled => Failure::failed("memory", "it was cancelled"),
    }
}
