//! The model as others use it: loaded from two files, asked for vectors.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use reyn_core::embedding::{LOCAL_EMBEDDING_MODEL, ModelIdentity};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::batch::in_parallel;
use crate::network::Network;
use crate::table::{PIECES, PieceTable};
use crate::tokenizer::{Tokenizer, VocabularyError};
use crate::weights::{self, WeightsError};

/// Numbers of a vector.
pub const DIMENSIONS: usize = 512;
/// The most tokens of a text that its vector is made of; what follows them is not in it.
pub const TOKENS_MAX: usize = 512;
/// The most bytes of a text that are looked at; it is cut there before the character that does not fit.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Tokens that go through the network together: enough to read the weights seldom, few enough that what lies between
/// the layers stays in the cache.
const BATCH_TOKENS: usize = 128;
const WEIGHTS_BYTES_MAX: u64 = 64 * 1024 * 1024;
const VOCABULARY_BYTES_MAX: u64 = 16 * 1024 * 1024;
const REVISION_BYTES: usize = 8;

/// Why a model cannot be loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// A file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A file is larger than this model's.
    #[error("`{}` is no file of this model: it is larger than {bytes_max} bytes; fetch it again", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        bytes_max: u64,
    },
    /// The weights are not those of this model.
    #[error("`{}` holds no weights of this model: {reason}; fetch it again", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: WeightsError,
    },
    /// The vocabulary is not that of this model.
    #[error("`{}` holds no vocabulary of this model: {reason}; fetch it again", path.display())]
    Vocabulary {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: VocabularyError,
    },
}

/// A text as a vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// [`DIMENSIONS`] numbers, of length 1.
    pub vector: Vec<f32>,
    /// How many tokens the first [`TEXT_BYTES_MAX`] bytes have.
    pub tokens: usize,
    /// Whether the text is longer than what its vector is made of.
    pub is_cut: bool,
}

/// A loaded model: about 90 MB, shared by any number of threads.
#[derive(Debug)]
pub struct SentenceEncoder {
    tokenizer: Tokenizer,
    table: PieceTable,
    network: Network,
    identity: ModelIdentity,
}

impl SentenceEncoder {
    /// Loads the weights (`weights.npz`) and the vocabulary (`sp.model`).
    ///
    /// The hash of a file is the caller's to check; here it only becomes the revision. Whatever is in the files, this
    /// ends with a model or an error, and takes no more memory than the model needs.
    pub fn load(weights: &Path, vocabulary: &Path) -> Result<Self, LoadError> {
        let (tokenizer, loaded) = std::thread::scope(|scope| {
            let tokenizer = scope.spawn(|| load_tokenizer(vocabulary));
            let loaded = load_weights(weights);
            (tokenizer.join().expect("reading a vocabulary does not panic"), loaded)
        });
        let ((table, network), revision) = loaded?;
        let identity = ModelIdentity {
            name: LOCAL_EMBEDDING_MODEL.to_owned(),
            revision: Some(revision),
            dimensions: DIMENSIONS,
        };
        Ok(Self { tokenizer: tokenizer?, table, network, identity })
    }

    /// Which model this is; its revision is the first 16 hexadecimal digits of the SHA-256 of the weights.
    pub fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    /// The vector of a text: [`DIMENSIONS`] numbers, of length 1.
    ///
    /// Of a long text the first [`TEXT_BYTES_MAX`] bytes are looked at, and of these the first [`TOKENS_MAX`] tokens.
    /// A text without a visible character has a vector too, always the same one.
    pub fn encode(&self, text: &str) -> Vec<f32> {
        self.encoded(&[text]).pop().expect("a text has a vector").vector
    }

    /// The vectors of texts, in their order, made by up to `threads` threads (0 is 1).
    ///
    /// Each is what [`Self::encode`] gives, to the bit.
    pub fn encode_batch(&self, texts: &[&str], threads: usize) -> Vec<Vec<f32>> {
        self.encode_batch_counted(texts, threads).into_iter().map(|encoded| encoded.vector).collect()
    }

