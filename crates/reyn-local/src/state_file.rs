//! The state of a static prompt on disk, so that a new process need not read it again.
//!
//! Invariant: llama.cpp is handed a file only when its last 32 bytes are the hash of the rest and of what
//! it is for; a damaged, foreign or half-written file counts as absent.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::token::LlamaToken;
use reyn_core::limits::{LOCAL_STATE_BYTES_MAX, LOCAL_STATE_FILES_MAX};
use sha2::{Digest as _, Sha256};

/// Changes when what is stored changes.
const FORMAT: &[u8] = b"reyn-kv-1";
const HASH_BYTES: usize = 32;

/// Where the state of one prompt of one model lies.
pub(crate) struct StateFile {
    path: PathBuf,
    key: [u8; HASH_BYTES],
}

impl StateFile {
    pub(crate) fn new(folder: &Path, model_sha256: &str, tokens: &[LlamaToken]) -> Self {
        let mut hash = Sha256::new();
        hash.update(FORMAT);
        hash.update(model_sha256.as_bytes());
        for token in tokens {
            hash.update(token.0.to_le_bytes());
        }
        let key: [u8; HASH_BYTES] = hash.finalize().into();
        Self { path: folder.join(format!("{}.kv", hex(&key))), key }
    }

    /// Fills an empty context with the state of `tokens`; false when there is no sound file. The context
    /// must be cleared after false.
    pub(crate) fn load(&self, context: &mut LlamaContext<'_>, tokens: &[LlamaToken]) -> bool {
        if !self.is_sound() {
            return false;
        }
        match context.state_seq_load_file(&self.path, 0, tokens.len()) {
            Ok((loaded, _)) => loaded == tokens,
            Err(_) => false,
        }
    }

    /// Writes the state of `tokens`, which is all that the context holds, and removes the oldest files.
    pub(crate) fn save(&self, context: &LlamaContext<'_>, tokens: &[LlamaToken]) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        // Two processes that write it at once spoil it, which its hash tells; a crash leaves one at most.
        let part = self.path.with_extension("part");
        let written = context
            .state_seq_save_file(&part, 0, tokens)
            .map_err(|error| io::Error::other(error.to_string()))
            .and_then(|_| self.seal(&part))
            .and_then(|()| fs::rename(&part, &self.path));
        if written.is_err() {
            fs::remove_file(&part).ok();
        }
        written?;
        prune(folder)
    }

    /// Appends the hash and makes sure that the file is on disk.
    fn seal(&self, part: &Path) -> io::Result<()> {
        let mut file = File::options().read(true).append(true).open(part)?;
        let bytes = file.metadata()?.len();
        if bytes > LOCAL_STATE_BYTES_MAX {
            return Err(io::Error::other(format!("{bytes} bytes are more than {LOCAL_STATE_BYTES_MAX}")));
        }
        let hash = self.hash(&mut file, bytes)?;
        file.write_all(&hash)?;
        file.sync_all()
    }

    fn is_sound(&self) -> bool {
        let check = || -> io::Result<bool> {
            let mut file = File::open(&self.path)?;
            let bytes = file.metadata()?.len();
            let Some(content) = bytes.checked_sub(HASH_BYTES as u64) else { return Ok(false) };
            if bytes > LOCAL_STATE_BYTES_MAX + HASH_BYTES as u64 {
                return Ok(false);
            }
            let hash = self.hash(&mut file, content)?;
            let mut stored = [0; HASH_BYTES];
            file.read_exact(&mut stored)?;
            Ok(stored == hash)
        };
        check().unwrap_or(false)
    }

    /// The hash of the key and of the next `bytes` of a file.
    fn hash(&self, file: &mut File, bytes: u64) -> io::Result<[u8; HASH_BYTES]> {
        let mut hash = Sha256::new();
        hash.update(self.key);
        let mut content = vec![];
        file.take(bytes).read_to_end(&mut content)?;
        hash.update(&content);
        Ok(hash.finalize().into())
    }
}

/// Removes all state files but the newest.
fn prune(folder: &Path) -> io::Result<()> {
    let mut files = vec![];
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "kv") {
            files.push((fs::metadata(&path)?.modified()?, path));
        }
    }
    files.sort();
    let surplus = files.len().saturating_sub(LOCAL_STATE_FILES_MAX);
    files.iter().take(surplus).try_for_each(|(_, path)| fs::remove_file(path))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
