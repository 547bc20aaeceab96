//! One set of tables: the rows of a source, or those that a rebuild fills. What is counted about it stands in one
//! row beside it, which only the holder of the source's row changes.
//!
//! A term's postings are rows of a table, (row, term, length of the row, how often), so that the server ranks by
//! words and sends the best rows alone. That costs about 85 bytes for each different term of a row.

use postgres::{Transaction, types::ToSql};
use reyn_core::embedding::ModelIdentity;

use super::fault::Faults;
use crate::error::IndexError;

/// Numbers of a vector that pgvector stores.
const STORED_DIMENSIONS_MAX: usize = 16_000;
/// Numbers of a vector up to which one is kept in its row: a page holds it. Longer ones stand beside the table.
const INLINE_DIMENSIONS_MAX: usize = 1_950;

/// What is known about a set.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Set {
    /// Its number, which its tables have in their names.
    pub(super) id: i64,
    /// The model behind its vectors.
    pub(super) model: Option<ModelIdentity>,
    pub(super) rows: u64,
    /// Rows that are found by words, and the sum of their terms.
    pub(super) worded: u64,
    pub(super) lengths: u64,
    /// The numbers of the last row and the last term that were given.
    pub(super) last_row: i64,
    pub(super) last_term: i32,
    /// The middle of its vectors, around which they have codes; nothing while they have none.
    pub(super) centre: Option<Vec<f32>>,
}

impl Set {
    /// An SQL text for this set: `#` at the end of a table's name becomes its number.
    pub(super) fn sql(&self, text: &str) -> String {
        text.replace("_#", &format!("_{}", self.id))
    }

