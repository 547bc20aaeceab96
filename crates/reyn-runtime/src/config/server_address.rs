//! Who named the address of a model's server, and how it was written.

use super::Config;
use super::expand::{Variables, expand, names};
use super::layers::Layer;
use super::node::{Node, NodeValue};

/// The address of a server, as the configuration has it.
#[derive(Clone, PartialEq, Eq)]
pub struct WrittenAddress {
    /// Whether one of the person's own layers gives it: their file, their environment, their command line. An
    /// address that only a file of the project gives, or that is found nowhere, is not the person's.
    pub is_persons: bool,
    /// Where it stands, as in `reyn.yaml:3`; `None` when it is found nowhere.
    pub origin: Option<String>,
    /// The text before `${…}` was replaced in it; `None` when nothing was.
    pub template: Option<String>,
    /// Values of the variables in it that must not be shown.
    pub secrets: Vec<String>,
}

impl Config {
    /// What is known of an address that the settings hold.
    ///
    /// The value counts and not its key, since classes extend each other: wherever the person gives the same
    /// address, it is theirs.
    #[must_use]
    pub fn written_address(&self, address: &str) -> WrittenAddress {
        let variables = Variables { environment: &self.environment, secrets: &self.secrets };
        let given: Vec<&Node> =
            addresses(&self.tree).into_iter().filter(|node| text_of(node) == Some(address)).collect();
        // The same address may be written plainly elsewhere, which makes it no less secret.
        let node = given.iter().find(|node| node.is_secret).or_else(|| given.first());
        let template = node.and_then(|node| node.template.clone());
        let hidden = |name: &&str| variables.get(name).filter(|(_, is_secret)| *is_secret);
        let secrets = names(template.as_deref().unwrap_or_default())
            .iter()
            .filter_map(hidden)
            .map(|(value, _)| value.to_owned())
            .collect();
        WrittenAddress {
            is_persons: self.persons_addresses.iter().any(|own| own == address),
            origin: node.map(|node| node.mark.origin()),
            template,
            secrets,
        }
    }

    /// The names of the variables that made a text of the settings below `llm` and `embedding`, sorted; none for a
    /// text that is written as it is.
    #[must_use]
    pub fn variables_of(&self, text: &str) -> Vec<String> {
        let mut found = vec![];
        for section in ["llm", "embedding"].into_iter().filter_map(|key| self.tree.get(&[key])) {
            collect_variables(section, text, &mut found);
        }
        found.sort();
        found.dedup();
        found
    }
}

fn collect_variables(node: &Node, text: &str, found: &mut Vec<String>) {
    match &node.value {
        NodeValue::Text(value) => {
            if let Some(template) = node.template.as_deref().filter(|_| value == text) {
                found.extend(names(template).into_iter().map(str::to_owned));
            }
        }
        NodeValue::List(items) => items.iter().for_each(|item| collect_variables(item, text, found)),
        NodeValue::Map(members) => {
            members.values().for_each(|member| collect_variables(&member.node, text, found));
        }
        NodeValue::Null
        | NodeValue::Bool(_)
        | NodeValue::Unsigned(_)
        | NodeValue::Signed(_)
        | NodeValue::Float(_) => {}
    }
}

/// The addresses that the person's own layers give, whether another layer replaces them or not.
pub(super) fn persons(layers: &[Layer], variables: Variables<'_>) -> Vec<String> {
    let mut own = vec![];
    for layer in layers.iter().filter(|layer| layer.is_persons) {
        let mut tree = layer.tree.clone();
        // A variable that is not set is a problem only where its text is used, and is told there.
        expand(&mut tree, variables, &mut vec![]);
        own.extend(addresses(&tree).into_iter().filter_map(text_of).map(str::to_owned));
    }
    own
}

/// Every address of a server in a tree: those of the classes, then the one for all.
fn addresses(tree: &Node) -> Vec<&Node> {
    let classes =
        [["llm", "models"], ["embedding", "classes"]].into_iter().filter_map(|key| tree.get(&key)?.members());
    let own = classes.flatten().filter_map(|(_, class)| class.node.get(&["api_base"]));
    own.chain(tree.get(&["llm", "api_base"])).collect()
}

fn text_of(node: &Node) -> Option<&str> {
    match &node.value {
        NodeValue::Text(text) => Some(text),
        NodeValue::Null
        | NodeValue::Bool(_)
        | NodeValue::Unsigned(_)
        | NodeValue::Signed(_)
        | NodeValue::Float(_)
        | NodeValue::List(_)
        | NodeValue::Map(_) => None,
    }
}
