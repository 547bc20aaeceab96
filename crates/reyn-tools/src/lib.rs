//! What the agent can do: one file per tool, and the services they use.
//!
//! Invariant: a tool never checks permission. It declares what it needs; the gate decides.

mod external_files;
mod found;
mod knowledge;
mod memory;
mod process;
mod registry;
mod schema;
mod text_encoding;
mod tool;
mod web;

pub use external_files::{ExternalFiles, ExternalFilesError};
pub use knowledge::{Embeddings, Knowledge, NoVectors, Vectors, metadata_in_json};
pub use memory::{Change, LayerView, Memory, MemoryIndex, Prompt, readable};
pub use process::{ProcessSettings, Processes};
pub use registry::{Prepared, Registry, recover, run};
pub use reyn_workspace::{Preview, ProposedChange};
pub use tool::{Context, Tool, ToolError, Touched, WebPlace, Wish};
pub use web::{Web, WebOptions};

/// Declares the modules and lists them.
macro_rules! builtin {
    ($($module:ident :: $tool:ident),* $(,)?) => {
        $(mod $module;)*
        /// All built-in tools.
        #[must_use]
        pub fn builtin() -> Registry {
            Registry::default()$(.with($module::$tool))*
        }
    };
}

builtin! {
    delete_file::DeleteFile,
    edit_file::EditFile,
    embed::Embed,
    exec::Exec,
    forget_memory::ForgetMemory,
    glob_files::GlobFiles,
    grep_files::GrepFiles,
    index_drop::IndexDrop,
    index_query::IndexQuery,
    index_write::IndexWrite,
    list_directory::ListDirectory,
    list_memory::ListMemory,
    read_file::ReadFile,
    read_memory_body::ReadMemoryBody,
    recall::Recall,
    regenerate_index::RegenerateIndex,
    remember_agent::RememberAgent,
    remember_shared::RememberShared,
    sandboxed_exec::SandboxedExec,
    shell::Shell,
    web_fetch::WebFetch,
    web_search::WebSearch,
    write_file::WriteFile,
}

#[cfg(test)]
mod tests {
    use reyn_core::permission::Zones;
    use reyn_core::tool::{Args, Caller, Effect, ErrorKind, ToolCall, judged_as};
    use reyn_core::tool_use::catalog::description;

    use reyn_sandbox::HelperProgram;
    use reyn_workspace::Workspace;

    use super::*;

    fn call(name: &str, args: &str) -> ToolCall {
        ToolCall { id: "1".into(), name: name.into(), args: Args::parse(args, false) }
    }

    fn context() -> (tempfile::TempDir, Context) {
        let dir = tempfile::tempdir().unwrap();
        let zones = Zones::new(dir.path().canonicalize().unwrap(), vec![]);
        let environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
        let settings = ProcessSettings::new(environment, None, HelperProgram::this_program());
        let settings = ProcessSettings { is_shell_allowed: true, ..settings };
        let context = Context::new(Workspace::open(zones, None).unwrap());
        let web = Web::new(WebOptions::default());
        (dir, context.with_processes(Processes::new(settings)).with_web(web))
    }

    #[test]
    fn every_example_is_valid_and_every_change_declares_what_it_touches() {
        let (_dir, context) = context();
        for spec in builtin().specs() {
            let prepared = builtin().prepare(call(spec.name, spec.example), &context);
            let prepared = prepared.unwrap_or_else(|error| panic!("{}: {error:?}", spec.name));
            let declares = !reyn_core::gate::Judged::needs(&prepared).is_empty();
            assert!(declares || spec.effect == Effect::Reads, "{} declares nothing", spec.name);
        }
    }

    #[test]
    fn every_summary_is_one_short_line_and_every_parameter_is_explained() {
        let registry = builtin();
        for (spec, schema) in registry.specs_with_schemas() {
            assert!(spec.summary.len() <= 80 && !spec.summary.contains('\n'), "{}", spec.name);
            for (name, parameter) in schema["properties"].as_object().unwrap() {
                assert!(parameter["description"].is_string(), "{}.{name}", spec.name);
            }
        }
    }

    #[test]
    fn no_tool_name_has_a_namespace() {
        assert!(builtin().specs().all(|spec| !spec.name.contains("__") && !spec.name.contains('.')));
    }

    #[test]
    fn a_chat_is_served_no_op_of_a_skill_and_a_skill_no_chat_tool() {
        let names =
            |caller| -> Vec<&str> { builtin().serving(caller).specs().map(|spec| spec.name).collect() };
        let (chat, skill) = (names(Caller::Chat), names(Caller::Skill));
        assert!(chat.contains(&"exec") && !chat.contains(&"sandboxed_exec") && !chat.contains(&"shell"));
        assert!(!skill.contains(&"exec") && skill.contains(&"sandboxed_exec") && skill.contains(&"shell"));
        let call = call("shell", r#"{"cmd": "ls"}"#);
        let error = builtin().serving(Caller::Chat).prepare(call, &Context::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::UnknownTool);
    }

    #[test]
    fn every_op_is_judged_as_a_tool_that_a_chat_can_be_offered_too() {
        let chat = builtin().serving(Caller::Chat);
        for spec in builtin().specs() {
            let judged = judged_as(spec.name);
            assert!(chat.specs().any(|one| one.name == judged), "`{}` is judged as `{judged}`", spec.name);
            let (_dir, context) = context();
            let prepared = builtin().prepare(call(spec.name, spec.example), &context).unwrap();
            assert_eq!(reyn_core::gate::Judged::tool(&prepared), judged);
        }
    }

    #[test]
    fn what_a_chat_is_offered_is_the_same_bytes_every_time_and_small() {
        let declarations = |registry: &Registry| -> Vec<String> {
            registry
                .specs_with_schemas()
                .map(|(spec, schema)| {
                    let callable = reyn_core::tool_use::Callable {
                        name: spec.name.into(),
                        description: description(&spec),
                        parameters: schema,
                    };
                    callable.declaration().to_string()
                })
                .collect()
        };
        let first = declarations(&builtin().serving(Caller::Chat));
        assert_eq!(first, declarations(&builtin().serving(Caller::Chat)));
        let total: usize = first.iter().map(String::len).sum();
        assert!(total / first.len() <= 420, "{} bytes a tool:\n{}", total / first.len(), first.join("\n"));
    }
}
