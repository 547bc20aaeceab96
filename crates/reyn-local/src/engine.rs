//! The model's thread: loads the file, answers one request after the other, reuses what it has read.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::token::LlamaToken;
use reyn_core::conversation::{Finish, Usage, UsageSource};
use reyn_core::limits::LOCAL_BATCH_TOKENS;
use reyn_core::request::ChatReply;
use reyn_llm::{ModelError, ModelErrorKind};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::backend::backend;
use crate::chat::LocalOptions;
use crate::constraint::{Constraint, Grammars, likeliest};
use crate::pieces::Pieces;
use crate::prompt::{Prompt, Turn, prompt};
use crate::quoting::{as_text, escaped, goes_on};
use crate::repetition::is_loop;
use crate::state_file::StateFile;

/// How an answer begins that a schema holds. One that says the same again and again is ended; a call may have to.
const ANSWER: &str = "{\"answer\"";

/// One request, owned by the thread.
pub(crate) struct Job {
    pub(crate) turns: Vec<Turn>,
    pub(crate) static_turns: usize,
    pub(crate) schema: Option<Value>,
    pub(crate) output_tokens_max: u32,
    pub(crate) is_cancelled: Arc<AtomicBool>,
    pub(crate) news: mpsc::Sender<News>,
}

/// What the thread says about a request.
pub(crate) enum News {
    Text(String),
    Progress(String),
    Done(Result<ChatReply, ModelError>),
}

impl Job {
    fn say(&self, news: News) {
        // Nobody listens any more: the request is cancelled, which is looked at before each step.
        self.news.blocking_send(news).ok();
    }

    fn stop_if_cancelled(&self) -> Result<(), ModelError> {
        if self.is_cancelled.load(Ordering::Relaxed) { Err(local("cancelled")) } else { Ok(()) }
    }
}

/// Serves requests until the channel is closed. A file that cannot be loaded is tried again at the next
/// request.
pub(crate) fn run(options: &LocalOptions, jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        if job.stop_if_cancelled().is_err() {
            continue;
        }
        match load(options, &job) {
            Ok(model) => match Engine::new(options, &model) {
                Ok(mut engine) => return engine.serve(job, jobs),
                Err(error) => job.say(News::Done(Err(error))),
            },
            Err(error) => job.say(News::Done(Err(error))),
        }
    }
}

fn load(options: &LocalOptions, job: &Job) -> Result<Arc<LlamaModel>, ModelError> {
    job.say(News::Progress(format!("loading `{}`", options.model_id)));
    let path = &options.model_path;
    if !path.is_file() {
        return Err(local(&format!("the model file `{}` is not there", path.display())));
    }
    let model = LlamaModel::load_from_file(backend()?, path, &LlamaModelParams::default()).map_err(|_| {
        local(&format!(
            "`{}` is not a model that can be loaded; check it with `reyn models verify {}`",
            path.display(),
            options.model_id
        ))
    })?;
    Ok(Arc::new(model))
}

/// A loaded model with what it has read.
struct Engine<'a> {
    options: &'a LocalOptions,
    model: &'a Arc<LlamaModel>,
    /// Built at the first request with a schema.
    grammars: Option<Grammars>,
    context: LlamaContext<'a>,
    batch: LlamaBatch<'a>,
    /// The tokens whose state the context holds.
    held: Vec<LlamaToken>,
}

