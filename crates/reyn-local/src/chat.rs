//! The local model as a chat model: a thread that owns llama.cpp, and the door to it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use futures::future::BoxFuture;
use reyn_core::limits::{LOCAL_OUTPUT_TOKENS_MAX, LOCAL_PIECES_MAX, LOCAL_WAITING_MAX};
use reyn_core::request::{ChatReply, ChatRequest};
use reyn_core::tool_use::{Framing, ToolFormat};
use reyn_llm::{ChatModel, ModelError, ModelErrorKind, StreamEvent};
use tokio::sync::mpsc;

use crate::engine::{self, Job, News};
use crate::prompt::Turn;

/// Which model, and how it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalOptions {
    /// The model's GGUF file.
    pub model_path: PathBuf,
    /// Its name without the provider, e.g. `qwen2.5-coder-1.5b`.
    pub model_id: String,
    /// The file's hash; tells kept states of one model from those of another.
    pub sha256: String,
    /// Threads that compute.
    pub threads: u32,
    /// Longest conversation with its reply, in tokens.
    pub context_tokens: u32,
    /// Where states of static prompts are kept between runs; nowhere when `None`.
    pub state_dir: Option<PathBuf>,
}

/// A model that runs in this process, on a thread of its own.
///
/// The file is loaded at the first request. Requests are answered one after the other. Dropping the model
/// ends its thread, at the latest after the batch or token it is at.
#[derive(Debug)]
pub struct LocalChat {
    name: String,
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl LocalChat {
    /// Starts the model's thread. Fails when the file is not there or no thread can be had; whether the
    /// file is a model shows at the first request.
    pub fn open(options: LocalOptions) -> Result<Self, ModelError> {
        if !options.model_path.is_file() {
            return Err(ModelError::new(
                ModelErrorKind::Local,
                format!(
                    "the model file `{}` is not there; fetch it with `reyn models pull {}`",
                    options.model_path.display(),
                    options.model_id
                ),
            ));
        }
        let name = format!("local/{}", options.model_id);
        let (jobs, waiting) = sync_channel(LOCAL_WAITING_MAX);
        let thread = std::thread::Builder::new()
            .name("local-model".to_owned())
            .spawn(move || engine::run(&options, &waiting))
            .map_err(|error| {
                ModelError::new(ModelErrorKind::Local, format!("no thread for the local model: {error}"))
            })?;
        Ok(Self { name, jobs: Some(jobs), thread: Some(thread) })
    }

    fn submit(&self, job: Job) -> Result<(), ModelError> {
        let Some(jobs) = &self.jobs else { return Err(self.is_gone()) };
        match jobs.try_send(job) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => Err(ModelError::new(
                ModelErrorKind::Local,
                format!("{LOCAL_WAITING_MAX} requests already wait for `{}`; try again later", self.name),
            )),
            Err(TrySendError::Disconnected(_)) => Err(self.is_gone()),
        }
    }

    fn is_gone(&self) -> ModelError {
        ModelError::new(
            ModelErrorKind::Local,
            format!("the thread of `{}` ended unexpectedly; start the program again", self.name),
        )
    }
}

impl ChatModel for LocalChat {
    fn name(&self) -> &str {
        &self.name
    }

    fn framing(&self) -> Framing {
        Framing { format: ToolFormat::Constrained }
    }

    fn reply<'a>(
        &'a self,
        request: &'a ChatRequest<'a>,
        on_event: &'a mut (dyn FnMut(StreamEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let (news, mut incoming) = mpsc::channel(LOCAL_PIECES_MAX);
            let cancel = CancelOnDrop(Arc::default());
            self.submit(Job {
                turns: request.messages.iter().map(Turn::of).collect(),
                static_turns: request.static_messages,
                schema: request.response_schema.clone(),
                output_tokens_max: request.output_tokens_max.unwrap_or(LOCAL_OUTPUT_TOKENS_MAX),
                is_cancelled: Arc::clone(&cancel.0),
                news,
            })?;
            while let Some(news) = incoming.recv().await {
                match news {
                    News::Text(text) => on_event(StreamEvent::Text(&text)),
                    News::Progress(words) => on_event(StreamEvent::Progress(&words)),
                    News::Done(reply) => return reply,
                }
            }
            Err(self.is_gone())
        })
    }
}

impl Drop for LocalChat {
    fn drop(&mut self) {
        // A closed channel is what ends the thread.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// Tells the thread to stop when the reply is not waited for any more.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
