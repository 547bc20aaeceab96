//! Writes down what a person does with the project outside a session.

use std::path::Path;

use jiff::Timestamp;
use reyn_core::audit::AuditEvent;
use reyn_core::settings::AuditSettings;
use reyn_runtime::{AuditLog, DEFAULT_AGENT};

use crate::exit::Failure;
use crate::wiring::{Project, token};

/// The run that events of no session carry.
const RUN_ID: &str = "management";

/// Writes an event of no session into the audit trail of the project `root`.
///
/// Works while the configuration is wrong. How long events are kept is not known then, and none is removed.
pub(crate) fn record(root: &Path, event: &AuditEvent) -> Result<(), Failure> {
    let settings = Project::load().map_or_else(
        |_| AuditSettings { cleanup_period_days: 0, ..AuditSettings::default() },
        |project| project.config.settings.audit_events,
    );
    let mut audit = AuditLog::new(&root.join(".reyn/events"), DEFAULT_AGENT, RUN_ID, &token(8)?, settings);
    audit
        .record(event, Timestamp::now())
        .and_then(|()| audit.sync())
        .map_err(|error| Failure::failed("io", error.to_string()))
}
