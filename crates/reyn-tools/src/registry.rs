//! The [`Registry`]: every tool by its one name, and the way from a call to its effect.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use reyn_core::audit::AuditEvent;
use reyn_core::gate::{Judged, Need, Permitted, Reach};
use reyn_core::limits::NAME_BYTES_MAX;
use reyn_core::memory::Slug;
use reyn_core::permission::{Command, FileAxis, FileOp, Target, WebOp};
use reyn_core::text::{excerpt, nearest};
use reyn_core::tool::{Args, CallError, Caller, ErrorKind, Output, ToolCall, ToolSpec};
use reyn_core::tool_use::Callable;
use reyn_workspace::Preview;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::knowledge::source_name;
use crate::schema::compact;
use crate::tool::{Context, Tool, ToolError, Touched, WebPlace, Wish};
use crate::web::Web;

type Asked<T> = Box<dyn Fn(&Context) -> T + Send>;
type Remembering = Box<dyn Fn(&Context) -> Result<Option<String>, ToolError> + Send>;
type Previewing = Box<dyn Fn(&Context) -> Option<Preview> + Send>;
type Run = Box<dyn FnOnce(Reach, Arc<Context>) -> BoxFuture<'static, Result<Output, ToolError>> + Send>;

/// A call whose arguments are parsed and whose needs are known, not yet judged.
pub struct Prepared {
    spec: ToolSpec,
    needs: Vec<Need>,
    preview: Previewing,
    memory_text: Remembering,
    details: Asked<Vec<String>>,
    time_max: Asked<Option<Duration>>,
    begins: Asked<Vec<AuditEvent>>,
    result_bytes_max: usize,
    run: Run,
}

impl Prepared {
    /// What a person must know of the call beside its needs, one line each.
    #[must_use]
    pub fn details(&self, context: &Context) -> Vec<String> {
        (self.details)(context)
    }

    /// What the call would have remembered, where it changes a memory and can say so. Looks at the file system.
    ///
    /// # Errors
    /// When the call cannot be made as it stands.
    pub fn memory_text(&self, context: &Context) -> Result<Option<String>, ToolError> {
        (self.memory_text)(context)
    }

    /// How long the call may take, where that is its own to say.
    #[must_use]
    pub fn time_max(&self, context: &Context) -> Option<Duration> {
        (self.time_max)(context)
    }

    /// What the audit trail is told before it runs.
    #[must_use]
    pub fn begins(&self, context: &Context) -> Vec<AuditEvent> {
        (self.begins)(context)
    }

    /// Longest text of its result, in bytes.
    #[must_use]
    pub const fn result_bytes_max(&self) -> usize {
        self.result_bytes_max
    }

    /// The tool that will run.
    #[must_use]
    pub const fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// What the call would change, for the person who is asked. Looks at the file system.
    #[must_use]
    pub fn preview(&self, context: &Context) -> Option<Preview> {
        (self.preview)(context)
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared")
            .field("tool", &self.spec.name)
            .field("needs", &self.needs)
            .finish_non_exhaustive()
    }
}

impl Judged for Prepared {
    fn tool(&self) -> &str {
        reyn_core::tool::judged_as(self.spec.name)
    }
    fn needs(&self) -> &[Need] {
        &self.needs
    }
}

/// Runs a permitted call. There is no other way to run one: a prepared call alone is not accepted,
///
/// ```compile_fail,E0308
/// # async fn attempt(prepared: reyn_tools::Prepared, context: std::sync::Arc<reyn_tools::Context>) {
/// let _ = reyn_tools::run(prepared, context).await;
/// # }
/// ```
///
/// and a permit cannot be made by hand:
///
/// ```compile_fail,E0063,E0451
/// # fn attempt(prepared: reyn_tools::Prepared) {
/// let _ = reyn_core::gate::Permitted { call: prepared };
/// # }
/// ```
///
/// # Errors
/// What the tool reports.
pub async fn run(call: Permitted<Prepared>, context: Arc<Context>) -> Result<Output, ToolError> {
    let (prepared, reach) = call.into_parts();
    drop((prepared.preview, prepared.memory_text, prepared.details, prepared.time_max, prepared.begins));
    (prepared.run)(reach, context).await
}

