//! Most-restrictive composition of narrowings.

use super::NarrowingOrigin;
use crate::tool::Category;

/// One narrowing term with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Narrowing {
    /// Where it comes from.
    pub origin: NarrowingOrigin,
    /// The only tools that stay; `None` does not constrain.
    pub tool_allow: Option<Vec<String>>,
    /// Tools that are taken away; stronger than `tool_allow`.
    pub tool_deny: Vec<String>,
    /// The only MCP servers that stay; `None` does not constrain.
    pub mcp_allow: Option<Vec<String>>,
    /// MCP servers that are taken away.
    pub mcp_deny: Vec<String>,
    /// Categories that are not shown. Hiding does not forbid.
    pub excluded_categories: Vec<Category>,
}

impl Narrowing {
    /// A term that narrows nothing.
    #[must_use]
    pub const fn inert(origin: NarrowingOrigin) -> Self {
        Self {
            origin,
            tool_allow: None,
            tool_deny: vec![],
            mcp_allow: None,
            mcp_deny: vec![],
            excluded_categories: vec![],
        }
    }

    fn allows_tool(&self, name: &str) -> bool {
        allows(self.tool_allow.as_deref(), &self.tool_deny, name)
    }

    fn allows_mcp(&self, server: &str) -> bool {
        allows(self.mcp_allow.as_deref(), &self.mcp_deny, server)
    }
}

fn allows(allow: Option<&[String]>, deny: &[String], name: &str) -> bool {
    let is = |listed: &String| listed == name;
    !deny.iter().any(is) && allow.is_none_or(|allow| allow.iter().any(is))
}

/// Narrowings that hold together: what any of them denies is denied. Keeps its terms in order, so that a
/// refusal can name the first one that denies. Empty, it narrows nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Composed {
    terms: Vec<Narrowing>,
}

/// Composes narrowings: denies are united, allow-lists intersected, hidden categories united.
#[must_use]
pub fn compose_resolved(terms: impl IntoIterator<Item = Narrowing>) -> Composed {
    Composed { terms: terms.into_iter().collect() }
}

impl Composed {
    /// The first term that takes `tool` away.
    #[must_use]
    pub fn tool_denied_by(&self, tool: &str) -> Option<&NarrowingOrigin> {
        self.terms.iter().find(|term| !term.allows_tool(tool)).map(|term| &term.origin)
    }

    /// The first term that takes the MCP server away.
    #[must_use]
    pub fn mcp_denied_by(&self, server: &str) -> Option<&NarrowingOrigin> {
        self.terms.iter().find(|term| !term.allows_mcp(server)).map(|term| &term.origin)
    }

    /// Whether the category is shown.
    #[must_use]
    pub fn shows(&self, category: Category) -> bool {
        !self.terms.iter().any(|term| term.excluded_categories.contains(&category))
    }

    /// The terms, in the order composed.
    #[must_use]
    pub fn terms(&self) -> &[Narrowing] {
        &self.terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAMES: [&str; 3] = ["read_file", "write_file", "exec"];

    fn any_term() -> impl Strategy<Value = Narrowing> {
        let names = || prop::sample::subsequence(NAMES.map(str::to_owned).to_vec(), 0..=3);
        (
            prop::option::of(names()),
            names(),
            prop::option::of(names()),
            names(),
            prop::sample::subsequence(Category::ALL.to_vec(), 0..=Category::ALL.len()),
        )
            .prop_map(|(tool_allow, tool_deny, mcp_allow, mcp_deny, excluded_categories)| {
                Narrowing {
                    origin: NarrowingOrigin::exclude_tools(),
                    tool_allow,
                    tool_deny,
                    mcp_allow,
                    mcp_deny,
                    excluded_categories,
                }
            })
    }

    /// Every decision that a composition makes.
    fn decisions(terms: &[Narrowing]) -> Vec<bool> {
        let composed = compose_resolved(terms.iter().cloned());
        NAMES
            .iter()
            .flat_map(|name| {
                [composed.tool_denied_by(name).is_none(), composed.mcp_denied_by(name).is_none()]
            })
            .chain(Category::ALL.iter().map(|category| composed.shows(*category)))
            .collect()
    }

    proptest! {
        #[test]
        fn composition_is_commutative_associative_and_idempotent(
            terms in prop::collection::vec(any_term(), 0..5),
            extra in any_term(),
        ) {
            let mut reversed = terms.clone();
            reversed.reverse();
            prop_assert_eq!(decisions(&terms), decisions(&reversed));
            let twice: Vec<_> = terms.iter().chain(&terms).cloned().collect();
            prop_assert_eq!(decisions(&terms), decisions(&twice));
            let mut more = terms.clone();
            more.push(extra);
            let allowed_more = decisions(&more).iter().zip(decisions(&terms)).any(|(after, before)| *after && !before);
            prop_assert!(!allowed_more, "a further term allowed more");
        }

        #[test]
        fn two_profiles_never_allow_more_than_either(a in any_term(), b in any_term()) {
            let both = decisions(&[a.clone(), b.clone()]);
            let meet: Vec<bool> =
                decisions(&[a]).iter().zip(decisions(&[b])).map(|(left, right)| *left && right).collect();
            prop_assert_eq!(both, meet);
        }
    }

    #[test]
    fn no_terms_narrow_nothing() {
        assert!(decisions(&[]).iter().all(|allowed| *allowed));
        assert_eq!(decisions(&[]), decisions(&[Narrowing::inert(NarrowingOrigin::visibility())]));
    }

    #[test]
    fn the_first_term_that_denies_is_named() {
        let deny = |origin| Narrowing { tool_deny: vec!["exec".into()], ..Narrowing::inert(origin) };
        let composed = compose_resolved([
            Narrowing::inert(NarrowingOrigin::visibility()),
            deny(NarrowingOrigin::session("a")),
            deny(NarrowingOrigin::exclude_tools()),
        ]);
        assert_eq!(composed.tool_denied_by("exec"), Some(&NarrowingOrigin::session("a")));
    }
}
