//! `/cost`: tokens, and money where a price is known.

use futures::FutureExt;
use reyn_core::conversation::{Entry, Usage, UsageSource, usage_of};

use super::{Slash, table};
use crate::chat::desk::{After, Desk};
use crate::chat::status::{count, money};

pub(super) static SLASH: Slash = Slash {
    name: "cost",
    arguments: "",
    summary: "tokens, and money where a price is known",
    run: |desk, _| {
        async move {
            desk.print(table(&rows(desk)));
            Ok(After::Stay)
        }
        .boxed()
    },
};

fn rows(desk: &Desk) -> Vec<(String, String)> {
    let has_reply = desk.session.log().iter().any(|entry| matches!(entry, Entry::Reply(_)));
    let conversation = if has_reply { words(usage_of(desk.session.log())) } else { "nothing yet".to_owned() };
    let mut rows = vec![
        ("this conversation".to_owned(), conversation),
        (
            "since the chat began".to_owned(),
            desk.status.usage.map_or_else(|| "nothing yet".to_owned(), words),
        ),
    ];
    let price = match (desk.status.dollars, desk.choice.price) {
        (Some(dollars), _) if desk.status.unpriced_rounds > 0 => format!(
            "{} since the chat began, without {} rounds of unknown price",
            money(dollars),
            desk.status.unpriced_rounds
        ),
        (Some(dollars), _) => format!("{} since the chat began", money(dollars)),
        (None, Some(_)) => "nothing yet".to_owned(),
        (None, None) => {
            format!("not known for {}; `price` under `llm.models` says it", desk.choice.model.name())
        }
    };
    rows.push(("money".to_owned(), price));
    rows
}

fn words(usage: Usage) -> String {
    let sure = match usage.source {
        UsageSource::Provider => "",
        UsageSource::Estimated => ", in part estimated",
        UsageSource::Unknown => ", not all of them counted",
    };
    let cached = match usage.cached_tokens {
        0 => String::new(),
        cached => format!(" ({} of them from the cache)", count(cached)),
    };
    format!(
        "{} tokens read{cached}, {} written{sure}",
        count(usage.prompt_tokens),
        count(usage.completion_tokens)
    )
}
