//! How the web would be reached. Asks nobody.

use reyn_core::permission::WebRule;
use reyn_core::settings::SearchEngine;

use super::{Finding, Surroundings};

pub(super) fn check(surroundings: &Surroundings) -> Vec<Finding> {
    let Ok(project) = surroundings.project() else { return vec![] };
    let config = &project.config;
    let mut findings = vec![];
    if !config.sandbox.network {
        let message = "`web_fetch` and `web_search` are refused: `sandbox.policy.network` is off";
        return vec![Finding::info(message)];
    }
    let rule = |rule: &Option<WebRule>| match rule {
        None | Some(WebRule::Allow) => "allowed",
        Some(WebRule::Ask) => "asked about",
        Some(WebRule::Deny) => "denied",
        Some(WebRule::Only(_)) => "allowed for some hosts, else asked about",
    };
    let (search, fetch) = (rule(&config.web_policy.search), rule(&config.web_policy.fetch));
    let values = config.settings.web.search_values();
    let engines: Vec<SearchEngine> =
        std::iter::once(values.backend).chain(values.fallback.iter().copied()).collect();
    let named: Vec<&str> = engines.iter().map(|engine| engine.name()).collect();
    findings.push(Finding::ok(format!(
        "fetching pages is {fetch}; searching is {search}, by {}",
        named.join(", then ")
    )));
    for engine in engines {
        if let Some(lack) = project.lacks_for(engine) {
            let message = format!("`{}` cannot be asked: {lack}", engine.name());
            findings.push(Finding::warn(message, "set it, or take the engine out of `web.search`"));
        }
    }
    let (web, unverified) = project.web();
    if let Some(defect) = web.defect() {
        findings.push(Finding::fail(defect, "correct what it names"));
    }
    if let Some(reason) = unverified {
        let message = format!("certificates of web pages are not checked: {reason}");
        findings.push(Finding::warn(message, "name your own authority in `web_fetch.ca_bundle` instead"));
    }
    let opened = &config.settings.web_fetch.allow_hosts;
    if !opened.is_empty() || config.settings.web_fetch.allow_private_ips {
        let mut words: Vec<String> = opened.iter().map(|host| format!("`{host}`")).collect();
        if config.settings.web_fetch.allow_private_ips {
            words.push("private networks".to_owned());
        }
        findings.push(Finding::info(format!("pages inside are reached: {}", words.join(", "))));
    }
    findings
}
