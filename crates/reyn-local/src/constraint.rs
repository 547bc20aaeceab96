//! The next token: greedy, and when a schema is given only from those that keep the reply valid.

use std::sync::Arc;

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use reyn_llm::{ModelError, ModelErrorKind};
use serde_json::{Value, json};
use toktrie::{TokEnv, TokTrie, TokenId, TokenizerEnv};

/// The model's tokens as the grammar engine knows them. Costly to build: once for each model.
pub(crate) struct Grammars {
    factory: ParserFactory,
}

impl Grammars {
    pub(crate) fn new(model: &Arc<LlamaModel>) -> Result<Self, ModelError> {
        let trie = LlamaSampler::llguidance_tok_env(model).tok_trie().clone();
        let tokens: TokEnv = Arc::new(ModelTokens { trie, model: Arc::clone(model) });
        let mut factory = ParserFactory::new_simple(&tokens).map_err(|error| local(&error.to_string()))?;
        factory.quiet();
        Ok(Self { factory })
    }

    /// A constraint that only lets values of `schema` through, written with `": "` and `", "` between
    /// their parts, so that a reply is the same text wherever it stands.
    pub(crate) fn constraint(&self, schema: &Value) -> Result<Constraint, ModelError> {
        let mut schema = schema.clone();
        if let Some(object) = schema.as_object_mut() {
            let layout = json!({
                "whitespace_flexible": false,
                "item_separator": ", ",
                "key_separator": ": ",
                "lenient": true,
            });
            object.insert("x-guidance".to_owned(), layout);
        }
        let matcher = Matcher::new(self.factory.create_parser(TopLevelGrammar::from_json_schema(schema)));
        match matcher.get_error() {
            None => Ok(Constraint { matcher: Some(matcher) }),
            Some(error) => Err(local(&format!("the reply's schema cannot be enforced: {error}"))),
        }
    }
}

/// Tokenises through the model itself, so that forced text becomes the tokens the model would write.
struct ModelTokens {
    trie: TokTrie,
    model: Arc<LlamaModel>,
}

impl TokenizerEnv for ModelTokens {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        let tokens = self.model.vocab().tokenize(bytes, false, false);
        tokens.into_iter().map(|token| token.0.cast_unsigned()).collect()
    }

    fn tokenize_is_canonical(&self) -> bool {
        true
    }
}

/// What a reply may still say.
pub(crate) struct Constraint {
    matcher: Option<Matcher>,
}

impl Constraint {
    /// Lets everything through.
    pub(crate) const fn none() -> Self {
        Self { matcher: None }
    }

    /// Tokens that must come next, already taken.
    pub(crate) fn forced(&mut self) -> Vec<LlamaToken> {
        let tokens = self.matcher.as_mut().map(Matcher::consume_ff_tokens).unwrap_or_default();
        tokens.into_iter().map(|token| LlamaToken(token.cast_signed())).collect()
    }

    /// Whether the reply is complete.
    pub(crate) fn is_finished(&self) -> bool {
        self.matcher.as_ref().is_some_and(Matcher::is_stopped)
    }

    /// Takes back the last `count` tokens that were taken.
    pub(crate) fn take_back(&mut self, count: usize) -> Result<(), ModelError> {
        let Some(matcher) = &mut self.matcher else { return Ok(()) };
        matcher.rollback(count).map_err(|error| local(&error.to_string()))
    }

    /// Takes these tokens, when all of them are allowed.
    pub(crate) fn take(&mut self, tokens: &[LlamaToken]) -> bool {
        let Some(matcher) = &mut self.matcher else { return false };
        let ids: Vec<TokenId> = tokens.iter().map(|token| token.0.cast_unsigned()).collect();
        !ids.is_empty()
            && matcher.validate_tokens(&ids).is_ok_and(|count| count == ids.len())
            && matcher.consume_tokens(&ids).is_ok()
    }

    /// Whether a token may come next.
    pub(crate) fn allows(&mut self, token: LlamaToken) -> bool {
        self.matcher.as_mut().is_none_or(|matcher| {
            matcher.validate_tokens(&[token.0.cast_unsigned()]).is_ok_and(|count| count == 1)
        })
    }

    /// Whether there is a grammar at all.
    pub(crate) const fn is_there(&self) -> bool {
        self.matcher.is_some()
    }

    /// Takes the likeliest token that is allowed.
    pub(crate) fn choose(&mut self, logits: &[f32]) -> Result<LlamaToken, ModelError> {
        let likeliest = best(logits, |_| true);
        let Some(matcher) = &mut self.matcher else { return token(likeliest) };
        // The mask of all tokens costs far more than a look at one, which is nearly always allowed.
        let is_allowed =
            likeliest.is_some_and(|id| matcher.validate_tokens(&[id]).is_ok_and(|count| count == 1));
        let chosen = if is_allowed {
            likeliest
        } else {
            let mask = matcher.compute_mask_or_eos().map_err(|error| local(&error.to_string()))?;
            best(logits, |id| mask.is_allowed(id))
        };
        let Some(id) = chosen else { return token(None) };
        matcher.consume_token(id).map_err(|error| local(&error.to_string()))?;
        token(Some(id))
    }
}

/// The token that the model would say next if nothing held it.
pub(crate) fn likeliest(logits: &[f32]) -> Result<LlamaToken, ModelError> {
    token(best(logits, |_| true))
}

/// The index of the greatest logit among the allowed.
fn best(logits: &[f32], is_allowed: impl Fn(u32) -> bool) -> Option<u32> {
    let mut best: Option<(u32, f32)> = None;
    for (id, logit) in (0_u32..).zip(logits) {
        if best.is_none_or(|(_, greatest)| *logit > greatest) && is_allowed(id) {
            best = Some((id, *logit));
        }
    }
    best.map(|(id, _)| id)
}

fn token(id: Option<u32>) -> Result<LlamaToken, ModelError> {
    id.map(|id| LlamaToken(id.cast_signed())).ok_or_else(|| local("no token may follow"))
}

fn local(message: &str) -> ModelError {
    ModelError::new(ModelErrorKind::Local, format!("the local model: {message}"))
}