/// Removes scratch files that a process left behind which died while it ran this call.
pub fn recover(call: &Prepared, context: &Context) {
    let Ok(workspace) = context.workspace() else { return };
    for need in &call.needs {
        match need {
            Need::File { op, target } if op.axis() == FileAxis::Write => workspace.recover(target),
            Need::File { .. } | Need::Exec { .. } | Need::Web { .. } => {}
        }
    }
}

/// Tools by name.
#[derive(Default)]
pub struct Registry {
    tools: BTreeMap<&'static str, Arc<dyn ErasedTool>>,
}

impl Registry {
    /// Adds a tool. Panics if the name is taken: two tools with one name are a bug.
    #[must_use]
    pub fn with<T: Tool>(mut self, tool: T) -> Self {
        let previous = self.tools.insert(T::SPEC.name, Arc::new(Erased(Arc::new(tool))));
        assert!(previous.is_none(), "two tools named `{}`", T::SPEC.name);
        self
    }

    /// The same tools, but for those that do not serve this caller.
    #[must_use]
    pub fn serving(&self, caller: Caller) -> Self {
        let serves = |tool: &Arc<dyn ErasedTool>| tool.spec().surfaces.serve(caller);
        let served = self.tools.iter().filter(|(_, tool)| serves(tool));
        Self { tools: served.map(|(name, tool)| (*name, Arc::clone(tool))).collect() }
    }

    /// Whether the session has this tool switched off.
    #[must_use]
    pub fn is_off(&self, name: &str, context: &Context) -> bool {
        self.tools.get(name).is_some_and(|tool| tool.is_off(context))
    }

    /// What a refusal of the gate comes to, where it is a result and no failure.
    #[must_use]
    pub fn refused(&self, call: &ToolCall, error: &CallError, context: &Context) -> Option<Output> {
        let args = Value::Object(call.args.as_object()?.clone());
        self.tools.get(call.name.as_str())?.refused(args, error, context)
    }

    /// Specs in name order.
    pub fn specs(&self) -> impl Iterator<Item = ToolSpec> + '_ {
        self.tools.values().map(|tool| tool.spec())
    }

    /// Specs in name order, each with the schema of its arguments. The schema is made anew each time, so
    /// nothing that a caller does to it reaches the next one.
    pub fn specs_with_schemas(&self) -> impl Iterator<Item = (ToolSpec, Value)> + '_ {
        self.tools.values().map(|tool| (tool.spec(), tool.schema()))
    }

    /// Parses a call's arguments once and resolves what it touches. Looks at the file system, writes
    /// nothing.
    ///
    /// # Errors
    /// `unknown_tool` with near names, or `invalid_args` with the place and the tool's signature.
    pub fn prepare(&self, call: ToolCall, context: &Context) -> Result<Prepared, CallError> {
        let Some(tool) = self.tools.get(call.name.as_str()) else {
            return Err(self.unknown(&call.name));
        };
        match call.args {
            Args::Object(map) => tool.prepare(Value::Object(map), context),
            // What the model wrote stands in the hint: a message goes to the audit trail too.
            Args::Malformed { error, excerpt } => {
                Err(CallError::new(ErrorKind::InvalidArgs, error).hint(format!(
                    "the text began with `{excerpt}`; call it again as {} with a JSON object",
                    signature(tool.as_ref())
                )))
            }
        }
    }

    /// Whether a call names a tool and fits its schema. Looks at nothing but the call.
    #[must_use]
    pub fn fits(&self, call: &ToolCall) -> bool {
        let tool = self.tools.get(call.name.as_str());
        tool.zip(call.args.as_object()).is_some_and(|(tool, args)| tool.fits(Value::Object(args.clone())))
    }

    fn unknown(&self, name: &str) -> CallError {
        let suggestions = nearest(name, self.tools.keys().copied());
        let hint = if suggestions.is_empty() {
            format!(
                "the tools are {}",
                self.tools.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            )
        } else {
            "use a name that exists, exactly as written".to_owned()
        };
        CallError {
            suggestions,
            ..CallError::new(
                ErrorKind::UnknownTool,
                format!("no tool is named `{}`", excerpt(name, NAME_BYTES_MAX)),
            )
        }
        .hint(hint)
    }
}