impl<'a> Engine<'a> {
    fn new(options: &'a LocalOptions, model: &'a Arc<LlamaModel>) -> Result<Self, ModelError> {
        let threads = i32::try_from(options.threads.max(1)).unwrap_or(i32::MAX);
        let batch_tokens = u32::try_from(LOCAL_BATCH_TOKENS).unwrap_or(u32::MAX);
        let params = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(options.context_tokens))
            .with_n_batch(batch_tokens)
            .with_n_ubatch(batch_tokens)
            .with_n_threads(threads)
            .with_n_threads_batch(threads);
        let context = model.new_context(backend()?, params).map_err(|_| {
            local(&format!(
                "no memory for a context of {} tokens; close programs or take a smaller model",
                options.context_tokens
            ))
        })?;
        Ok(Self {
            options,
            model,
            grammars: None,
            context,
            batch: LlamaBatch::new(LOCAL_BATCH_TOKENS, 1),
            held: vec![],
        })
    }

    fn serve(&mut self, first: Job, jobs: &Receiver<Job>) {
        let mut next = Some(first);
        while let Some(job) = next {
            let reply = self.answer(&job);
            job.say(News::Done(reply));
            next = jobs.recv().ok();
        }
    }

    fn answer(&mut self, job: &Job) -> Result<ChatReply, ModelError> {
        job.stop_if_cancelled()?;
        let prompt = prompt(self.model, &job.turns, job.static_turns)?;
        let room = self.context.n_ctx() as usize;
        if prompt.tokens.len() >= room {
            return Err(too_long(&self.options.model_id, prompt.tokens.len(), room));
        }
        let mut constraint = self.constraint(job.schema.as_ref())?;
        let cached = self.read(&prompt, job)?;
        let written = room.min(prompt.tokens.len() + job.output_tokens_max as usize);
        let (text, finish) = self.write(&mut constraint, written, job)?;
        let usage = Usage {
            prompt_tokens: prompt.tokens.len() as u64,
            completion_tokens: (self.held.len() - prompt.tokens.len()) as u64,
            cached_tokens: cached as u64,
            source: UsageSource::Provider,
        };
        Ok(ChatReply { text, calls: vec![], finish, usage })
    }

    fn constraint(&mut self, schema: Option<&Value>) -> Result<Constraint, ModelError> {
        let Some(schema) = schema else { return Ok(Constraint::none()) };
        let grammars = match self.grammars.take() {
            Some(grammars) => grammars,
            None => Grammars::new(self.model)?,
        };
        self.grammars.insert(grammars).constraint(schema)
    }

    /// Reads the prompt, except for what is held already; returns how much that was.
    fn read(&mut self, prompt: &Prompt, job: &Job) -> Result<usize, ModelError> {
        let (fixed, rest) = prompt.tokens.split_at(prompt.static_tokens);
        // One token at least is read anew: its logits choose the first token of the reply.
        let held = self.held.iter().zip(&prompt.tokens).take_while(|(held, wanted)| held == wanted).count();
        let mut cached = held.min(prompt.tokens.len() - 1);
        let state = self
            .options
            .state_dir
            .as_ref()
            .filter(|_| !fixed.is_empty() && cached < fixed.len())
            .map(|folder| StateFile::new(folder, &self.options.sha256, fixed));
        if let Some(state) = &state {
            self.forget_after(0);
            if state.load(&mut self.context, fixed) {
                self.held.extend(fixed);
                cached = fixed.len();
            } else {
                self.forget_after(0);
                cached = 0;
            }
        }
        self.forget_after(cached);
        cached = self.held.len();
        if cached < fixed.len() {
            self.evaluate(&fixed[cached..], prompt, job)?;
            if let Some(Err(error)) = state.map(|state| state.save(&self.context, fixed)) {
                job.say(News::Progress(format!("the state of the prompt cannot be kept: {error}")));
            }
        }
        self.evaluate(&rest[cached.saturating_sub(fixed.len())..], prompt, job)?;
        Ok(cached)
    }

    /// Writes until the reply is complete or `tokens_max` tokens are held.
    fn write(
        &mut self,
        constraint: &mut Constraint,
        tokens_max: usize,
        job: &Job,
    ) -> Result<(String, Finish), ModelError> {
        let (mut text, mut pieces) = (String::new(), Pieces::default());
        let mut finish = Finish::Stop;
        let mut next = constraint.forced();
        let begun = self.held.len();
        loop {
            if next.is_empty() {
                if constraint.is_finished() {
                    break;
                }
                let has_ended = text.starts_with(ANSWER) && is_loop(&self.held[begun..]);
                next = match has_ended.then(|| self.end_of_answer(constraint)).flatten() {
                    Some(tokens) => tokens,
                    None => match self.choose(constraint)? {
                        Some(tokens) => tokens,
                        None => break,
                    },
                };
            }
            next.truncate(tokens_max - self.held.len());
            if next.is_empty() {
                finish = Finish::Length;
                break;
            }
            for token in &next {
                let piece = pieces.push(&self.model.vocab().token_to_piece(*token, false, None));
                text.push_str(&piece);
                if !piece.is_empty() {
                    job.say(News::Text(piece));
                }
            }
            for tokens in next.chunks(LOCAL_BATCH_TOKENS) {
                job.stop_if_cancelled()?;
                self.decode(tokens)?;
            }
            next.clear();
        }
        let last = pieces.finish();
        if !last.is_empty() {
            text.push_str(&last);
            job.say(News::Text(last));
        }
        Ok((text, finish))
    }

    /// What ends an answer. `None` where it cannot end.
    fn end_of_answer(&self, constraint: &mut Constraint) -> Option<Vec<LlamaToken>> {
        let tokens = self.model.vocab().tokenize(b"\"}", false, false);
        constraint.take(&tokens).then_some(tokens)
    }

    /// The next tokens: what the model says, as far as the constraint allows, and what must follow. What it
    /// means as text inside a string stays in it. `None` at the end.
    fn choose(&mut self, constraint: &mut Constraint) -> Result<Option<Vec<LlamaToken>>, ModelError> {
        let wanted = likeliest(self.context.get_logits_ith(-1))?;
        if constraint.is_there()
            && !constraint.allows(wanted)
            && let Some(text) = escaped(&self.piece(wanted))
            && let tokens = self.model.vocab().tokenize(text.as_bytes(), false, false)
            && constraint.take(&tokens)
        {
            return Ok(Some(tokens));
        }
        let token = constraint.choose(self.context.get_logits_ith(-1))?;
        if self.model.vocab().is_control(token) || self.model.vocab().is_eog(token) {
            return Ok(None);
        }
        let forced = constraint.forced();
        if let Some(text) = as_text(&self.piece(token)).filter(|_| !forced.is_empty())
            && self.goes_on_with_text(token)?
        {
            let tokens = self.model.vocab().tokenize(text.as_bytes(), false, false);
            constraint.take_back(1 + forced.len())?;
            if constraint.take(&tokens) {
                return Ok(Some(tokens));
            }
            // The quote of a name or a fixed word is no text.
            if !constraint.take(&[token]) {
                return Err(local("a token that was allowed is allowed no more"));
            }
            return Ok(Some(std::iter::once(token).chain(constraint.forced()).collect()));
        }
        Ok(Some(std::iter::once(token).chain(forced).collect()))
    }

    /// Whether the model, after a quote that would end a string, would say something that cannot follow a string.
    fn goes_on_with_text(&mut self, quote: LlamaToken) -> Result<bool, ModelError> {
        let held = self.held.len();
        self.decode(&[quote])?;
        let next = likeliest(self.context.get_logits_ith(-1))?;
        self.forget_after(held);
        let is_end = self.model.vocab().is_control(next) || self.model.vocab().is_eog(next);
        Ok(!is_end && !goes_on(&self.piece(next)))
    }

    fn piece(&self, token: LlamaToken) -> String {
        String::from_utf8_lossy(&self.model.vocab().token_to_piece(token, false, None)).into_owned()
    }

    /// Reads tokens of the prompt, batch by batch, and says how far it is.
    fn evaluate(&mut self, tokens: &[LlamaToken], prompt: &Prompt, job: &Job) -> Result<(), ModelError> {
        for tokens in tokens.chunks(LOCAL_BATCH_TOKENS) {
            job.stop_if_cancelled()?;
            let percent = 100 * self.held.len() / prompt.tokens.len();
            job.say(News::Progress(format!("reading the prompt: {percent} %")));
            self.decode(tokens)?;
        }
        Ok(())
    }

    /// Reads at most one batch of tokens behind those held.
    fn decode(&mut self, tokens: &[LlamaToken]) -> Result<(), ModelError> {
        self.batch.clear();
        for (at, token) in tokens.iter().enumerate() {
            let position = i32::try_from(self.held.len() + at).map_err(|error| local(&error.to_string()))?;
            let added = self.batch.add(*token, position, &[0], at + 1 == tokens.len());
            added.map_err(|error| local(&error.to_string()))?;
        }
        if let Err(error) = self.context.decode(&mut self.batch) {
            self.forget_after(0);
            return Err(local(&format!("llama.cpp: {error}")));
        }
        self.held.extend(tokens);
        Ok(())
    }

    /// Drops the state of all tokens but the first `count`.
    fn forget_after(&mut self, count: usize) {
        if count == self.held.len() && count > 0 {
            return;
        }
        let removed = u32::try_from(count)
            .ok()
            .filter(|from| *from > 0)
            .and_then(|from| self.context.clear_kv_cache_seq(Some(0), Some(from), None).ok());
        if removed != Some(true) {
            self.context.clear_kv_cache();
            self.held.clear();
        }
        self.held.truncate(count);
    }
}

fn too_long(model: &str, tokens: usize, room: usize) -> ModelError {
    local(&format!(
        "the conversation is {tokens} tokens long and `{model}` holds {room} with the reply; \
         begin a new session, send less text, or choose a model with a larger context"
    ))
}

fn local(message: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Local, message)
}
