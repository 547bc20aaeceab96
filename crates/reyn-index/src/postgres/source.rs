//! One source: the row that names its sets. Whoever changes a source holds this row, so changes of one source
//! come one after the other, on whatever machine; readers see the state before or after and wait for nobody.

use postgres::Transaction;

use super::fault::Faults;
use super::set::Set;
use crate::error::IndexError;
use crate::source_name::SourceName;

/// How often a source is made again because it was dropped at that moment.
const TRIES_MAX: usize = 5;

/// A source as one transaction sees it.
#[derive(Debug)]
pub(super) struct Source {
    /// The set that answers.
    pub(super) live: Set,
    /// The one that a rebuild fills.
    pub(super) next: Option<Set>,
    /// The last row of the live set that a rebuild has seen.
    pub(super) seen: i64,
    pub(super) last_indexed: Option<String>,
}

const COLUMNS: &str = "SELECT live, next, seen, last_indexed FROM sources WHERE name = $1";

impl Source {
    /// Looks at a source; nothing when it is not there.
    pub(super) fn read(
        transaction: &mut Transaction<'_>,
        faults: Faults<'_>,
    ) -> Result<Option<Self>, IndexError> {
        Self::get(transaction, COLUMNS, faults)
    }

    /// Keeps the live tables from being dropped until the transaction ends. Whoever drops them takes the same
    /// table first, so a reader that has begun is never one of two that wait for each other.
    pub(super) fn hold(
        &self,
        transaction: &mut Transaction<'_>,
        faults: Faults<'_>,
    ) -> Result<(), IndexError> {
        faults.of(transaction.batch_execute(&self.live.sql("LOCK TABLE rows_# IN ACCESS SHARE MODE")))
    }

    /// Takes a source for this transaction alone; nothing when it is not there.
    pub(super) fn take(
        transaction: &mut Transaction<'_>,
        faults: Faults<'_>,
    ) -> Result<Option<Self>, IndexError> {
        Self::get(transaction, &format!("{COLUMNS} FOR UPDATE"), faults)
    }

    /// Takes a source for this transaction alone; makes it when it is not there.
    pub(super) fn take_or_make(
        transaction: &mut Transaction<'_>,
        faults: Faults<'_>,
    ) -> Result<Self, IndexError> {
        for _ in 0..TRIES_MAX {
            if let Some(source) = Self::take(transaction, faults)? {
                return Ok(source);
            }
            let sql = "INSERT INTO sources(name) VALUES($1) ON CONFLICT DO NOTHING";
            if faults.of(transaction.execute(sql, &[&faults.name]))? == 1 {
                let live = Set::create(transaction, None, 0, faults)?;
                return Ok(Self { live, next: None, seen: 0, last_indexed: None });
            }
        }
        Err(IndexError::Locked { name: faults.name.to_owned(), waited_ms: 0 })
    }

    fn get(
        transaction: &mut Transaction<'_>,
        sql: &str,
        faults: Faults<'_>,
    ) -> Result<Option<Self>, IndexError> {
        let Some(row) = faults.of(transaction.query_opt(sql, &[&faults.name]))? else { return Ok(None) };
        let live: Option<i64> = faults.of(row.try_get(0))?;
        let next: Option<i64> = faults.of(row.try_get(1))?;
        let live = live.ok_or_else(|| faults.corrupt("it has no tables"))?;
        // Read after the row was taken: another holder may have changed the sets until then.
        let live = Set::read(transaction, live, faults)?;
        let next = next.map(|next| Set::read(transaction, next, faults)).transpose()?;
        Ok(Some(Self {
            live,
            next,
            seen: faults.of(row.try_get(2))?,
            last_indexed: faults.of(row.try_get(3))?,
        }))
    }

    /// Writes down what a change made of it.
    pub(super) fn save(
        &self,
        transaction: &mut Transaction<'_>,
        faults: Faults<'_>,
    ) -> Result<(), IndexError> {
        self.live.save(transaction, faults)?;
        if let Some(next) = &self.next {
            next.save(transaction, faults)?;
        }
        let sql = "UPDATE sources SET live = $2, next = $3, seen = $4, last_indexed = $5 WHERE name = $1";
        let next = self.next.as_ref().map(|next| next.id);
        faults
            .of(transaction
                .execute(sql, &[&faults.name, &self.live.id, &next, &self.seen, &self.last_indexed]))?;
        Ok(())
    }

    /// Removes it with its tables.
    pub(super) fn drop(
        self,
        transaction: &mut Transaction<'_>,
        faults: Faults<'_>,
    ) -> Result<(), IndexError> {
        self.live.drop(transaction, faults)?;
        if let Some(next) = self.next {
            next.drop(transaction, faults)?;
        }
        faults.of(transaction.execute("DELETE FROM sources WHERE name = $1", &[&faults.name]))?;
        Ok(())
    }

    pub(super) fn is_written_now(&mut self) {
        self.last_indexed = Some(jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    }
}

/// The names of all sources, at most `count`.
pub(super) fn names(
    transaction: &mut Transaction<'_>,
    count: usize,
    faults: Faults<'_>,
) -> Result<Vec<SourceName>, IndexError> {
    let limit = i64::try_from(count).unwrap_or(i64::MAX);
    let rows = faults.of(transaction.query("SELECT name FROM sources ORDER BY name LIMIT $1", &[&limit]))?;
    let mut names = vec![];
    for row in &rows {
        let name: &str = faults.of(row.try_get(0))?;
        names.extend(SourceName::new(name).ok());
    }
    Ok(names)
}