/// [`Tool`] without its `Args` type, so that a map can hold it.
trait ErasedTool: Send + Sync {
    fn spec(&self) -> ToolSpec;
    fn schema(&self) -> Value;
    fn fits(&self, args: Value) -> bool;
    fn is_off(&self, context: &Context) -> bool;
    fn refused(&self, args: Value, error: &CallError, context: &Context) -> Option<Output>;
    fn prepare(&self, args: Value, context: &Context) -> Result<Prepared, CallError>;
}

struct Erased<T>(Arc<T>);

impl<T: Tool> ErasedTool for Erased<T> {
    fn spec(&self) -> ToolSpec {
        T::SPEC
    }

    fn schema(&self) -> Value {
        let generator = SchemaSettings::draft2020_12().with(|settings| {
            settings.meta_schema = None;
            settings.inline_subschemas = true;
        });
        compact(generator.into_generator().into_root_schema_for::<T::Args>().into())
    }

    fn fits(&self, args: Value) -> bool {
        serde_json::from_value::<T::Args>(args).is_ok()
    }

    fn is_off(&self, context: &Context) -> bool {
        T::is_off(context)
    }

    fn refused(&self, args: Value, error: &CallError, context: &Context) -> Option<Output> {
        let args: T::Args = serde_json::from_value(args).ok()?;
        T::refused(&args, error, context)
    }

    fn prepare(&self, args: Value, context: &Context) -> Result<Prepared, CallError> {
        let args: T::Args = serde_path_to_error::deserialize(args).map_err(|error| {
            let place = match error.path().to_string() {
                path if path == "." => String::new(),
                path => format!(" at `{path}`"),
            };
            CallError::new(
                ErrorKind::InvalidArgs,
                format!("the arguments do not fit{place}: {}", error.inner()),
            )
            .hint(format!("call it as {}", signature(self)))
        })?;
        let mut needs: Vec<Need> = vec![];
        let (mut files, mut program, mut web): (Vec<Target>, Option<PathBuf>, Option<WebPlace>) =
            (vec![], None, None);
        let wishes = if T::is_off(context) { vec![] } else { T::wishes(&args) };
        for wish in wishes {
            let found = resolved(wish, context)?;
            files.extend(found.file);
            program = program.or(found.program);
            web = web.or(found.web);
            for need in found.needs {
                if !needs.contains(&need) {
                    needs.push(need);
                }
            }
        }
        let tool = Arc::clone(&self.0);
        let result_bytes_max = T::result_bytes_max(&args);
        let args = Arc::new(args);
        let (shown_args, shown_files) = (Arc::clone(&args), files.clone());
        let (told, timed, begun) = (Arc::clone(&args), Arc::clone(&args), Arc::clone(&args));
        let details: Asked<_> = Box::new(move |context| T::details(&told, context));
        let time_max: Asked<_> = Box::new(move |context| T::time_max(&timed, context));
        let begins: Asked<_> = Box::new(move |context| T::begins(&begun, context));
        let (kept, kept_in) = (Arc::clone(&args), files.clone());
        let memory_text: Remembering = Box::new(move |context| T::memory_text(&kept, &kept_in, context));
        let preview: Previewing = Box::new(move |context| {
            let workspace = context.workspace().ok()?;
            T::preview(&shown_args, &shown_files, &workspace)
        });
        let run: Run = Box::new(|reach, context| {
            let args = Arc::into_inner(args);
            Box::pin(async move {
                let args =
                    args.ok_or_else(|| ToolError::Defect("a preview is still being made".to_owned()))?;
                tool.run(args, Touched::new(files, program, web, reach), context).await
            })
        });
        Ok(Prepared {
            spec: T::SPEC,
            needs,
            preview,
            memory_text,
            details,
            time_max,
            begins,
            result_bytes_max,
            run,
        })
    }
}

