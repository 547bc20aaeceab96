//! A model's server that only a file of the project names: what it would get, and the person's yes.
//!
//! Invariant: nothing here shows the value of a variable.

use reyn_core::settings::ModelSpec;
use reyn_llm::{ServerAddress, ServerOrigin};
use reyn_runtime::config::WrittenAddress;
use serde_json::{Value, json};

use crate::confirm::{Default, is_clear_yes};
use crate::exit::Failure;
use crate::output;
use crate::person::{answer_line, forget_typed_ahead};
use crate::wiring::Project;

/// How programs know that a server is not trusted.
pub(crate) const KIND: &str = "untrusted_server";

/// A server that the person has not trusted yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UntrustedServer {
    /// `provider/model`.
    model: String,
    /// The address as it is written, without a name and a password.
    address: String,
    /// Where that stands, as in `reyn.yaml:3`.
    origin: String,
    /// What would be in `llm.trusted_servers`.
    server: String,
    /// The variables whose values would go there.
    values: Vec<String>,
}

/// The names of the variables whose values a request of this model holds: the key's first.
pub(crate) fn values(project: &Project, key_name: Option<&str>, spec: &ModelSpec) -> Vec<String> {
    let mut names: Vec<String> = key_name.into_iter().map(str::to_owned).collect();
    let name = spec.name();
    let mut texts: Vec<&str> = spec.options.api_base.as_deref().into_iter().chain([name.as_str()]).collect();
    spec.options.extra_body.iter().flatten().for_each(|(_, value)| texts_of(value, &mut texts));
    for name in texts.into_iter().flat_map(|text| project.config.variables_of(text)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn texts_of<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts_of(item, texts)),
        Value::Object(members) => members.values().for_each(|member| texts_of(member, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl UntrustedServer {
    /// What there is to say of a server that has to be asked about. `values` are names of variables.
    pub(crate) fn new(
        model: String,
        server: &ServerOrigin,
        address: &ServerAddress,
        written: &WrittenAddress,
        values: Vec<String>,
    ) -> Self {
        let template = written.template.as_deref();
        let as_written = template.map(|template| ServerAddress::with_secrets("", template, &[]));
        Self {
            model,
            address: as_written.as_ref().unwrap_or(address).shown().to_owned(),
            origin: written.origin.clone().unwrap_or_else(|| "the project".to_owned()),
            server: template.and_then(with_variables).map_or_else(|| server.to_string(), str::to_owned),
            values,
        }
    }

    /// Asks the person, where somebody is there.
    ///
    /// # Errors
    /// When nobody is there, or the answer is no: nothing may be sent.
    pub(crate) async fn consent(&self, may_ask: bool) -> Result<(), Failure> {
        if !may_ask {
            return Err(self.refusal());
        }
        output::note_part(&output::for_terminal(&self.question()));
        forget_typed_ahead();
        output::note_part("Send it there in this run? [y/N] ");
        let line = answer_line().await;
        if line.is_some_and(|line| is_clear_yes(&line, Default::No)) { Ok(()) } else { Err(self.declined()) }
    }

    /// What is so, in one sentence.
    pub(crate) fn sentence(&self) -> String {
        let Self { model, address, origin, .. } = self;
        format!("`{model}` is at `{address}`, a server that only {origin} names and nobody has trusted")
    }

    /// What to do about it.
    pub(crate) fn remedy(&self) -> String {
        let entry = self.entry();
        format!(
            "if you trust it, put `llm.trusted_servers: [{entry}]` into `~/.reyn/config.yaml`, or set \
             `REYN_LLM__TRUSTED_SERVERS=\"[{entry}]\"`; else name another model with `--model`"
        )
    }

    fn question(&self) -> String {
        let Self { model, address, origin, server, .. } = self;
        format!(
            "{origin} names a server for `{model}` that you have not trusted: {address}\n  \
             the server is {server}\n  {}\n  to keep a yes: `llm.trusted_servers: [{}]` in `~/.reyn/config.yaml`\n",
            self.gets(),
            self.entry()
        )
    }

    /// What goes to the server.
    fn gets(&self) -> String {
        let values: Vec<String> = self.values.iter().map(|name| format!("`{name}`")).collect();
        let said = "everything said goes there, and what is read from your files";
        match values.as_slice() {
            [] => said.to_owned(),
            [one] => format!("the value of {one} would go there; {said}"),
            several => format!("the values of {} would go there; {said}", several.join(", ")),
        }
    }

    /// As YAML takes it in a list, and a shell between double quotes.
    fn entry(&self) -> String {
        let needs_quotes = self.server.contains(['[', ']', '{', '}']);
        if needs_quotes { format!("'{}'", self.server) } else { self.server.clone() }
    }

    fn refusal(&self) -> Failure {
        let message = format!("{}; {}. Nothing was sent; {}", self.sentence(), self.gets(), self.remedy());
        Failure::usage(KIND, message).with(self.details())
    }

    fn declined(&self) -> Failure {
        let message = format!("nothing was sent to {}; {}", self.server, self.remedy());
        Failure::usage(KIND, message).with(self.details())
    }

    fn details(&self) -> Value {
        let Self { model, address, origin, server, values } = self;
        json!({"model": model, "address": address, "named_in": origin, "server": server, "variables": values})
    }
}

/// Scheme, host and port of a text as they are written, where a variable stands in them.
fn with_variables(template: &str) -> Option<&str> {
    let start = template.find("://").map_or(0, |at| at + "://".len());
    let end = template[start..].find(['/', '\\', '?', '#']).map_or(template.len(), |at| start + at);
    Some(&template[..end]).filter(|origin| origin.contains('$'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(address: &str, template: Option<&str>, values: &[&str]) -> UntrustedServer {
        let written = WrittenAddress {
            is_persons: false,
            origin: Some("reyn.yaml:3".to_owned()),
            template: template.map(str::to_owned),
            secrets: vec![],
        };
        let origin = ServerOrigin::parse("https://evil.example").unwrap();
        let values = values.iter().map(|name| (*name).to_owned()).collect();
        UntrustedServer::new("a/b".to_owned(), &origin, &ServerAddress::new(address), &written, values)
    }

    #[test]
    fn the_server_is_shown_as_it_is_unless_a_variable_stands_in_it() {
        for (address, template, shown, entry) in [
            (
                "https://api.openai.com@evil.example/v1",
                None,
                "https://evil.example/v1",
                "https://evil.example",
            ),
            (
                "https://evil.example/value/v1",
                Some("https://evil.example/${X}/v1"),
                "https://evil.example/${X}/v1",
                "https://evil.example",
            ),
            (
                "https://value.evil.example/v1",
                Some("https://${X}.evil.example/v1"),
                "https://${X}.evil.example/v1",
                "'https://${X}.evil.example'",
            ),
            ("https://value", Some("${URL}/v1"), "${URL}/v1", "'${URL}'"),
            ("https://value/", Some("https://${X}@b.c/v1"), "https://b.c/v1", "'https://${X}@b.c'"),
        ] {
            let server = server(address, template, &[]);
            assert_eq!((server.address.as_str(), server.entry().as_str()), (shown, entry));
            for text in [server.question(), server.sentence(), server.remedy(), server.details().to_string()]
            {
                assert!(!text.contains("value"), "{text}");
            }
        }
    }

    #[test]
    fn what_goes_there_is_named() {
        let gets = |values: &[&str]| server("https://evil.example", None, values).gets();
        let said = "everything said goes there, and what is read from your files";
        assert_eq!(gets(&[]), said);
        assert_eq!(gets(&["A"]), format!("the value of `A` would go there; {said}"));
        assert_eq!(gets(&["A", "B"]), format!("the values of `A`, `B` would go there; {said}"));
    }
}
