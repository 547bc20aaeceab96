//! The first pass over vectors: a bit for each number, in a table of its own that is a twentieth of theirs. The server
//! orders all rows that meet the filters by how many bits differ, and compares the best of them exactly.
//!
//! A bit says on which side of the centre of all vectors a number is: some models give all texts much the same
//! direction, and its sign would tell nothing. The centre is that of the vectors that are there when a set becomes
//! large enough for codes, and stays.
//!
//! The bits lose what an exact comparison tells apart, so many more rows are taken than are asked for. Of the ten nearest
//! of 100,000 short texts with vectors of the local model, 999 in 1,000 are among the 800 taken.

use postgres::Transaction;
use postgres::types::Type;

use super::fault::Faults;
use super::set::Set;
use crate::error::IndexError;

/// Rows that are compared exactly, at least; of more than 100,000 rows one in 125.
const TAKEN_MIN: u64 = 800;
const TAKEN_PART: u64 = 125;
/// Rows taken for each one that is asked for.
const TAKEN_PER_ROW: u64 = 16;
/// Rows from which on a first pass is quicker than comparing all exactly.
const ROWS_MIN: u64 = 5_000;
/// Numbers of a vector from which on a bit for each tells enough.
const DIMENSIONS_MIN: usize = 256;

/// How many rows the first pass takes when `count` of a set are wanted; nothing when all are compared exactly.
pub(super) fn taken(count: usize, set: &Set) -> Option<i64> {
    let taken = TAKEN_MIN.max(set.rows / TAKEN_PART).max(TAKEN_PER_ROW.saturating_mul(count as u64));
    (set.is_coded && set.rows >= ROWS_MIN && taken < set.rows)
        .then(|| i64::try_from(taken).unwrap_or(i64::MAX))
}

/// Gives the vectors after row `last` their codes; all of them once the set has become large.
pub(super) fn fill(
    transaction: &mut Transaction<'_>,
    set: &mut Set,
    last: i64,
    faults: Faults<'_>,
) -> Result<(), IndexError> {
    let has_enough = set.model.as_ref().is_some_and(|model| model.dimensions >= DIMENSIONS_MIN);
    let mut last = last;
    if !set.is_coded {
        if !has_enough || set.rows < ROWS_MIN {
            return Ok(());
        }
        let sql = set.sql("UPDATE sets SET centre = (SELECT avg(vector) FROM vectors_#) WHERE id = $1");
        faults.of(transaction.execute_typed(&sql, &[(&set.id, Type::INT8)]))?;
        set.is_coded = true;
        last = i64::MIN;
    }
    let sql = set.sql(
        "INSERT INTO codes_#(id, code)
         SELECT v.id, binary_quantize(v.vector - s.centre) FROM vectors_# v, sets s
         WHERE v.id > $1 AND s.id = $2 ORDER BY v.id",
    );
    faults.of(transaction.execute_typed(&sql, &[(&last, Type::INT8), (&set.id, Type::INT8)]))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_and_sets_without_codes_are_compared_exactly() {
        for (count, rows, is_coded, expected) in [
            (10, 100_000, true, Some(800)),
            (10, 1_000_000, true, Some(8_000)),
            (100, 100_000, true, Some(1_600)),
            (10, 4_999, true, None),
            (1_000, 10_000, true, None),
            (10, 100_000, false, None),
        ] {
            let set =
                Set { id: 1, model: None, rows, worded: 0, lengths: 0, last_row: 0, last_term: 0, is_coded };
            assert_eq!(taken(count, &set), expected, "{count} of {rows}");
        }
    }
}
