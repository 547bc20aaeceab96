//! `/clear`: a new conversation. The old one is kept.

use futures::FutureExt;

use super::{Slash, done};
use crate::chat::desk::After;
use crate::chat::wire::News;
use crate::opening;

pub(super) static SLASH: Slash = Slash {
    name: "clear",
    arguments: "",
    summary: "begin anew; this conversation is kept",
    run: |desk, _| {
        async move {
            let before = desk.session.id().to_owned();
            let id = opening::new_id().map_err(|failure| failure.message)?;
            desk.switch_to(id).map_err(|failure| failure.message)?;
            desk.ui.tell(News::Clear);
            desk.print(done(&format!("a new conversation; `/resume {before}` goes back")));
            Ok(After::Stay)
        }
        .boxed()
    },
};