    /// The same with how many tokens each text has and whether all of it is in its vector.
    pub fn encode_batch_counted(&self, texts: &[&str], threads: usize) -> Vec<Encoded> {
        in_parallel(texts, threads, |texts| self.encoded(texts))
    }

    /// How many tokens a text has; 0 without a visible character.
    ///
    /// Not bounded by [`TOKENS_MAX`], so a text with more of them is one that [`Self::encode`] cuts; but only the first
    /// [`TEXT_BYTES_MAX`] bytes are counted.
    pub fn tokens(&self, text: &str) -> usize {
        self.tokenizer.pieces(cut(text)).len()
    }

    /// The pieces of a text as the network reads them: with a mark at both ends, and cut.
    pub fn token_ids(&self, text: &str) -> Vec<u32> {
        self.framed(text).0
    }

    /// The pieces of a text as the network reads them, and how many it has uncut.
    fn framed(&self, text: &str) -> (Vec<u32>, usize) {
        let mut pieces = self.tokenizer.pieces(cut(text));
        let tokens = pieces.len();
        pieces.truncate(TOKENS_MAX);
        (self.tokenizer.framed(&pieces), tokens)
    }

    fn encoded(&self, texts: &[&str]) -> Vec<Encoded> {
        let mut vectors = Vec::with_capacity(texts.len());
        let mut counts = Vec::with_capacity(texts.len());
        let mut group: Vec<Vec<u32>> = vec![];
        let mut tokens = 0;
        for text in texts {
            let (ids, count) = self.framed(text);
            counts.push((count, count > TOKENS_MAX || text.len() > TEXT_BYTES_MAX));
            if !group.is_empty() && tokens + ids.len() > BATCH_TOKENS {
                vectors.extend(self.network.vectors(&self.table, &group));
                group.clear();
                tokens = 0;
            }
            tokens += ids.len();
            group.push(ids);
        }
        if !group.is_empty() {
            vectors.extend(self.network.vectors(&self.table, &group));
        }
        let encoded = vectors.into_iter().zip(counts);
        encoded.map(|(vector, (tokens, is_cut))| Encoded { vector, tokens, is_cut }).collect()
    }
}

/// A text up to the bound, without a part of a character.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_BYTES_MAX)]
}

type Loaded = ((PieceTable, Network), String);

fn load_weights(path: &Path) -> Result<Loaded, LoadError> {
    let file = read_file(path, WEIGHTS_BYTES_MAX)?;
    let (read, revision) = std::thread::scope(|scope| {
        let revision = scope.spawn(|| revision(&file));
        let read = weights::read(&file);
        (read, revision.join().expect("hashing does not panic"))
    });
    let read = read.map_err(|reason| LoadError::Weights { path: path.to_owned(), reason })?;
    Ok((read, revision))
}

fn revision(file: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(file).iter().take(REVISION_BYTES).fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all");
        text
    })
}

fn load_tokenizer(path: &Path) -> Result<Tokenizer, LoadError> {
    let file = read_file(path, VOCABULARY_BYTES_MAX)?;
    Tokenizer::read(&file, PIECES).map_err(|reason| LoadError::Vocabulary { path: path.to_owned(), reason })
}

fn read_file(path: &Path, bytes_max: u64) -> Result<Vec<u8>, LoadError> {
    let failed = |source| LoadError::Read { path: path.to_owned(), source };
    // Opening a pipe would wait for a writer.
    let expected = std::fs::metadata(path).map_err(failed)?;
    if !expected.is_file() {
        return Err(failed(io::Error::other("it is no file")));
    }
    let file = File::open(path).map_err(failed)?;
    let expected = expected.len();
    let mut bytes = Vec::with_capacity(usize::try_from(expected.min(bytes_max)).unwrap_or(0));
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > bytes_max {
        return Err(LoadError::TooLarge { path: path.to_owned(), bytes_max });
    }
    Ok(bytes)
}
