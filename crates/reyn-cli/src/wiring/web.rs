//! How the web is reached and what comes from it is handled, as configured and as the environment says.

use reyn_core::gate::Refusal;
use reyn_core::settings::SearchEngine;
use reyn_core::tool::ErrorKind;
use reyn_runtime::Screening;
use reyn_tools::{ExternalFiles, Web, WebOptions};
use reyn_web::{AddressPolicy, HostPort, ProxyOptions, WebClientOptions};

use super::Project;
use crate::exit::Failure;

/// Set to anything but 0 or nothing, it refuses proxies.
const STRICT: &str = "REYN_SSRF_STRICT";
/// The variable that holds the key for Brave's search.
const BRAVE_KEY: &str = "BRAVE_API_KEY";

impl Project {
    /// The web, and why certificates are not checked, when they are not.
    pub(crate) fn web(&self) -> (Web, Option<String>) {
        let config = &self.config;
        let fetch = &config.settings.web_fetch;
        let search = config.settings.web.search_values();
        let allow_hosts = fetch.allow_hosts.iter().filter_map(|pair| pair.parse::<HostPort>().ok()).collect();
        let (is_tls_verified, unverified) = self.is_tls_verified();
        let variable = |names: &[&str]| {
            let mut values = names.iter().filter_map(|name| config.variable(name));
            values.find(|value| !value.trim().is_empty()).map(str::to_owned)
        };
        let proxy = ProxyOptions {
            http: variable(&["http_proxy"]),
            https: variable(&["https_proxy", "HTTPS_PROXY"]),
            no_proxy: variable(&["no_proxy", "NO_PROXY"]),
        };
        let bundle = || variable(&["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"]).map(Into::into);
        let options = WebOptions {
            client: WebClientOptions {
                policy: AddressPolicy { allow_private: fetch.allow_private_ips, allow_hosts },
                download_bytes_max: usize::try_from(fetch.max_download_bytes).unwrap_or(usize::MAX),
                ca_bundle: config.ca_bundle.clone().or_else(bundle),
                is_tls_verified,
                proxy: (proxy.http.is_some() || proxy.https.is_some()).then_some(proxy),
                is_strict: variable(&[STRICT]).is_some_and(|value| value != "0"),
                ..WebClientOptions::default()
            },
            engine: search.backend,
            fallback: search.fallback,
            searxng_url: search.searxng_url,
            duckduckgo_url: search.duckduckgo_url,
            brave_url: search.brave_url,
            brave_key: search.brave_api_key.or_else(|| variable(&[BRAVE_KEY])),
        };
        (Web::new(options), unverified)
    }

    fn is_tls_verified(&self) -> (bool, Option<String>) {
        let told = self.config.settings.web_fetch.verify_ssl;
        if let Some(is_verified) = told {
            let key = "web_fetch.verify_ssl";
            let origin = self.config.origin(key).map_or_else(String::new, |origin| format!(" ({origin})"));
            return (is_verified, (!is_verified).then(|| format!("`{key}` is `false`{origin}")));
        }
        let value = self.config.variable("SSL_VERIFY").unwrap_or_default().to_ascii_lowercase();
        let is_off = matches!(value.as_str(), "0" | "false" | "no" | "off");
        (!is_off, is_off.then(|| format!("the variable `SSL_VERIFY` is `{value}`")))
    }

    /// Whether an engine can be asked as configured, and what is missing else.
    pub(crate) fn lacks_for(&self, engine: SearchEngine) -> Option<&'static str> {
        let search = self.config.settings.web.search_values();
        match engine {
            SearchEngine::Duckduckgo => None,
            SearchEngine::Searxng => {
                search.searxng_url.is_none().then_some("`web.search.searxng_url` is not set")
            }
            SearchEngine::Brave => {
                let has_key = search.brave_api_key.is_some() || self.config.variable(BRAVE_KEY).is_some();
                (!has_key).then_some("`BRAVE_API_KEY` is not set")
            }
        }
    }

    /// How texts from outside are made safe to read.
    pub(crate) fn screening(&self) -> Result<Screening, Failure> {
        Screening::new(&self.config.settings.safety.threat_scan)
            .map_err(|error| Failure::usage("config", format!("`safety.threat_scan`: {error}")))
    }

    /// The files of the project that came from outside.
    pub(crate) fn external_files(&self) -> ExternalFiles {
        ExternalFiles::new(self.state().join("state/external_files.jsonl"))
    }

    /// Why the network is not used, when the sandbox's policy shuts it.
    pub(super) fn refuses_network(&self) -> Option<Refusal> {
        let key = "sandbox.policy.network";
        (!self.config.sandbox.network).then(|| {
            let origin = self.config.origin(key).map_or_else(String::new, |origin| format!(" ({origin})"));
            Refusal {
                kind: ErrorKind::PermissionDenied,
                message: format!("the network is shut: `{key}` is off{origin}"),
                lifts_when: format!("the operator sets `{key}: true`, which opens it to programs as well"),
                wants_person: false,
            }
        })
    }
}
