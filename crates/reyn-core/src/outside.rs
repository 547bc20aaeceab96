//! Whether a text repeats what came from outside.

use std::collections::HashMap;

use serde_json::Value;

use crate::conversation::Entry;
use crate::limits::REPEATED_LINE_BYTES_MIN;
use crate::tool::{Args, Outcome, Output};

/// The tool that brought in a line which these arguments repeat, if one did. A line counts from
/// [`REPEATED_LINE_BYTES_MIN`] on; shorter ones are written by anybody.
#[must_use]
pub fn repeats_what_came(args: &Args, log: &[Entry]) -> Option<String> {
    let mut brought: HashMap<&str, &str> = HashMap::new();
    for entry in log {
        let Entry::Finished { outcome: Outcome::Ok(output), .. } = entry else { continue };
        let Some(external) = &output.external else { continue };
        each_text(output, &mut |text| {
            for line in lines(text) {
                brought.entry(line).or_insert(&external.external_tool);
            }
        });
    }
    if brought.is_empty() {
        return None;
    }
    let mut found = None;
    for value in args.as_object()?.values() {
        each_string(value, &mut |text| {
            found = found.or_else(|| lines(text).find_map(|line| brought.get(line).copied()));
        });
    }
    found.map(str::to_owned)
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| line.len() >= REPEATED_LINE_BYTES_MIN)
}

fn each_text<'a>(output: &'a Output, told: &mut dyn FnMut(&'a str)) {
    told(&output.body);
    for value in output.fields.values() {
        each_string(value, told);
    }
}

fn each_string<'a>(value: &'a Value, told: &mut dyn FnMut(&'a str)) {
    match value {
        Value::String(text) => told(text),
        Value::Array(items) => items.iter().for_each(|item| each_string(item, told)),
        Value::Object(map) => map.values().for_each(|item| each_string(item, told)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::External;
    use serde_json::json;

    const LINE: &str = "The maximum length of a larder entry is two hundred kilobytes, and no more.";

    fn finished(body: &str, results: Value, external: Option<External>) -> Entry {
        let mut output = Output::text("content", body).with("results", results);
        output.external = external;
        Entry::Finished { call_id: "1".into(), outcome: Outcome::Ok(output) }
    }

    #[test]
    fn a_long_line_that_came_from_outside_is_known_again_and_others_are_not() {
        let from_web = || Some(External::by("web_fetch"));
        let page = finished(&format!("# Larder\n\n  {LINE}\n"), json!([]), from_web());
        let search = finished("", json!([{"snippet": LINE}]), Some(External::by("web_search")));
        let own = finished(LINE, json!([]), None);
        let args =
            |text: &str| Args::parse(&json!({"path": "a", "edits": [{"new": text}]}).to_string(), false);
        let table = [
            (args(&format!("notes\n> x\n{LINE}")), vec![page.clone()], Some("web_fetch")),
            (args(LINE), vec![search], Some("web_search")),
            (args(LINE), vec![own], None),
            (args("# Larder"), vec![page.clone()], None),
            (args("words of my own that no page has, also when they are rather long"), vec![page], None),
            (args(LINE), vec![], None),
        ];
        for (args, log, expected) in table {
            assert_eq!(repeats_what_came(&args, &log).as_deref(), expected, "{args:?}");
        }
    }
}
