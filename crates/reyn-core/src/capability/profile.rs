//! The capability profile: what a narrowing takes away.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::{Narrowing, NarrowingOrigin};
use crate::tool::Category;

/// A category as a profile names it. A name that no category has narrows nothing more than the others.
pub type CategoryName = String;

/// `.reyn/capability_profiles/<name>.yaml`. A key that is absent or `null` does not constrain.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapabilityProfile {
    /// The file's stem.
    pub name: String,
    /// For people.
    #[serde(default, deserialize_with = "null_is_default")]
    pub description: String,
    /// The only MCP servers that stay.
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(with = "Option<Vec<String>>")]
    pub mcp_allow: Option<Vec<String>>,
    /// MCP servers that are taken away.
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(with = "Option<Vec<String>>")]
    pub mcp_deny: Option<Vec<String>>,
    /// The only tools that stay.
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(with = "Option<Vec<String>>")]
    pub tool_allow: Option<Vec<String>>,
    /// Tools that are taken away; stronger than `tool_allow`.
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(with = "Option<Vec<String>>")]
    pub tool_deny: Option<Vec<String>>,
    /// The only categories that stay visible; `[]` hides all.
    #[serde(default, deserialize_with = "one_or_many")]
    #[schemars(with = "Option<Vec<CategoryName>>")]
    pub categories: Option<Vec<CategoryName>>,
}

impl CapabilityProfile {
    /// The narrowing that this profile is when it applies for the reason `origin`.
    #[must_use]
    pub fn resolve(&self, origin: NarrowingOrigin) -> Narrowing {
        let hidden = self.categories.as_ref().map_or_else(Vec::new, |kept| {
            let is_hidden = |category: &Category| !kept.iter().any(|name| name == category.name());
            Category::ALL.into_iter().filter(is_hidden).collect()
        });
        Narrowing {
            origin,
            tool_allow: self.tool_allow.clone(),
            tool_deny: self.tool_deny.clone().unwrap_or_default(),
            mcp_allow: self.mcp_allow.clone(),
            mcp_deny: self.mcp_deny.clone().unwrap_or_default(),
            excluded_categories: hidden,
        }
    }
}

fn null_is_default<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Option::<String>::deserialize(from).map(Option::unwrap_or_default)
}

/// A list, one value in place of a list of one, or `null`.
fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a name or a list of names")]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(Option::<OneOrMany>::deserialize(from)?.map(|value| match value {
        OneOrMany::One(name) => vec![name],
        OneOrMany::Many(names) => names,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn profile(value: serde_json::Value) -> CapabilityProfile {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn null_and_absent_do_not_constrain_and_an_empty_list_denies_all() {
        let free = profile(json!({"name": "a", "tool_allow": null}));
        assert_eq!(free.tool_allow, None);
        assert_eq!(profile(json!({"name": "a", "tool_allow": []})).tool_allow, Some(vec![]));
    }

    #[test]
    fn one_name_stands_for_a_list_of_one() {
        assert_eq!(profile(json!({"name": "a", "tool_deny": "exec"})).tool_deny, Some(vec!["exec".into()]));
    }

    #[test]
    fn unknown_categories_are_no_matter_and_unlisted_ones_are_hidden() {
        let hides = |categories: &[&str]| {
            let profile = profile(json!({"name": "a", "categories": categories}));
            profile.resolve(NarrowingOrigin::session("a")).excluded_categories
        };
        let all = Category::ALL.map(Category::name);
        assert_eq!(hides(&[&all[..], &["future"]].concat()), vec![]);
        assert_eq!(hides(&["file"]), Category::ALL[1..]);
        assert_eq!(hides(&["future"]), Category::ALL);
        assert_eq!(hides(&[]), Category::ALL);
    }

    #[test]
    fn a_missing_name_or_an_unknown_key_is_an_error() {
        assert!(serde_json::from_value::<CapabilityProfile>(json!({})).is_err());
        assert!(serde_json::from_value::<CapabilityProfile>(json!({"name": "a", "tool_denny": []})).is_err());
    }
}