    /// Makes a set with its tables. Rows are numbered from `last_row` on.
    pub(super) fn create(
        transaction: &mut Transaction<'_>,
        model: Option<&ModelIdentity>,
        last_row: i64,
        faults: Faults<'_>,
    ) -> Result<Self, IndexError> {
        let sql = "INSERT INTO sets(last_row) VALUES($1) RETURNING id";
        let row = faults.of(transaction.query_one(sql, &[&last_row]))?;
        let id = faults.of(row.try_get(0))?;
        let mut set =
            Self { id, model: None, rows: 0, worded: 0, lengths: 0, last_row, last_term: 0, centre: None };
        faults.of(transaction.batch_execute(&set.sql(
            "CREATE TABLE rows_#(
                id bigint PRIMARY KEY,
                content_hash text COLLATE \"C\" NOT NULL UNIQUE,
                text text NOT NULL,
                json text NOT NULL,
                source_path text COLLATE \"C\" NOT NULL,
                embedding_model text COLLATE \"C\" NOT NULL,
                chunk_index bigint NOT NULL,
                size_tokens bigint NOT NULL,
                length integer,
                facets bigint[] NOT NULL);
            CREATE INDEX ON rows_#(source_path, chunk_index, id);
            CREATE INDEX ON rows_# USING gin(facets);
            CREATE TABLE terms_#(
                term text COLLATE \"C\" PRIMARY KEY,
                id integer NOT NULL UNIQUE,
                rows bigint NOT NULL) WITH (fillfactor = 70);
            CREATE TABLE postings_#(
                row bigint NOT NULL,
                term integer NOT NULL,
                length integer NOT NULL,
                count smallint NOT NULL);
            CREATE UNIQUE INDEX ON postings_#(term, row);
            CREATE INDEX ON postings_# USING brin(row) WITH (pages_per_range = 16);
            CREATE TABLE vectors_#(id bigint PRIMARY KEY);
            CREATE TABLE codes_#(id bigint PRIMARY KEY);
            ALTER TABLE rows_# ALTER text SET STATISTICS 0, ALTER json SET STATISTICS 0;",
        )))?;
        set.set_model(transaction, model, faults)?;
        set.save(transaction, faults)?;
        Ok(set)
    }

    /// Gives a set without vectors a model.
    pub(super) fn set_model(
        &mut self,
        transaction: &mut Transaction<'_>,
        model: Option<&ModelIdentity>,
        faults: Faults<'_>,
    ) -> Result<(), IndexError> {
        self.model = model.cloned();
        let Some(model) = model else { return Ok(()) };
        if model.dimensions == 0 || model.dimensions > STORED_DIMENSIONS_MAX {
            return Err(IndexError::TooMuch {
                what: "dimensions of a model in PostgreSQL (at least 1)",
                is: model.dimensions,
                max: STORED_DIMENSIONS_MAX,
            });
        }
        // Beside the table, reading each one would cost a look-up. Nobody asks how often a vector is there, which the
        // server would otherwise read some thousand of them for.
        let storage = if model.dimensions <= INLINE_DIMENSIONS_MAX { "PLAIN" } else { "EXTERNAL" };
        faults.of(transaction.batch_execute(&self.sql(&format!(
            "ALTER TABLE vectors_# ADD COLUMN vector vector({0}) NOT NULL;
             ALTER TABLE vectors_# ALTER vector SET STORAGE {storage}, ALTER vector SET STATISTICS 0,
                ALTER id SET STATISTICS 10;
             ALTER TABLE codes_# ADD COLUMN code bit({0}) NOT NULL;
             ALTER TABLE codes_# ALTER code SET STORAGE PLAIN, ALTER code SET STATISTICS 0,
                ALTER id SET STATISTICS 10",
            model.dimensions
        ))))
    }

    /// Refuses vectors of another model than the set's.
    pub(super) fn check(&self, given: &ModelIdentity, faults: Faults<'_>) -> Result<(), IndexError> {
        match &self.model {
            Some(stored) if !stored.is_comparable_with(given) => Err(IndexError::Model {
                name: faults.name.to_owned(),
                stored: Box::new(stored.clone()),
                given: Box::new(given.clone()),
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// Reads a set.
    pub(super) fn read(
        transaction: &mut Transaction<'_>,
        id: i64,
        faults: Faults<'_>,
    ) -> Result<Self, IndexError> {
        let sql = "SELECT model, revision, dimensions, rows, worded, lengths, last_row, last_term,
                          centre::real[]
                   FROM sets WHERE id = $1";
        let row = faults.of(transaction.query_opt(sql, &[&id]))?;
        let row = row.ok_or_else(|| faults.corrupt("a set of tables is not listed"))?;
        let count = |at: usize| -> Result<u64, IndexError> {
            let count: i64 = faults.of(row.try_get(at))?;
            Ok(u64::try_from(count).unwrap_or(0))
        };
        let name: Option<String> = faults.of(row.try_get(0))?;
        let revision: Option<String> = faults.of(row.try_get(1))?;
        let dimensions: Option<i64> = faults.of(row.try_get(2))?;
        let dimensions = dimensions.and_then(|dimensions| usize::try_from(dimensions).ok());
        let model = name.zip(dimensions).map(|(name, dimensions)| ModelIdentity {
            name,
            revision: revision.and_then(ModelIdentity::revision_of),
            dimensions,
        });
        Ok(Self {
            id,
            model,
            rows: count(3)?,
            worded: count(4)?,
            lengths: count(5)?,
            last_row: faults.of(row.try_get(6))?,
            last_term: faults.of(row.try_get(7))?,
            centre: faults.of(row.try_get(8))?,
        })
    }

    /// Writes down what is known.
    pub(super) fn save(
        &self,
        transaction: &mut Transaction<'_>,
        faults: Faults<'_>,
    ) -> Result<(), IndexError> {
        let model = self.model.as_ref();
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let dimensions = model.map(|model| i64::try_from(model.dimensions).unwrap_or(i64::MAX));
        let (rows, worded, lengths) = (number(self.rows), number(self.worded), number(self.lengths));
        let values: [&(dyn ToSql + Sync); 9] = [
            &self.id,
            &model.map(|model| &model.name),
            &model.and_then(|model| model.revision.as_ref()),
            &dimensions,
            &rows,
            &worded,
            &lengths,
            &self.last_row,
            &self.last_term,
        ];
        let sql = "UPDATE sets SET model = $2, revision = $3, dimensions = $4, rows = $5, worded = $6,
                   lengths = $7, last_row = $8, last_term = $9 WHERE id = $1";
        faults.of(transaction.execute(sql, &values))?;
        Ok(())
    }

    /// Removes a set with its tables. Readers of it are waited for.
    pub(super) fn drop(
        self,
        transaction: &mut Transaction<'_>,
        faults: Faults<'_>,
    ) -> Result<(), IndexError> {
        let sql = self.sql("LOCK TABLE rows_#; DROP TABLE rows_#, vectors_#, codes_#, terms_#, postings_#");
        faults.of(transaction.batch_execute(&sql))?;
        faults.of(transaction.execute("DELETE FROM sets WHERE id = $1", &[&self.id]))?;
        Ok(())
    }

    /// Bytes of its tables with their indexes.
    pub(super) fn bytes(
        &self,
        transaction: &mut Transaction<'_>,
        faults: Faults<'_>,
    ) -> Result<u64, IndexError> {
        let sql = self.sql(
            "SELECT pg_total_relation_size('rows_#') + pg_total_relation_size('vectors_#') + pg_total_relation_size('codes_#')
                  + pg_total_relation_size('terms_#') + pg_total_relation_size('postings_#')",
        );
        let row = faults.of(transaction.query_one(&sql, &[]))?;
        let bytes: i64 = faults.of(row.try_get(0))?;
        Ok(u64::try_from(bytes).unwrap_or(0))
    }
}
