//! `/quit`: leaves.

use futures::FutureExt;

use super::Slash;
use crate::chat::desk::After;

pub(super) static SLASH: Slash = Slash {
    name: "quit",
    arguments: "",
    summary: "leave; the session is kept",
    run: |_, _| async { Ok(After::Leave) }.boxed(),
};
