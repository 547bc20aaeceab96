//! Which model would make vectors of texts. Asks nobody.

use super::{Finding, Surroundings};
use crate::embedding_choice::{Plan, plan};
use crate::model_choice::Server;
use crate::output;

pub(super) fn check(surroundings: &Surroundings) -> Vec<Finding> {
    let Ok(project) = surroundings.project() else { return vec![] };
    let finding = match plan(project, None) {
        Ok(Plan::Local { model, fetched_bytes: None }) => {
            Finding::ok(format!("`local/{model}`, in this process"))
        }
        Ok(Plan::Local { model, fetched_bytes: Some(bytes) }) => Finding::info(format!(
            "`local/{model}`, in this process; its files ({}) will be fetched on first use, `reyn models pull {model}` \
             does so now",
            output::size(bytes)
        )),
        Ok(Plan::Server(Server { untrusted: Some(untrusted), .. })) => {
            Finding::fail(format!("{}; nothing was sent", untrusted.sentence()), untrusted.remedy())
        }
        Ok(Plan::Server(Server { endpoint, untrusted: None, .. })) => {
            let address = endpoint.address.shown();
            Finding::ok(format!("`{}/{}` at {address}", endpoint.provider, endpoint.model))
        }
        Ok(Plan::Off { why }) => Finding::info(format!("off: {why}")),
        Err(failure) => {
            Finding::fail(failure.message, "`reyn config show --origin` says what is set and where")
        }
    };
    vec![finding]
}
