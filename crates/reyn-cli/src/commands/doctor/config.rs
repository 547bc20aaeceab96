//! Whether the configuration, the profiles and the kept answers are right.

use reyn_runtime::ApprovalStore;
use reyn_runtime::config::{ConfigProblem, check as check_configuration, paths, zones};

use super::{Finding, Surroundings};
use crate::wiring;

pub(super) fn check(surroundings: &Surroundings) -> Vec<Finding> {
    let inputs = match wiring::inputs() {
        Ok(inputs) => inputs,
        Err(failure) => return vec![Finding::fail(failure.message, "go to a folder that exists")],
    };
    let registry = reyn_tools::builtin();
    let known: Vec<&str> = registry.specs().map(|spec| spec.name).collect();
    let report = check_configuration(&inputs, &known);
    let problems = report.problems.iter().map(|problem| Finding::fail(place_of(problem), fix_of(problem)));
    let warnings = report.warnings.iter().map(|problem| Finding::warn(place_of(problem), fix_of(problem)));
    let notices = report.notices.into_iter().map(Finding::info);
    let mut findings: Vec<Finding> = problems.chain(warnings).chain(notices).collect();
    if report.problems.is_empty() {
        findings.insert(0, right(surroundings));
    }
    findings.extend(answers(surroundings));
    findings
}

/// While the kept answers cannot be read, whatever asks is refused.
fn answers(surroundings: &Surroundings) -> Option<Finding> {
    let place = surroundings.place().ok()?;
    let zones = zones(&place.root, place.home.as_deref());
    let read = ApprovalStore::new(place.root.join(".reyn/approvals.yaml")).list(&zones);
    read.err()
        .map(|error| Finding::fail(error.to_string(), "until then, what a person would be asked is refused"))
}

fn right(surroundings: &Surroundings) -> Finding {
    let Ok(place) = surroundings.place() else { return Finding::ok("right") };
    let names: Vec<String> =
        paths(place).layers.into_iter().filter(|file| file.exists).map(|file| file.name).collect();
    if names.is_empty() {
        let message = format!("no file: the defaults hold in {}", place.root.display());
        return Finding::info(message).with_fix("`reyn init` writes a commented one");
    }
    Finding::ok(format!("right: {}", names.join(", ")))
}

fn place_of(problem: &ConfigProblem) -> String {
    match (problem.line, problem.column) {
        (Some(line), Some(column)) => format!("{}:{line}:{column}: {}", problem.file, problem.message),
        (None | Some(_), _) => format!("{}: {}", problem.file, problem.message),
    }
}

fn fix_of(problem: &ConfigProblem) -> String {
    problem
        .hint
        .clone()
        .unwrap_or_else(|| "`reyn config check` shows the line; `reyn config edit` opens the file".to_owned())
}
