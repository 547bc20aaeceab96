//! Every limit of the crate, its unit in its name.

/// Bytes of one text.
pub const TEXT_BYTES_MAX: usize = 1024 * 1024;
/// Numbers of one vector.
pub const DIMENSIONS_MAX: usize = 16_384;
/// Rows of one write.
pub const ROWS_PER_WRITE_MAX: usize = 200_000;
/// Bytes of a row's metadata as JSON.
pub const METADATA_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a row's path, which stores keep in an index.
pub const PATH_BYTES_MAX: usize = 2_048;
/// Bytes of a row's content hash, which stores keep in an index.
pub const CONTENT_HASH_BYTES_MAX: usize = 256;
/// Keys of a row's own metadata that filters can match; the rest is kept and not matched.
pub const FACETS_PER_ROW_MAX: usize = 64;
/// Filters of one query.
pub const FILTERS_MAX: usize = 16;
/// Rows that one query returns.
pub const TOP_MAX: usize = 1_000;
/// Bytes of a query's text that are read.
pub const QUERY_BYTES_MAX: usize = 16 * 1024;
/// Different terms of a query that are looked up.
pub const QUERY_TERMS_MAX: usize = 64;
/// Letters of a source's name.
pub const NAME_BYTES_MAX: usize = 64;
/// Sources of one index folder.
pub const SOURCES_MAX: usize = 10_000;
/// Bytes of the manifest.
pub const MANIFEST_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Different terms of a query of which it is known in how many rows they are.
pub const QUERY_TERMS_READ_MAX: usize = 256;
/// How long a database or a lock that somebody else holds is waited for.
pub const WAIT_MS_MAX: u64 = 5_000;
/// Bytes of codes that stay in memory over all sources; the least used source goes first.
pub const CODES_BYTES_MAX: usize = 1024 * 1024 * 1024;
/// Row sets of filters that stay in memory for each source.
pub const FILTER_SETS_MAX: usize = 16;

/// Pieces of files that are embedded and written at once, so that no more is lost when indexing is interrupted.
pub(crate) const INDEXING_BATCH_ROWS: usize = 64;
