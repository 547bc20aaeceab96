//! Filters and removals as SQL over the rows `r` of a set.

use postgres::types::{ToSql, Type};

use crate::filter::{Condition, Filters, facet_number};
use crate::store::Removal;

/// What a row has to be: a text for SQL, and the values that its `$1`, `$2` … stand for.
pub(super) struct Conditions {
    pub(super) sql: String,
    values: Vec<(Box<dyn ToSql + Sync>, Type)>,
}

impl Conditions {
    /// Those of filters, with values numbered after `before` others. `TRUE` for none.
    pub(super) fn of_filters(filters: &Filters, before: usize) -> Self {
        let mut conditions = Self { sql: String::new(), values: vec![] };
        let parts: Vec<String> = filters.iter().map(|condition| conditions.part(condition, before)).collect();
        conditions.sql = if parts.is_empty() { "TRUE".to_owned() } else { parts.join(" AND ") };
        conditions
    }

    /// Those of a removal.
    pub(super) fn of_removal(removal: Removal<'_>) -> Self {
        let mut conditions = Self { sql: String::new(), values: vec![] };
        conditions.sql = match removal {
            // Nobody who names no path means all of them.
            Removal::Path("") => "r.source_path = ''".to_owned(),
            Removal::Path(path) => conditions.part(Condition::Below(path.trim_end_matches('/')), 0),
            Removal::Hashes(hashes) => {
                // No row has a NUL in its hash, and the server takes none.
                let hashes: Vec<String> =
                    hashes.iter().filter(|hash| !hash.contains('\0')).cloned().collect();
                conditions.values.push((Box::new(hashes), Type::TEXT_ARRAY));
                "r.content_hash = ANY($1)".to_owned()
            }
        };
        conditions
    }

    /// The values for a query.
    pub(super) fn values(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.values.iter().map(|(value, kind)| (value.as_ref(), kind.clone())).collect()
    }

    fn part(&mut self, condition: Condition<'_>, before: usize) -> String {
        match condition {
            Condition::Below("") => "TRUE".to_owned(),
            Condition::Below(text) | Condition::Equal(_, text) if text.contains('\0') => "FALSE".to_owned(),
            Condition::Below(path) => {
                let at = self.push(path.to_owned(), Type::TEXT, before);
                // `0` follows `/`, so this is the range of what begins with the folder.
                format!(
                    "(r.source_path = ${at} OR (r.source_path > ${at} || '/' AND r.source_path < ${at} || '0'))"
                )
            }
            Condition::Equal(key @ ("chunk_index" | "size_tokens"), value) => match value.parse::<i64>() {
                Ok(number) => format!("r.{key} = ${}", self.push(number, Type::INT8, before)),
                Err(_) => "FALSE".to_owned(),
            },
            Condition::Equal(key @ ("content_hash" | "embedding_model"), value) => {
                format!("r.{key} = ${}", self.push(value.to_owned(), Type::TEXT, before))
            }
            Condition::Equal(key, value) => {
                let at = self.push(facet_number(key, value), Type::INT8, before);
                format!("r.facets @> ARRAY[${at}]")
            }
        }
    }

    fn push(&mut self, value: impl ToSql + Sync + 'static, kind: Type, before: usize) -> usize {
        self.values.push((Box::new(value), kind));
        before + self.values.len()
    }
}
