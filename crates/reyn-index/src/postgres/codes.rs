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
use super::rows::copy;
use super::set::Set;
use crate::error::IndexError;

/// Rows that are compared exactly, at least; of more than 100,000 rows one in 125.
const TAKEN_MIN: u64 = 800;
const TAKEN_PART: u64 = 125;
/// Rows taken for each one that is asked for.
const TAKEN_PER_ROW: u64 = 16;
/// Rows from which on a first pass is quicker than comparing all exactly.
const ROWS_MIN: u64 = 5_000;
/// Vectors that are read at a time.
const PAGE_ROWS: i64 = 2_000;
/// Numbers of a vector from which on a bit for each tells enough.
const DIMENSIONS_MIN: usize = 256;

/// How many rows the first pass takes when `count` of a set are wanted; nothing when all are compared exactly.
pub(super) fn taken(count: usize, set: &Set) -> Option<i64> {
    let taken = TAKEN_MIN.max(set.rows / TAKEN_PART).max(TAKEN_PER_ROW.saturating_mul(count as u64));
    (set.centre.is_some() && set.rows >= ROWS_MIN && taken < set.rows)
        .then(|| i64::try_from(taken).unwrap_or(i64::MAX))
}

/// Gives a set that has become large a centre, and its vectors codes. Rows that are written later bring theirs.
pub(super) fn begin(
    transaction: &mut Transaction<'_>,
    set: &mut Set,
    faults: Faults<'_>,
) -> Result<(), IndexError> {
    let has_enough = set.model.as_ref().is_some_and(|model| model.dimensions >= DIMENSIONS_MIN);
    if set.centre.is_some() || !has_enough || set.rows < ROWS_MIN {
        return Ok(());
    }
    let sql = set.sql(
        "UPDATE sets SET centre = (SELECT avg(vector) FROM vectors_#) WHERE id = $1 RETURNING centre::real[]",
    );
    let rows = faults.of(transaction.query_typed(&sql, &[(&set.id, Type::INT8)]))?;
    let row = rows.first().ok_or_else(|| faults.corrupt("a set of tables is not listed"))?;
    set.centre = faults.of(row.try_get(0))?;
    let sql = set.sql("SELECT id, vector::real[] FROM vectors_# WHERE id > $1 ORDER BY id LIMIT $2");
    let mut last = i64::MIN;
    loop {
        let rows =
            faults.of(transaction.query_typed(&sql, &[(&last, Type::INT8), (&PAGE_ROWS, Type::INT8)]))?;
        let mut vectors: Vec<(i64, Vec<f32>)> = Vec::with_capacity(rows.len());
        for row in &rows {
            vectors.push((faults.of(row.try_get(0))?, faults.of(row.try_get(1))?));
        }
        let Some((id, _)) = vectors.last() else { return Ok(()) };
        last = *id;
        write(transaction, set, vectors.iter().map(|(id, vector)| (*id, vector.as_slice())), faults)?;
    }
}

/// Writes the codes of rows, where the set has codes. They are made here: what the server makes within a statement it
/// keeps in a form that each comparison would have to copy.
pub(super) fn write<'v>(
    transaction: &mut Transaction<'_>,
    set: &Set,
    vectors: impl Iterator<Item = (i64, &'v [f32])>,
    faults: Faults<'_>,
) -> Result<(), IndexError> {
    let Some(centre) = &set.centre else { return Ok(()) };
    let sql = set.sql("COPY codes_#(id, code) FROM STDIN BINARY");
    copy(transaction, &sql, &[Type::INT8, Type::BYTEA], faults, |writer| {
        for (id, vector) in vectors {
            writer.write(&[&id, &code(vector, centre)])?;
        }
        Ok(())
    })
}

/// The code of a vector as the server receives bits.
fn code(vector: &[f32], centre: &[f32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 + vector.len().div_ceil(8));
    bytes.extend(u32::try_from(vector.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend(vector.chunks(8).zip(centre.chunks(8)).map(|(numbers, centre)| {
        let bits = numbers.iter().zip(centre).zip((0..8).rev());
        bits.fold(0, |byte, ((number, centre), at)| byte | u8::from(number > centre) << at)
    }));
    bytes
}

/// The code of a query's vector as a text of bits, where the set has codes.
pub(super) fn of_query(set: &Set, unit: &[f32]) -> Option<String> {
    let centre = set.centre.as_ref()?;
    Some(unit.iter().zip(centre).map(|(number, centre)| if number > centre { '1' } else { '0' }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_a_bit_for_each_number_above_the_centre() {
        let vector = [0.5, -0.5, 0.0, 1e-30, -0.0, 2.0, -1.0, 1.0, -1.0, 3.0];
        assert_eq!(code(&vector, &[0.0; 10]), [0, 0, 0, 10, 0b1001_0101, 0b0100_0000]);
        assert_eq!(code(&vector, &[1.0; 10]), [0, 0, 0, 10, 0b0000_0100, 0b0100_0000]);
        let set = Set {
            id: 1,
            model: None,
            rows: 0,
            worded: 0,
            lengths: 0,
            last_row: 0,
            last_term: 0,
            centre: Some(vec![1.0; 10]),
        };
        assert_eq!(of_query(&set, &vector).as_deref(), Some("0000010001"));
    }

    #[test]
    fn few_rows_and_sets_without_codes_are_compared_exactly() {
        for (count, rows, has_centre, expected) in [
            (10, 100_000, true, Some(800)),
            (10, 1_000_000, true, Some(8_000)),
            (100, 100_000, true, Some(1_600)),
            (10, 4_999, true, None),
            (1_000, 10_000, true, None),
            (10, 100_000, false, None),
        ] {
            let centre = has_centre.then(|| vec![0.0; 512]);
            let set =
                Set { id: 1, model: None, rows, worded: 0, lengths: 0, last_row: 0, last_term: 0, centre };
            assert_eq!(taken(count, &set), expected, "{count} of {rows}");
        }
    }
}
