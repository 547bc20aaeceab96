//! Every bound of a search, with its unit in its name.

use std::num::NonZero;
use std::time::Duration;

/// Entries that one search looks at.
pub const ENTRIES_MAX: usize = 1_000_000;
/// Entries of one folder that are looked at.
pub const FOLDER_ENTRIES_MAX: usize = 200_000;
/// Nesting of folders below the search root; each level holds a file descriptor.
pub const DEPTH_MAX: usize = 128;
/// Wall time of one search, in seconds.
pub const SEARCH_SECONDS_MAX: u64 = 20;
/// Characters of a line in a result; a longer one is cut around its match.
pub const LINE_CHARS_MAX: usize = 500;
/// Longest line that is searched in a file that is too large to read whole, in bytes.
pub const LINE_BYTES_MAX: usize = 8 << 20;
/// Largest file that is read whole, in bytes; a larger one is searched as it is read.
pub const WHOLE_FILE_BYTES_MAX: usize = 4 << 20;
/// Largest file that is searched across lines, in bytes, since that needs all of it in memory.
pub const MULTI_LINE_FILE_BYTES_MAX: usize = 16 << 20;
/// Text that is searched in one go, in bytes; cancelling is looked at in between.
pub const SLICE_BYTES_MAX: usize = 256 << 10;
/// Beginning of a file that shows its encoding when it is not read whole, in bytes.
pub const ENCODING_SAMPLE_BYTES: usize = 64 << 10;
/// Beginning of a file in which a NUL byte makes it binary, in bytes.
pub const BINARY_SAMPLE_BYTES: usize = 8 << 10;
/// Lines of context before or after a match.
pub const CONTEXT_LINES_MAX: usize = 50;
/// Lines of one match across lines that are shown.
pub const MATCH_LINES_MAX: usize = 50;
/// Longest pattern, in bytes.
pub const PATTERN_BYTES_MAX: usize = 16 << 10;
/// Memory of a compiled regular expression, and of its tables while it runs, in bytes each.
pub const REGEX_BYTES_MAX: usize = 4 << 20;
/// What `{a,b}` in one glob may stand for.
pub const GLOB_ALTERNATIVES_MAX: usize = 64;
/// Memory of what matches the characters of one component of a glob, in bytes.
pub const GLOB_REGEX_BYTES_MAX: usize = 2 << 20;
/// How much of a file with ignore rules is read, in bytes.
pub const IGNORE_FILE_BYTES_MAX: usize = 256 << 10;
/// Rules of one such file that count.
pub const IGNORE_RULES_MAX: usize = 2_000;
/// Rules that hold in one folder, those of the folders above included.
pub const IGNORE_RULES_IN_FORCE_MAX: usize = 8_000;
/// Threads that search files.
pub const THREADS_MAX: usize = 4;
/// Files that are searched on the caller's thread before others are started.
pub const FILES_BEFORE_THREADS: usize = 64;
/// Files that one thread takes at a time.
pub const BATCH_FILES_MAX: usize = 32;
/// Folders that the files of one batch are in; each holds a file descriptor.
pub const BATCH_FOLDERS_MAX: usize = 8;

/// The bounds that tests make smaller.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    pub(crate) entries_max: usize,
    pub(crate) folder_entries_max: usize,
    pub(crate) depth_max: usize,
    pub(crate) time_max: Duration,
    pub(crate) line_bytes_max: usize,
    pub(crate) whole_file_bytes_max: usize,
    pub(crate) multi_line_file_bytes_max: usize,
    pub(crate) threads_max: usize,
    pub(crate) files_before_threads: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            entries_max: ENTRIES_MAX,
            folder_entries_max: FOLDER_ENTRIES_MAX,
            depth_max: DEPTH_MAX,
            time_max: Duration::from_secs(SEARCH_SECONDS_MAX),
            line_bytes_max: LINE_BYTES_MAX,
            whole_file_bytes_max: WHOLE_FILE_BYTES_MAX,
            multi_line_file_bytes_max: MULTI_LINE_FILE_BYTES_MAX,
            threads_max: std::thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX),
            files_before_threads: FILES_BEFORE_THREADS,
        }
    }
}