/// Where indexes are, below the workspace, and as what they are judged where they are elsewhere.
const INDEX_FOLDER: &str = ".reyn/index";

/// What to do about a name that is no slug.
const SLUG_HINT: &str = "`list_memory` lists the slugs that are there";

/// What a wish comes to.
struct Found {
    /// What must be permitted for it.
    needs: Vec<Need>,
    /// The real place that it names.
    file: Option<Target>,
    /// The program's file.
    program: Option<PathBuf>,
    /// The page or engine.
    web: Option<WebPlace>,
}

/// The real place that a wish names, and all that must be permitted for it.
fn resolved(wish: Wish, context: &Context) -> Result<Found, CallError> {
    let (op, targets) = match wish {
        Wish::Exec { command, cwd } => return program(command, cwd, context),
        Wish::Page { url } => {
            let page = Web::page(&url).map_err(ToolError::into_call_error)?;
            let need = Need::Web { op: WebOp::Fetch, host: reyn_web::host_of(&page) };
            return Ok(Found {
                needs: vec![need],
                file: None,
                program: None,
                web: Some(WebPlace::Page(page)),
            });
        }
        Wish::Search { engine } => {
            let engine = context.web().and_then(|web| web.engine(engine.as_deref()));
            let engine = engine.map_err(ToolError::into_call_error)?;
            let need = Need::Web { op: WebOp::Search, host: engine.name().to_owned() };
            let web = Some(WebPlace::Engine(engine));
            return Ok(Found { needs: vec![need], file: None, program: None, web });
        }
        Wish::Memory { op, layer, slug } => {
            let slug = slug.map(|slug| Slug::parse(&slug)).transpose();
            let slug = slug
                .map_err(|error| CallError::new(ErrorKind::InvalidArgs, error.to_string()).hint(SLUG_HINT))?;
            let memory = context.memory().map_err(ToolError::into_call_error)?;
            let target = memory.place(layer, slug.as_ref(), op.axis());
            (op, vec![target.map_err(|error| ToolError::from(error).into_call_error())?])
        }
        Wish::Index { op, source } => {
            let name = source_name(&source)
                .map_err(|error| CallError { kind: ErrorKind::InvalidArgs, ..error.into_call_error() })?;
            let path = format!("{INDEX_FOLDER}/{name}");
            let (_, targets) = places(Wish::File { op, path }, context)?;
            (op, targets)
        }
        wish @ (Wish::File { .. } | Wish::Entry { .. }) => places(wish, context)?,
    };
    let file = targets.first().cloned();
    // What is written into a memory is remembered, whatever tool writes it.
    let workspace = context.workspace().map_err(ToolError::into_call_error)?;
    let in_a_memory = |target: &&Target| workspace.memory_layer(target).is_some();
    let remembered = op.in_a_memory().map_or_else(Vec::new, |op| {
        let targets = targets.iter().filter(in_a_memory).cloned();
        targets.map(|target| Need::File { op, target }).collect()
    });
    let needs = targets.into_iter().map(|target| Need::File { op, target }).chain(remembered).collect();
    Ok(Found { needs, file, program: None, web: None })
}

/// A program's file and the folder that it starts in. One that is not there is told before anybody is asked.
fn program(command: Command, cwd: Option<String>, context: &Context) -> Result<Found, CallError> {
    let (_, folder) =
        places(Wish::File { op: FileOp::Read, path: cwd.unwrap_or_else(|| ".".into()) }, context)?;
    let processes = context.processes().map_err(ToolError::into_call_error)?;
    let folder = folder.into_iter().next();
    let start = folder.as_ref().map_or(Path::new("/"), |target| target.path.as_path());
    let program = processes.find(&command, start)?;
    let read = folder.clone().map(|target| Need::File { op: FileOp::Read, target });
    let needs = read.into_iter().chain([Need::Exec { command }]).collect();
    Ok(Found { needs, file: folder, program: Some(program), web: None })
}

