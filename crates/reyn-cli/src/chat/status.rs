//! The last row: who answers, how full its context is, what it cost.

use reyn_core::conversation::Usage;
use reyn_core::settings::Price;
use reyn_terminal::{Line, Style};

/// What the status row says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Status {
    /// `provider/model`.
    pub model: String,
    /// Tokens of the conversation at its latest round; 0 before the first.
    pub context_tokens: u64,
    /// Size of the model's context window, where it is known.
    pub context_tokens_max: Option<u32>,
    /// Tokens of every round of this process.
    pub usage: Option<Usage>,
    /// US dollars of this process, as far as prices are known.
    pub dollars: Option<f64>,
    /// Rounds of this process whose price is not known.
    pub unpriced_rounds: u64,
    /// The session.
    pub session: String,
}

impl Status {
    /// Counts a round.
    pub(crate) fn count(&mut self, usage: Usage, price: Option<Price>) {
        self.context_tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
        self.usage = Some(self.usage.map_or(usage, |before| before.plus(usage)));
        match price.and_then(|price| price.of(usage)) {
            Some(dollars) => self.dollars = Some(self.dollars.unwrap_or(0.0) + dollars),
            None => self.unpriced_rounds += 1,
        }
    }

    /// The row, no wider than `columns`: what matters less goes first.
    pub(crate) fn line(&self, columns: usize) -> Line {
        let context = context(self.context_tokens, self.context_tokens_max);
        // A sum that lacks something is not shown as if it were whole.
        let more = if self.unpriced_rounds > 0 { " and more" } else { "" };
        let dollars = self.dollars.map(|dollars| format!("{}{more}", money(dollars)));
        let full = [Some(self.model.clone()), context.clone(), dollars.clone(), Some(self.session.clone())];
        let parts = [
            full,
            [Some(self.model.clone()), context.clone(), dollars, None],
            [Some(self.model.clone()), context, None, None],
            [Some(self.model.clone()), None, None, None],
        ];
        let lines = parts.into_iter().map(|parts| {
            let words: Vec<String> = parts.into_iter().flatten().collect();
            Line::styled(&words.join(" · "), Style::DIM)
        });
        lines.into_iter().find(|line| line.width() <= columns).unwrap_or_default()
    }
}

/// How full the context is, in words.
pub(crate) fn context(tokens: u64, tokens_max: Option<u32>) -> Option<String> {
    match (tokens, tokens_max) {
        (0, _) => None,
        (tokens, None) => Some(format!("{} tokens", count(tokens))),
        (tokens, Some(max)) => Some(format!(
            "{} of {} tokens ({} %)",
            count(tokens),
            count(max.into()),
            tokens.saturating_mul(100) / u64::from(max.max(1))
        )),
    }
}

/// A count as people say it: `950`, `3.2k`, `1.4M`.
pub(crate) fn count(number: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    let float = number as f64;
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{:.1}k", float / 1e3),
        _ => format!("{:.1}M", float / 1e6),
    }
}

/// US dollars, with more digits where there are few dollars.
pub(crate) fn money(dollars: f64) -> String {
    if dollars < 0.1 { format!("${dollars:.4}") } else { format!("${dollars:.2}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reyn_core::conversation::UsageSource;

    #[test]
    fn the_row_gives_up_what_matters_less_where_there_is_no_room() {
        let mut status = Status {
            model: "fake/test".into(),
            context_tokens_max: Some(8_000),
            session: "s1".into(),
            ..Status::default()
        };
        let usage = Usage { prompt_tokens: 1_900, completion_tokens: 100, ..Usage::default() };
        status.count(usage, Some(Price { input: 1.0, output: 10.0, cached_input: None }));
        let shown = |columns| status.line(columns).text();
        assert_eq!(shown(80), "fake/test · 2.0k of 8.0k tokens (25 %) · $0.0029 · s1");
        assert_eq!(shown(52), "fake/test · 2.0k of 8.0k tokens (25 %) · $0.0029");
        assert_eq!(shown(40), "fake/test · 2.0k of 8.0k tokens (25 %)");
        assert_eq!(shown(12), "fake/test");
        assert_eq!(shown(3), "");
    }

    #[test]
    fn money_is_only_named_where_a_price_is_known() {
        let mut status = Status::default();
        let usage = Usage { prompt_tokens: 10, source: UsageSource::Provider, ..Usage::default() };
        status.count(usage, None);
        assert_eq!((status.dollars, status.context_tokens), (None, 10));
    }
}
