//! `reyn chat`: a conversation at a terminal.
//!
//! Three threads: one reads the keyboard, one owns the screen ([`front::Front`]), and the main one runs the
//! session ([`desk::Desk`]). The screen hears [`wire::News`] and tells [`wire::Wish`]es; it never waits for
//! the session, so a key shows at once whatever the model does.

pub(crate) mod desk;
pub(crate) mod front;
pub(crate) mod names;
pub(crate) mod plain;
pub(crate) mod shell_line;
pub(crate) mod slash;
pub(crate) mod status;
pub(crate) mod stops;
pub(crate) mod turn_view;
pub(crate) mod ui;
pub(crate) mod wire;
