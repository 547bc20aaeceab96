//! What comes from outside, made safe to read: normalised, looked through, fenced. And commands looked through.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use reyn_core::audit::AuditEvent;
use reyn_core::limits::{AUDIT_ITEMS_MAX, FENCE_ID_BYTES};
use reyn_core::permission::Command;
use reyn_core::redaction::told;
use reyn_core::settings::{ThreatScanSettings, ThreatScope as Scope};
use reyn_core::tool::{CallError, ErrorKind, External, Output};
use reyn_untrusted::{CUSTOM_PATTERNS_MAX, Match, PatternError, ScanOptions, Scanner, Verdict, disarmed};
use serde_json::Value;

use crate::session::{Journal, SessionError};

/// What a model is told of a text that could not be looked through.
const UNSEEN: &str = "it was not looked through for threats, because that failed";

/// How texts from outside are made safe to read.
#[derive(Debug, Clone, Default)]
pub struct Screening {
    /// `None` where nothing is looked through.
    scanner: Option<Lazy>,
    is_open_on_failure: bool,
    is_fenced: bool,
}

/// A scanner that is made when the first text comes: most runs never need one.
#[derive(Debug, Clone)]
struct Lazy {
    options: Arc<ScanOptions>,
    made: Arc<OnceLock<Option<Scanner>>>,
}

impl Lazy {
    /// `None` when it cannot be made.
    fn get(&self) -> Option<&Scanner> {
        self.made.get_or_init(|| Scanner::new(&self.options).ok()).as_ref()
    }
}

/// What a look through a text came to.
enum Looked {
    Found(Vec<Match>),
    /// The search itself failed.
    Failed,
}

/// What was found in texts that were made safe to read.
#[derive(Default)]
struct Disarmed {
    found: Vec<Match>,
    /// Whether a text was let through that could not be looked through.
    is_unseen: bool,
}

/// A result that a model must not read.
#[derive(Debug)]
pub(crate) struct Withheld {
    /// What the model reads instead.
    error: Box<CallError>,
    /// What the audit trail is told.
    event: Option<Box<AuditEvent>>,
}

impl Withheld {
    /// The error, when the audit trail has been told.
    pub(crate) fn told(self, journal: &mut Journal) -> Result<CallError, SessionError> {
        if let Some(event) = self.event {
            journal.audit(*event)?;
        }
        Ok(*self.error)
    }
}

/// What a command looks like.
pub(crate) struct CommandLook {
    /// Why it must not run.
    pub refusal: Option<CallError>,
    /// What the audit trail is told.
    pub events: Vec<AuditEvent>,
}

/// What a text looks like that is to be remembered.
#[derive(Debug)]
pub struct MemoryLook {
    /// Why it must not be.
    pub refusal: Option<CallError>,
    /// What the audit trail is told.
    pub events: Vec<AuditEvent>,
}

impl Screening {
    /// As `safety.threat_scan` says.
    ///
    /// # Errors
    /// When a pattern of its own cannot be used.
    pub fn new(settings: &ThreatScanSettings) -> Result<Self, PatternError> {
        let options = options(settings);
        let count = options.custom.len();
        if count > CUSTOM_PATTERNS_MAX {
            return Err(PatternError::TooMany { count });
        }
        options.custom.iter().try_for_each(Scanner::check)?;
        let scanner = settings.enabled.then(|| Lazy { options: Arc::new(options), made: Arc::default() });
        Ok(Self { scanner, is_open_on_failure: settings.fail_open, is_fenced: settings.fence_enabled })
    }

    /// Whether the model reads texts from outside between marks.
    #[must_use]
    pub const fn is_fenced(&self) -> bool {
        self.is_fenced
    }

    /// Makes a result safe to read when it comes from outside, and says what was found in it.
    pub(crate) fn admit(
        &self,
        mut output: Output,
        tool: &str,
        chain_id: &str,
    ) -> Result<(Output, Vec<AuditEvent>), Withheld> {
        let Some(external) = output.external.take() else { return Ok((output, vec![])) };
        let mut texts = vec![&mut output.body];
        output.fields.values_mut().for_each(|value| each_string(value, &mut texts));
        let disarmed = self.disarm(texts, tool, chain_id)?;
        output.external = Some(self.stamped(external, &disarmed)?);
        if disarmed.is_unseen {
            let note = output.fields.get("note").and_then(Value::as_str);
            let note = note.map_or_else(String::new, |note| format!("{note}; "));
            output = output.with("note", format!("{note}{UNSEEN}"));
        }
        Ok((output, disarmed.events(tool, chain_id)))
    }

