//! `reyn config path`: which files make up the configuration.

use std::fmt::Write as _;

use reyn_runtime::config::{ConfigPath, paths};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::wiring::{inputs, is_configuration, place};

/// Lists the files, the stronger below the weaker. Works while one of them is wrong.
pub(crate) fn run(as_json: bool) -> Result<Exit, Failure> {
    let project = place()?;
    let paths = paths(&project);
    let variables: Vec<String> =
        inputs()?.environment.into_keys().filter(|name| is_configuration(name)).collect();
    if as_json {
        let list = |files: &[ConfigPath]| -> Vec<Value> { files.iter().map(|file| json!(file)).collect() };
        output::json(&json!({
            "root": project.root,
            "layers": list(&paths.layers),
            "variables": variables,
            "beside": list(&paths.beside),
        }));
        return Ok(Exit::Done);
    }
    for notice in &project.notices {
        output::note(&format!("reyn: {notice}"));
    }
    let all = || paths.layers.iter().chain(&paths.beside);
    let name_width = all().map(|file| file.name.len()).max().unwrap_or(0);
    let purpose_width = all().map(|file| file.purpose.len()).max().unwrap_or(0);
    let mut text = "Settings; the later wins:\n".to_owned();
    let rows = |text: &mut String, files: &[ConfigPath]| {
        for file in files {
            let state = if file.exists { "here" } else { "-" };
            let path = output::visible(&file.path.display().to_string());
            let (name, purpose) = (&file.name, file.purpose);
            let _ = writeln!(text, "  {state:<4}  {name:<name_width$}  {purpose:<purpose_width$}  {path}");
        }
    };
    rows(&mut text, &paths.layers);
    let set = if variables.is_empty() { "none is set".to_owned() } else { variables.join(" ") };
    let _ = writeln!(text, "  then `REYN_…` variables ({set}), then flags of the command\n\nBeside them:");
    rows(&mut text, &paths.beside);
    text.push_str("\n`reyn config edit` opens the project's; `--user` and `--local` open yours.\n");
    output::result(&text);
    Ok(Exit::Done)
}