fn places(wish: Wish, context: &Context) -> Result<(FileOp, Vec<Target>), CallError> {
    let workspace = context.workspace().map_err(ToolError::into_call_error)?;
    let (op, resolved) = match wish {
        Wish::Exec { .. }
        | Wish::Page { .. }
        | Wish::Search { .. }
        | Wish::Memory { .. }
        | Wish::Index { .. } => {
            unreachable!("this is no place")
        }
        Wish::File { op, path } => (op, workspace.resolve(&path, op.axis()).map(|target| vec![target])),
        // The same path is judged alike by every tool, so a link is judged where it leads too. One that
        // leads nowhere is only itself.
        Wish::Entry { op, path } => {
            let followed = |entry: &Target| {
                let target = workspace.resolve(&path, op.axis()).ok()?;
                (target.path != entry.path).then(|| Target { link: Some(entry.path.clone()), ..target })
            };
            let entry = workspace.resolve_entry(&path, op.axis());
            (
                op,
                entry.map(|entry| {
                    followed(&entry).into_iter().fold(vec![entry], |mut all, one| {
                        all.push(one);
                        all
                    })
                }),
            )
        }
    };
    let targets = resolved.map_err(|error| {
        CallError::new(ErrorKind::InvalidArgs, error.to_string())
            .hint("give a path relative to the workspace")
    })?;
    Ok((op, targets))
}

fn signature(tool: &(impl ErasedTool + ?Sized)) -> String {
    let callable =
        Callable { name: tool.spec().name.to_owned(), description: String::new(), parameters: tool.schema() };
    format!("`{}`", callable.signature())
}

#[cfg(test)]
mod tests {
    use super::*;
    use reyn_core::permission::Zones;
    use reyn_workspace::Workspace;

    fn prepare(name: &str, args: &str, context: &Context) -> CallError {
        let call = ToolCall { id: "1".into(), name: name.into(), args: Args::parse(args, false) };
        crate::builtin().prepare(call, context).unwrap_err()
    }

    #[test]
    fn arguments_that_do_not_fit_say_where_and_how_to_call_it() {
        let dir = tempfile::tempdir().unwrap();
        let context = Context::new(
            Workspace::open(Zones::new(dir.path().canonicalize().unwrap(), vec![]), None).unwrap(),
        );
        for (args, says) in [
            ("{}", "missing field `path`"),
            (r#"{"path": 5}"#, "at `path`: invalid type: integer `5`, expected a string"),
            (r#"{"path": "a", "ofset": 1}"#, "unknown field `ofset`"),
            ("[]", "must be a JSON object, not an array"),
            (r#"{"path": "a\u0000b"}"#, "NUL"),
        ] {
            let error = prepare("read_file", args, &context);
            assert_eq!(error.kind, ErrorKind::InvalidArgs);
            assert!(error.message.contains(says), "{args}: {}", error.message);
        }
        let hint = prepare("read_file", "{}", &context).hint.unwrap();
        assert!(hint.contains("read_file(path, offset?, limit?"), "{hint}");
    }

    #[test]
    fn the_message_about_malformed_arguments_does_not_repeat_them() {
        let error = prepare("read_file", r#"{"password": "hunter2""#, &Context::default());
        assert!(!error.message.contains("hunter2"), "{}", error.message);
        assert!(error.hint.unwrap().contains("hunter2"));
    }

    #[test]
    fn an_unknown_tool_names_the_nearest_ones() {
        let error = prepare("list_files", "{}", &Context::default());
        assert_eq!(error.kind, ErrorKind::UnknownTool);
        assert!(error.suggestions.contains(&"list_directory".to_owned()), "{:?}", error.suggestions);
        assert!(prepare("xyzzy", "{}", &Context::default()).hint.unwrap().contains("`read_file`"));
    }

    #[test]
    fn a_missing_service_is_an_error_that_says_which() {
        let error = prepare("read_file", r#"{"path": "a"}"#, &Context::default());
        assert_eq!((error.kind, error.message.contains("`workspace`")), (ErrorKind::Exception, true));
    }
}