    /// The same for an error that quotes what came from outside.
    pub(crate) fn admit_error(
        &self,
        mut error: CallError,
        tool: &str,
        chain_id: &str,
    ) -> Result<(CallError, Vec<AuditEvent>), Withheld> {
        let Some(external) = error.external.take() else { return Ok((error, vec![])) };
        let texts = [&mut error.message].into_iter().chain(&mut error.suggestions).chain(&mut error.hint);
        let disarmed = self.disarm(texts.collect(), tool, chain_id)?;
        error.external = Some(Box::new(self.stamped(*external, &disarmed)?));
        Ok((error, disarmed.events(tool, chain_id)))
    }

    fn stamped(&self, mut external: External, disarmed: &Disarmed) -> Result<External, Withheld> {
        external.threats = disarmed.found.iter().map(|one| one.id.clone()).collect();
        Ok(if self.is_fenced { external.fenced(fence_id()?) } else { external })
    }

    /// Looks through texts from outside and makes them safe to read. Says what was found.
    fn disarm(&self, texts: Vec<&mut String>, tool: &str, chain_id: &str) -> Result<Disarmed, Withheld> {
        let mut all = Disarmed::default();
        for text in texts {
            match self.look(text, Scope::Context) {
                Looked::Found(matches) => {
                    for one in matches {
                        if !all.found.iter().any(|known| known.id == one.id) {
                            all.found.push(one);
                        }
                    }
                }
                Looked::Failed if self.is_open_on_failure => all.is_unseen = true,
                Looked::Failed => {
                    let error = CallError::new(
                        ErrorKind::Exception,
                        format!("the result of `{tool}` is withheld: looking through it for threats failed"),
                    )
                    .hint("the person looks at `safety.threat_scan`; `fail_open: true` lets it through");
                    let event = Some(Box::new(failed(tool, chain_id, false)));
                    return Err(Withheld { error: Box::new(error), event });
                }
            }
            *text = disarmed(text);
        }
        Ok(all)
    }

    /// Looks through a command before it runs, and through its input where that is a program.
    pub(crate) fn command(
        &self,
        command: &Command,
        stdin: Option<&str>,
        tool: &str,
        chain_id: &str,
    ) -> CommandLook {
        if self.scanner.is_none() {
            return CommandLook { refusal: None, events: vec![] };
        }
        let argv = || command.argv.iter().take(AUDIT_ITEMS_MAX).map(|word| told(word)).collect::<Vec<_>>();
        let matches = match self.look_at_command(command, stdin) {
            Looked::Found(matches) => matches,
            Looked::Failed => {
                let refusal = CallError::new(
                    ErrorKind::PermissionDenied,
                    "refused, because looking through the command for threats failed",
                );
                let refusal = refusal
                    .hint("the person looks at `safety.threat_scan`; `fail_open: true` lets it through");
                let is_open = self.is_open_on_failure;
                let events = vec![failed(tool, chain_id, is_open)];
                return CommandLook { refusal: (!is_open).then_some(refusal), events };
            }
        };
        let blocks = |one: &&Match| {
            let scanner = self.scanner.as_ref().and_then(Lazy::get);
            scanner.is_some_and(|scanner| scanner.verdict(std::slice::from_ref(*one)) == Verdict::Block)
        };
        let blocking = matches.iter().find(blocks);
        let is_blocked = blocking.is_some();
        let refusal = blocking.map(|one| {
            CallError::new(
                ErrorKind::PermissionDenied,
                format!("the command looks harmful (`{}`) and was not run: `{}`", one.id, one.excerpt),
            )
            .cause("threat_blocked")
            .hint(
                "do the same in steps that can be looked at, such as saving a script and reading it first; the person \
                 can run it with `!`, or set `safety.threat_scan.enabled: false`",
            )
        });
        let events = matches
            .iter()
            .map(|one| {
                let (chain_id, pattern_id) = (chain_id.to_owned(), one.id.to_string());
                if is_blocked {
                    AuditEvent::ExecThreatBlocked { chain_id, pattern_id, argv: argv() }
                } else {
                    let severity = one.severity.name().to_owned();
                    AuditEvent::ExecThreatMatch { chain_id, pattern_id, severity, argv: argv() }
                }
            })
            .collect();
        CommandLook { refusal, events }
    }

