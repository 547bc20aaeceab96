//! Scripted models, a protocol-checking server, transcripts and pictures of screens, for tests. Nothing here
//! leaves the machine.

pub mod counted_file;
mod fake_server;
mod http;
mod protocol;
mod reflow;
mod reply;
mod response;
mod screen_svg;
mod scripted_embedding;
mod scripted_model;
mod transcript;

pub use fake_server::FakeServer;
pub use protocol::{assert_valid_messages, check_embedding_request, check_request};
pub use reflow::reflow;
pub use reply::{call, calls, says, tool_call};
pub use response::{Gate, Response, chunks, sse};
pub use screen_svg::Still;
pub use scripted_embedding::ScriptedEmbedding;
pub use scripted_model::{Scripted, ScriptedModel};
pub use transcript::transcript;
