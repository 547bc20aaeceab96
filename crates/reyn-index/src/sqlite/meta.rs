//! What an index file says about itself.

use std::collections::HashMap;

use reyn_core::embedding::ModelIdentity;
use rusqlite::Connection;

use super::fault::Faults;
use super::schema::Set;
use crate::error::IndexError;

/// Counts what makes known row numbers stale: removing, replacing, swapping. Appending does not.
const EPOCH: &str = "epoch";
/// The number of the last set of tables that was made.
const SETS: &str = "sets";
/// There once the source was dropped: whoever finds it removes the folder.
const DROPPED: &str = "dropped";
/// The last row of the live set that a rebuild has seen.
const SEEN: &str = "next_seen";

/// The keys and values, as one transaction sees them.
#[derive(Debug, Default)]
pub(super) struct Meta(HashMap<String, String>);

impl Meta {
    pub(super) fn read(connection: &Connection, faults: Faults<'_>) -> Result<Self, IndexError> {
        let mut statement = faults.of(connection.prepare_cached("SELECT key, value FROM meta"))?;
        let pairs = faults.of(statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))))?;
        Ok(Self(faults.of(pairs.collect())?))
    }

    fn number(&self, key: &str) -> i64 {
        self.0.get(key).and_then(|value| value.parse().ok()).unwrap_or(0)
    }

    pub(super) fn epoch(&self) -> i64 {
        self.number(EPOCH)
    }

    pub(super) fn is_dropped(&self) -> bool {
        self.0.contains_key(DROPPED)
    }

    pub(super) fn seen(&self) -> i64 {
        self.number(SEEN)
    }

    /// How many rows a set has.
    pub(super) fn rows(&self, set: Set) -> u64 {
        u64::try_from(self.number(&format!("{}rows", set.prefix()))).unwrap_or(0)
    }

    pub(super) fn last_indexed(&self) -> Option<String> {
        self.0.get("last_indexed").cloned()
    }

    /// The model behind the vectors of a set.
    pub(super) fn model(&self, set: Set) -> Option<ModelIdentity> {
        let get = |key: &str| self.0.get(&format!("{}{key}", set.prefix())).cloned();
        Some(ModelIdentity {
            name: get("embedding_model")?,
            revision: get("model_revision").and_then(ModelIdentity::revision_of),
            dimensions: get("dimensions")?.parse().ok()?,
        })
    }

    /// Refuses vectors of another model than the set's.
    pub(super) fn check(
        &self,
        set: Set,
        given: &ModelIdentity,
        faults: Faults<'_>,
    ) -> Result<(), IndexError> {
        match self.model(set) {
            Some(stored) if !stored.is_comparable_with(given) => Err(IndexError::Model {
                name: faults.name().to_owned(),
                stored: Box::new(stored),
                given: Box::new(given.clone()),
            }),
            Some(_) | None => Ok(()),
        }
    }
}

fn set_value(connection: &Connection, key: &str, value: &str, faults: Faults<'_>) -> Result<(), IndexError> {
    let sql = "INSERT INTO meta(key, value) VALUES(?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2";
    faults.of(connection.prepare_cached(sql).and_then(|mut statement| statement.execute([key, value])))?;
    Ok(())
}

pub(super) fn set_model(
    connection: &Connection,
    set: Set,
    model: Option<&ModelIdentity>,
    faults: Faults<'_>,
) -> Result<(), IndexError> {
    let prefix = set.prefix();
    let Some(model) = model else {
        let sql = set
            .sql("DELETE FROM meta WHERE key IN ('{}embedding_model', '{}model_revision', '{}dimensions')");
        return faults.of(connection.execute_batch(&sql));
    };
    set_value(connection, &format!("{prefix}embedding_model"), &model.name, faults)?;
    set_value(connection, &format!("{prefix}model_revision"), model.revision_text(), faults)?;
    set_value(connection, &format!("{prefix}dimensions"), &model.dimensions.to_string(), faults)
}

pub(super) fn set_rows(
    connection: &Connection,
    set: Set,
    rows: u64,
    faults: Faults<'_>,
) -> Result<(), IndexError> {
    set_value(connection, &format!("{}rows", set.prefix()), &rows.to_string(), faults)
}

pub(super) fn set_seen(connection: &Connection, id: i64, faults: Faults<'_>) -> Result<(), IndexError> {
    set_value(connection, SEEN, &id.to_string(), faults)
}

pub(super) fn set_dropped(connection: &Connection, faults: Faults<'_>) -> Result<(), IndexError> {
    set_value(connection, DROPPED, "1", faults)
}

pub(super) fn set_last_indexed(connection: &Connection, faults: Faults<'_>) -> Result<(), IndexError> {
    set_value(
        connection,
        "last_indexed",
        &jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        faults,
    )
}

/// Makes row numbers that were read before stale.
pub(super) fn next_epoch(connection: &Connection, faults: Faults<'_>) -> Result<(), IndexError> {
    next(connection, EPOCH, faults).map(drop)
}

/// A number that no set of tables of this file had.
pub(super) fn next_set_number(connection: &Connection, faults: Faults<'_>) -> Result<i64, IndexError> {
    next(connection, SETS, faults)
}

fn next(connection: &Connection, key: &str, faults: Faults<'_>) -> Result<i64, IndexError> {
    let number = Meta::read(connection, faults)?.number(key) + 1;
    set_value(connection, key, &number.to_string(), faults)?;
    Ok(number)
}