    /// Looks through what would be remembered, strictly: a model reads it again and again. `is_own` says whether a
    /// part of the text was written by whoever is told.
    pub fn memory(
        &self,
        text: &str,
        tool: &str,
        chain_id: &str,
        is_own: &dyn Fn(&str) -> bool,
    ) -> MemoryLook {
        let clean = MemoryLook { refusal: None, events: vec![] };
        let Some(scanner) = self.scanner.as_ref() else { return clean };
        let matches = match self.look(text, Scope::Strict) {
            Looked::Found(matches) => matches,
            Looked::Failed => {
                let is_open = self.is_open_on_failure;
                let refusal = CallError::new(
                    ErrorKind::PermissionDenied,
                    "it is not remembered, because looking through it for threats failed",
                )
                .hint("the person looks at `safety.threat_scan`; `fail_open: true` lets it through");
                let events = vec![failed(tool, chain_id, is_open)];
                return MemoryLook { refusal: (!is_open).then_some(refusal), events };
            }
        };
        let blocks = |one: &Match| {
            let verdict = scanner.get().map(|scanner| scanner.verdict(std::slice::from_ref(one)));
            verdict.is_none_or(|verdict| verdict == Verdict::Block)
        };
        let refusal = matches.iter().find(|one| blocks(one)).map(|one| {
            let quoted = if is_own(&one.excerpt) { format!(": `{}`", one.excerpt) } else { String::new() };
            let id = &one.id;
            let message = format!("it looks like an attack (`{id}`) and is not remembered{quoted}");
            let hint = "say in your own words what is to be remembered, without orders and without secrets; the \
                        person can write the file by hand";
            CallError::new(ErrorKind::PermissionDenied, message).cause("threat_blocked").hint(hint)
        });
        let event = |one: &Match| {
            let (chain_id, tool) = (chain_id.to_owned(), tool.to_owned());
            let (pattern_id, severity) = (one.id.clone(), one.severity.name().to_owned());
            let scope = one.scope.name().to_owned();
            if blocks(one) {
                AuditEvent::ThreatBlock { chain_id, tool, pattern_id, severity, scope }
            } else {
                AuditEvent::ThreatScanMatch { chain_id, tool, pattern_id, severity, scope }
            }
        };
        MemoryLook { refusal, events: matches.iter().map(event).collect() }
    }

    fn look_at_command(&self, command: &Command, stdin: Option<&str>) -> Looked {
        let Looked::Found(mut matches) = self.look(&command.argv.join(" "), Scope::Exec) else {
            return Looked::Failed;
        };
        let Some(stdin) = stdin.filter(|_| command.is_interpreter()) else { return Looked::Found(matches) };
        let Looked::Found(of_input) = self.look(stdin, Scope::Exec) else { return Looked::Failed };
        // Input is shown with its controls written out, and may be data of a script as well.
        matches.extend(of_input.into_iter().filter(|one| one.id != "terminal_escape"));
        Looked::Found(matches)
    }

    fn look(&self, text: &str, scope: Scope) -> Looked {
        let Some(scanner) = &self.scanner else { return Looked::Found(vec![]) };
        let looking = || scanner.get().map(|scanner| scanner.scan(text, scope));
        match std::panic::catch_unwind(AssertUnwindSafe(looking)) {
            Ok(Some(matches)) => Looked::Found(matches),
            Ok(None) | Err(_) => Looked::Failed,
        }
    }
}

impl Disarmed {
    /// What the audit trail is told of it.
    fn events(&self, tool: &str, chain_id: &str) -> Vec<AuditEvent> {
        let event = |one: &Match| AuditEvent::ThreatScanMatch {
            chain_id: chain_id.to_owned(),
            tool: tool.to_owned(),
            pattern_id: one.id.clone(),
            severity: one.severity.name().to_owned(),
            scope: one.scope.name().to_owned(),
        };
        let unseen = self.is_unseen.then(|| failed(tool, chain_id, true));
        self.found.iter().map(event).chain(unseen).collect()
    }
}

fn failed(tool: &str, chain_id: &str, is_let_through: bool) -> AuditEvent {
    AuditEvent::ThreatScanFailed { chain_id: chain_id.to_owned(), tool: tool.to_owned(), is_let_through }
}

fn fence_id() -> Result<String, Withheld> {
    let mut bytes = [0; FENCE_ID_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        let why = format!("the result is withheld: the system gives no random number: {error}");
        Withheld { error: Box::new(CallError::new(ErrorKind::Exception, why)), event: None }
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn each_string<'a>(value: &'a mut Value, texts: &mut Vec<&'a mut String>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_string(item, texts)),
        Value::Object(map) => map.values_mut().for_each(|item| each_string(item, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn options(settings: &ThreatScanSettings) -> ScanOptions {
    ScanOptions { block_severity: settings.block_severity, custom: settings.custom_patterns.clone() }
}

#[cfg(test)]
#[path = "screening_tests.rs"]
mod tests;
