//! `web`, `permissions.web`, `web_fetch` and `safety.threat_scan`: what their types cannot say.

use std::path::PathBuf;

use reyn_core::permission::{WebPolicy, WebRule};
use reyn_core::settings::{Decision, HostPermission, SearchEngine, Settings};
use reyn_untrusted::{CUSTOM_PATTERNS_MAX, PatternError, Scanner};
use reyn_web::HostPort;

use super::node::{Node, Step};
use super::permissions::Places;
use super::problem::ConfigProblem;

/// The rules about the web.
pub(super) fn policy(settings: &Settings, tree: &Node) -> (WebPolicy, Vec<ConfigProblem>) {
    let mut problems = vec![];
    let elsewhere = &settings.permissions.web;
    let of_search = settings.web.search_permission();
    let of_fetch = settings.web.fetch_permission();
    for (key, is_twice) in [
        ("search", of_search.is_some() && elsewhere.search.is_some() && of_search != elsewhere.search),
        ("fetch", of_fetch.is_some() && elsewhere.fetch.is_some() && of_fetch != elsewhere.fetch.as_ref()),
    ] {
        if is_twice {
            let node = tree.get(&["permissions", "web", key]).unwrap_or(tree);
            let message = format!("`permissions.web.{key}` says something else than `web.{key}`");
            problems.push(ConfigProblem::at(&node.mark, message).hint("say it in one of the two places"));
        }
    }
    let search = of_search.or(elsewhere.search).map(|decision| match decision {
        Decision::Allow => WebRule::Allow,
        Decision::Ask => WebRule::Ask,
        Decision::Deny => WebRule::Deny,
    });
    let fetch = of_fetch.or(elsewhere.fetch.as_ref()).map(|permission| match permission {
        HostPermission::Decision(Decision::Allow) => WebRule::Allow,
        HostPermission::Decision(Decision::Ask) => WebRule::Ask,
        HostPermission::Decision(Decision::Deny) => WebRule::Deny,
        HostPermission::Hosts(hosts) => {
            let mut listed = vec![];
            for (at, host) in hosts.iter().enumerate() {
                match host_pattern(host) {
                    Ok(pattern) => listed.push(pattern),
                    Err(why) => problems.push(host_problem(at, &why, tree)),
                }
            }
            WebRule::Only(listed)
        }
    });
    (WebPolicy { search, fetch, granted: vec![] }, problems)
}

/// A host of a list, in the form in which addresses are judged.
pub(super) fn host_pattern(text: &str) -> Result<String, String> {
    let (wide, name) = match text.strip_prefix("*.") {
        Some(name) => ("*.", name),
        None => ("", text),
    };
    let host = reyn_web::host_name(name)
        .filter(|_| !name.contains('*'))
        .ok_or_else(|| format!("`{text}` is no host; write it as in `example.org` or `*.example.org`"))?;
    Ok(format!("{wide}{host}"))
}

fn host_problem(at: usize, why: &str, tree: &Node) -> ConfigProblem {
    let index = || Step::Index(at);
    let key = |keys: &[&str]| -> Vec<Step> {
        keys.iter().map(|key| Step::Key((*key).to_owned())).chain([index()]).collect()
    };
    let places =
        [key(&["web", "fetch"]), key(&["web", "fetch", "permission"]), key(&["permissions", "web", "fetch"])];
    let node = places.iter().find_map(|place| tree.at(place)).unwrap_or(tree);
    let why = if node.is_secret { "this is no host" } else { why };
    ConfigProblem::at(&node.mark, format!("`web.fetch`: {why}"))
}

/// What is wrong beside the rules, and where the certificates are.
pub(super) fn checked(
    settings: &Settings,
    places: Places<'_>,
    tree: &Node,
) -> (Option<PathBuf>, Vec<ConfigProblem>) {
    let mut problems = vec![];
    let at = |keys: &[&str]| tree.get(keys).unwrap_or(tree);
    let fetch = &settings.web_fetch;
    for (index, pair) in fetch.allow_hosts.iter().enumerate() {
        if let Err(error) = pair.parse::<HostPort>() {
            let steps = ["web_fetch", "allow_hosts"].map(|key| Step::Key(key.to_owned()));
            let path: Vec<Step> = steps.into_iter().chain([Step::Index(index)]).collect();
            let node = tree.at(&path).unwrap_or(tree);
            let message = format!("`web_fetch.allow_hosts`: {error}");
            problems.push(ConfigProblem::at(&node.mark, message).hint("write it as in `127.0.0.1:8080`"));
        }
    }
    let search = settings.web.search_values();
    let engines: Vec<SearchEngine> = search.fallback.iter().copied().chain([search.backend]).collect();
    if engines.contains(&SearchEngine::Searxng) && search.searxng_url.is_none() {
        let node = at(&["web", "search"]);
        let message = "`web.search`: `searxng` is asked, and nothing says where it is";
        let problem = ConfigProblem::at(&node.mark, message.to_owned());
        problems.push(problem.hint("set `web.search.searxng_url` to the address of your instance"));
    }
    for (key, url) in [
        ("searxng_url", &search.searxng_url),
        ("duckduckgo_url", &search.duckduckgo_url),
        ("brave_url", &search.brave_url),
    ] {
        if url.as_ref().is_some_and(|url| !is_address(url)) {
            let node = at(&["web", "search", key]);
            let message = format!("`web.search.{key}`: this is no address of a server");
            let problem = ConfigProblem::at(&node.mark, message);
            problems
                .push(problem.hint("write it as in `https://search.example.org`, without name and password"));
        }
    }
    let patterns = &settings.safety.threat_scan.custom_patterns;
    if patterns.len() > CUSTOM_PATTERNS_MAX {
        let node = at(&["safety", "threat_scan", "custom_patterns"]);
        let error = PatternError::TooMany { count: patterns.len() };
        problems
            .push(ConfigProblem::at(&node.mark, format!("`safety.threat_scan.custom_patterns`: {error}")));
    }
    for (index, pattern) in patterns.iter().enumerate().take(CUSTOM_PATTERNS_MAX) {
        if let Err(error) = Scanner::check(pattern) {
            let steps = ["safety", "threat_scan", "custom_patterns"].map(|key| Step::Key(key.to_owned()));
            let path: Vec<Step> = steps.into_iter().chain([Step::Index(index)]).collect();
            let node = tree.at(&path).unwrap_or(tree);
            problems.push(ConfigProblem::at(
                &node.mark,
                format!("`safety.threat_scan.custom_patterns`: {error}"),
            ));
        }
    }
    let bundle = fetch.ca_bundle.as_deref().map(|path| places.resolve(path)).transpose();
    let bundle = bundle.unwrap_or_else(|why| {
        let node = at(&["web_fetch", "ca_bundle"]);
        problems.push(ConfigProblem::at(&node.mark, format!("`web_fetch.ca_bundle`: {why}")));
        None
    });
    (bundle, problems)
}

fn is_address(url: &str) -> bool {
    reyn_web::is_server_address(url)
}
