//! Texts as vectors of meaning: the multilingual Universal Sentence Encoder, in plain Rust.
//!
//! Invariant: the vector of a text depends on the text and the two files of the model, never on the texts beside it,
//! on the number of threads or on what was encoded before. Nothing in a text or in a file makes it panic.

mod archive;
mod array;
mod batch;
mod encoder;
mod layer_norm;
mod matrix;
mod network;
mod table;
mod tokenizer;
mod weights;

pub use archive::ArchiveError;
pub use array::ArrayError;
pub use encoder::{DIMENSIONS, Encoded, LoadError, SentenceEncoder, TEXT_BYTES_MAX, TOKENS_MAX};
pub use tokenizer::VocabularyError;
pub use weights::WeightsError;

#[cfg(test)]
mod test_files;
