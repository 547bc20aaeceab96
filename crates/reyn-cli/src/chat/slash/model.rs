//! `/model`: who answers, and who answers from now on.

use futures::FutureExt;

use super::{Slash, done, table};
use crate::chat::desk::{After, Desk};
use crate::model_choice;

pub(super) static SLASH: Slash = Slash {
    name: "model",
    arguments: "[CLASS]",
    summary: "who answers; with a class or provider/model, from now on",
    run: |desk, arguments| {
        async move {
            if arguments.is_empty() {
                desk.print(table(&rows(desk)));
                return Ok(After::Stay);
            }
            let choice = model_choice::choose(&desk.project, Some(arguments), false)
                .await
                .map_err(|failure| failure.message)?;
            desk.session.set_model(std::sync::Arc::clone(&choice.model));
            desk.status.model = choice.model.name().to_owned();
            desk.status.context_tokens_max = choice.context_tokens;
            desk.ui.status(&desk.status);
            let note = choice.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
            desk.print(done(&format!("{} answers from now on{note}", choice.model.name())));
            desk.choice = choice;
            Ok(After::Stay)
        }
        .boxed()
    },
};

/// Classes, for completion.
pub(super) fn names(desk: &Desk) -> Vec<(String, String)> {
    let llm = &desk.project.config.settings.llm;
    llm.models
        .keys()
        .map(|class| {
            let model = llm.resolve(class).map(|spec| spec.name()).unwrap_or_default();
            (class.clone(), model)
        })
        .collect()
}

fn rows(desk: &Desk) -> Vec<(String, String)> {
    let mut rows = vec![("now".to_owned(), format!("{} ({})", desk.choice.model.name(), desk.choice.why))];
    rows.extend(names(desk));
    rows
}
