//! Finds the vectors nearest to a query: a first pass over one byte a number, for the best few to be compared
//! exactly afterwards.
//!
//! A vector of length one is kept as whole numbers from -127 to 127 and the factor that makes them fit it. That
//! is a quarter of its memory, and what is read is what a pass costs.

/// Codes of vectors of one length, by row from 0.
#[derive(Debug, Default)]
pub struct Codes {
    dimensions: usize,
    numbers: Vec<i8>,
    factors: Vec<f32>,
}

/// A row and about how near it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The row.
    pub row: u32,
    /// The cosine, to about one in a hundred.
    pub score: f32,
}

/// The largest number of a code.
const CODE_MAX: f32 = 127.0;
/// The largest number of a query. With codes to 127 and 16,384 dimensions a sum fits 32 bits.
const QUERY_MAX: f32 = 1023.0;
/// Numbers that are summed in one go: a multiple of any vector register's width.
const LANES: usize = 16;

impl Codes {
    /// No codes yet, of vectors of `dimensions` numbers.
    #[must_use]
    pub fn new(dimensions: usize) -> Self {
        Self { dimensions, numbers: vec![], factors: vec![] }
    }

    /// Makes room for exactly this many more rows.
    pub fn reserve(&mut self, rows: usize) {
        self.numbers.reserve_exact(rows * self.dimensions);
        self.factors.reserve_exact(rows);
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.factors.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// Bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.numbers.capacity() + self.factors.capacity() * size_of::<f32>()
    }

    /// Adds a stored code as [`encode`] wrote it. False, and nothing added, when it has another length.
    pub fn push(&mut self, code: &[u8]) -> bool {
        let Some((factor, numbers)) = code.split_first_chunk::<4>() else { return false };
        if numbers.len() != self.dimensions {
            return false;
        }
        self.factors.push(f32::from_le_bytes(*factor));
        self.numbers.extend(numbers.iter().map(|byte| byte.cast_signed()));
        true
    }

    /// The `count` rows nearest to a query of length one, best first; of `rows` alone when given, which are
    /// in rising order. Rows that are not there are left out, and so is everything for another length.
    #[must_use]
    pub fn nearest(&self, query: &[f32], count: usize, rows: Option<&[u32]>) -> Vec<Near> {
        if query.len() != self.dimensions || self.dimensions == 0 {
            return vec![];
        }
        let (query, factor) = whole_numbers(query);
        let mut best = Best::new(count);
        let score = |numbers: &[i8], row: usize| {
            #[expect(clippy::cast_precision_loss, reason = "a first pass is inexact")]
            let product = dot(numbers, &query) as f32;
            product * self.factors[row] * factor
        };
        match rows {
            None => {
                for (row, numbers) in self.numbers.chunks_exact(self.dimensions).enumerate() {
                    best.offer(row, score(numbers, row));
                }
            }
            Some(rows) => {
                for row in rows.iter().map(|row| *row as usize) {
                    let Some(numbers) = self.numbers.get(row * self.dimensions..(row + 1) * self.dimensions)
                    else {
                        break;
                    };
                    best.offer(row, score(numbers, row));
                }
            }
        }
        best.into_sorted()
    }
}

/// A vector of length one as it is stored beside the exact one: its factor, then a byte a number.
#[must_use]
pub fn encode(unit: &[f32]) -> Vec<u8> {
    let largest = unit.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    let factor = largest / CODE_MAX;
    let mut code = Vec::with_capacity(unit.len() + 4);
    code.extend(factor.to_le_bytes());
    let inverse = if factor > 0.0 { 1.0 / factor } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, reason = "at most 127")]
    code.extend(
        unit.iter().map(|number| nearest_whole(number * inverse, CODE_MAX) as i8).map(i8::cast_unsigned),
    );
    code
}

/// Rounded without a call into the C library, which a loop over numbers cannot be vectorised around.
fn nearest_whole(number: f32, limit: f32) -> f32 {
    /// Adding and taking it away leaves a number of that size without its fraction.
    const SHIFT: f32 = 12_582_912.0;
    ((number + SHIFT) - SHIFT).clamp(-limit, limit)
}

fn whole_numbers(query: &[f32]) -> (Vec<i16>, f32) {
    let largest = query.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    let factor = largest / QUERY_MAX;
    let inverse = if factor > 0.0 { 1.0 / factor } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, reason = "at most 1023")]
    let numbers = query.iter().map(|number| nearest_whole(number * inverse, QUERY_MAX) as i16).collect();
    (numbers, factor)
}

/// The sum of products. Written for the compiler to vectorise: pairs of 16-bit products summed in 32 bits.
fn dot(numbers: &[i8], query: &[i16]) -> i32 {
    let mut sums = [0_i32; LANES];
    let (parts, rest) = numbers.as_chunks::<LANES>();
    let (query_parts, query_rest) = query.as_chunks::<LANES>();
    for (part, query_part) in parts.iter().zip(query_parts) {
        for lane in 0..LANES {
            sums[lane] += i32::from(i16::from(part[lane])) * i32::from(query_part[lane]);
        }
    }
    let tail: i32 = rest.iter().zip(query_rest).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
    sums.iter().sum::<i32>() + tail
}

/// The cosine of two vectors of length one.
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (parts, rest) = a.as_chunks::<LANES>();
    let (other_parts, other_rest) = b.as_chunks::<LANES>();
    for (part, other) in parts.iter().zip(other_parts) {
        for lane in 0..LANES {
            sums[lane] += part[lane] * other[lane];
        }
    }
    sums.iter().sum::<f32>() + rest.iter().zip(other_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// The best so far: a list that is cut to its better half whenever it is full.
struct Best {
    count: usize,
    least: f32,
    kept: Vec<Near>,
}

impl Best {
    fn new(count: usize) -> Self {
        Self {
            count,
            least: f32::NEG_INFINITY,
            kept: Vec::with_capacity(count.saturating_mul(2).min(1 << 16)),
        }
    }

    #[inline]
    fn offer(&mut self, row: usize, score: f32) {
        if score > self.least || self.kept.len() < self.count {
            self.keep(row, score);
        }
    }

    fn keep(&mut self, row: usize, score: f32) {
        // Rows are numbered in 32 bits by the index, which bounds them.
        let row = u32::try_from(row).unwrap_or(u32::MAX);
        self.kept.push(Near { row, score });
        if self.count > 0 && self.kept.len() >= self.count * 2 {
            self.kept.select_nth_unstable_by(self.count - 1, order);
            self.kept.truncate(self.count);
            self.least = self.kept[self.count - 1].score;
        }
    }

    fn into_sorted(mut self) -> Vec<Near> {
        self.kept.sort_unstable_by(order);
        self.kept.truncate(self.count);
        self.kept
    }
}

fn order(a: &Near, b: &Near) -> std::cmp::Ordering {
    b.score.total_cmp(&a.score).then(a.row.cmp(&b.row))
}
