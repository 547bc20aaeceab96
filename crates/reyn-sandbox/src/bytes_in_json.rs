//! Bytes in JSON: text where they are UTF-8, which paths and arguments nearly always are, else a list of numbers.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes of a path, an argument or a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) OsString);

#[derive(Deserialize)]
#[serde(untagged)]
enum Shape {
    Text(String),
    Numbers(Vec<u8>),
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        write(&self.0, to)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(match Shape::deserialize(from)? {
            Shape::Text(text) => text.into(),
            Shape::Numbers(numbers) => OsString::from_vec(numbers),
        }))
    }
}

fn write<S: Serializer>(bytes: &OsStr, to: S) -> Result<S::Ok, S::Error> {
    match bytes.to_str() {
        Some(text) => to.serialize_str(text),
        None => to.collect_seq(bytes.as_bytes()),
    }
}

/// For a field that is a path.
pub(crate) mod path {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        super::write(path.as_os_str(), to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(super::Bytes::deserialize(from)?.0.into())
    }
}

/// For a field that is a list of paths.
pub(crate) mod paths {
    use std::path::PathBuf;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::Bytes;

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| Bytes(path.clone().into_os_string())))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<Bytes>::deserialize(from)?.into_iter().map(|one| one.0.into()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_whatever_they_are() {
        for bytes in [&b"/a b"[..], "/日本".as_bytes(), b"/\xff\x00\x80", b""] {
            let bytes = Bytes(OsString::from_vec(bytes.to_vec()));
            let text = serde_json::to_string(&bytes).unwrap();
            assert_eq!(serde_json::from_str::<Bytes>(&text).unwrap(), bytes);
        }
    }
}
