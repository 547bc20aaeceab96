//! Classes that lead to no model: of `llm.models` and of `embedding.classes`.

use reyn_core::settings::{EmbeddingClass, EmbeddingSettings, LlmSettings, ModelClass, ModelClassError};
use reyn_core::text::excerpt;

use super::decode::{did_you_mean, listed};
use super::node::{Node, Step};
use super::problem::ConfigProblem;

/// Classes as they are configured.
struct Classes<'a> {
    /// Where they stand.
    place: [&'static str; 2],
    /// Their names, each with what it leads to.
    targets: Vec<(&'a str, Option<&'a str>)>,
    /// Where the class stands that is meant where none is named.
    default_place: [&'static str; 2],
    default: Option<&'a str>,
    error_of: &'a dyn Fn(&str) -> Option<ModelClassError>,
    tree: &'a Node,
    /// Nodes that are reported already.
    removed: &'a [Vec<Step>],
}

/// The classes, and `llm.model`, that lead to no model. `removed` are nodes that are reported already.
pub(super) fn of_models(llm: &LlmSettings, tree: &Node, removed: &[Vec<Step>]) -> Vec<ConfigProblem> {
    let classes = Classes {
        place: ["llm", "models"],
        targets: llm.models.iter().map(|(name, class)| (name.as_str(), model_target(class))).collect(),
        default_place: ["llm", "model"],
        default: llm.model.as_deref(),
        error_of: &|name| llm.resolve(name).err(),
        tree,
        removed,
    };
    classes.problems()
}

/// The same of `embedding.classes` and `embedding.default_class`.
pub(super) fn of_embeddings(
    embedding: &EmbeddingSettings,
    tree: &Node,
    removed: &[Vec<Step>],
) -> Vec<ConfigProblem> {
    let classes = Classes {
        place: ["embedding", "classes"],
        targets: embedding
            .classes
            .iter()
            .map(|(name, class)| (name.as_str(), embedding_target(class)))
            .collect(),
        default_place: ["embedding", "default_class"],
        default: Some(&embedding.default_class),
        error_of: &|name| embedding.resolve(name).err(),
        tree,
        removed,
    };
    let mut problems = classes.problems();
    let never_meant = embedding.classes.keys().filter(|name| name.contains('/'));
    problems.extend(never_meant.filter_map(|name| {
        let members = tree.get(&classes.place)?.members()?;
        let message =
            format!("`embedding.classes` has `{}`, and a name with `/` is a model", excerpt(name, 60));
        Some(ConfigProblem::at(&members.get(name)?.key, message).hint("name the class without `/`"))
    }));
    problems
}

impl Classes<'_> {
    fn problems(&self) -> Vec<ConfigProblem> {
        let mut problems = vec![];
        let mut cycles: Vec<Vec<String>> = vec![];
        let [section, key] = self.place;
        for (class, target) in &self.targets {
            let Some(error) = (self.error_of)(class) else { continue };
            let Some(node) = self.tree.get(&[section, key, class]) else { continue };
            let at = target_node(node);
            match error {
                ModelClassError::Unknown { name, known, .. } => {
                    if *target == Some(name.as_str()) && !self.is_reported(&name) {
                        problems.push(unknown_class(&format!("{section}.{key}.{class}"), at, &name, &known));
                    }
                }
                ModelClassError::Cycle { path } => {
                    let mut members = path.clone();
                    members.sort();
                    members.dedup();
                    let is_in_it =
                        path.first().is_some_and(|first| first == class) && path.last() == path.first();
                    if is_in_it && !cycles.contains(&members) {
                        cycles.push(members);
                        let message =
                            format!("`{section}.{key}.{class}` leads back to itself: {}", arrows(&path));
                        let problem = ConfigProblem::at(&at.mark, message);
                        problems.push(problem.hint("one of them must be `provider/model`"));
                    }
                }
                ModelClassError::NoModel { class: lacking }
                    if lacking == *class && !self.is_reported(class) =>
                {
                    let message = format!("`{section}.{key}.{class}` names no model");
                    let problem = ConfigProblem::at(&node.mark, message);
                    problems.push(problem.hint("add `model: provider/model`, or `extends: class`"));
                }
                ModelClassError::NoModel { .. } => {}
            }
        }
        problems.extend(self.of_default());
        problems
    }

    fn of_default(&self) -> Option<ConfigProblem> {
        let name = self.default?;
        let node = self.tree.get(&self.default_place)?;
        match (self.error_of)(name)? {
            ModelClassError::Unknown { name: unknown, known, .. }
                if unknown == name && !self.is_reported(name) =>
            {
                Some(unknown_class(&self.default_place.join("."), node, name, &known))
            }
            // What a class lacks is said where the class stands.
            ModelClassError::Unknown { .. }
            | ModelClassError::Cycle { .. }
            | ModelClassError::NoModel { .. } => None,
        }
    }

    fn is_reported(&self, class: &str) -> bool {
        let [section, key] = self.place;
        let place = [section, key, class].map(|key| Step::Key(key.to_owned()));
        self.removed.iter().any(|path| path.starts_with(&place))
    }
}

fn model_target(class: &ModelClass) -> Option<&str> {
    match class {
        ModelClass::Name(name) => Some(name),
        ModelClass::Options(options) => options.model.as_deref().or(options.extends.as_deref()),
    }
}

fn embedding_target(class: &EmbeddingClass) -> Option<&str> {
    match class {
        EmbeddingClass::Name(name) => Some(name),
        EmbeddingClass::Options(options) => options.model.as_deref().or(options.extends.as_deref()),
    }
}

fn target_node(node: &Node) -> &Node {
    node.get(&["model"]).or_else(|| node.get(&["extends"])).unwrap_or(node)
}

fn unknown_class(key: &str, node: &Node, name: &str, known: &[String]) -> ConfigProblem {
    let shown =
        if node.is_secret { "the value of a secret".to_owned() } else { format!("`{}`", excerpt(name, 60)) };
    let message = format!("`{key}` must be `provider/model` or a class, not {shown}");
    let hint = did_you_mean(name, known.iter().map(String::as_str)).unwrap_or_else(|| match known {
        [] => "no class is set under `llm.models`; write `provider/model`".to_owned(),
        known => format!("the classes are {}", listed(known)),
    });
    ConfigProblem::at(&node.mark, message).hint(hint)
}

fn arrows(path: &[String]) -> String {
    path.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" → ")
}
