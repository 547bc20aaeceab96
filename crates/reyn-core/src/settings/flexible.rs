//! YAML's other words for yes and no.

use serde::{Deserialize, Deserializer};

/// `true`, `false`, `on`, `off`, `yes`, `no`, or nothing.
pub(super) fn optional_bool<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "`true` or `false` (or `on`, `off`, `yes`, `no`)")]
    enum Word {
        Bool(bool),
        Text(OnOff),
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum OnOff {
        On,
        Off,
        Yes,
        No,
    }
    Ok(Option::<Word>::deserialize(from)?.map(|word| match word {
        Word::Bool(value) => value,
        Word::Text(OnOff::On | OnOff::Yes) => true,
        Word::Text(OnOff::Off | OnOff::No) => false,
    }))
}
