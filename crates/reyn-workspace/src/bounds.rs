//! Every bound of file operations, with its unit in its name.

/// Largest file that is edited, in bytes: it is held in memory twice.
pub const EDIT_BYTES_MAX: u64 = 64 << 20;
/// What is read between two looks at the cancellation, in bytes.
pub const EDIT_READ_BYTES: u64 = 4 << 20;
/// Lines of an edit that are named.
pub const EDIT_LINES_NAMED_MAX: usize = 20;
/// Files below the guarded places that are looked at.
pub const GUARDED_FILES_MAX: usize = 20_000;
/// Folders inside each other below a guarded place.
pub const GUARDED_DEPTH_MAX: usize = 16;
/// Names of one folder that are looked at.
pub const FOLDER_ENTRIES_MAX: usize = 200_000;
/// Times an open is tried again when folders above it are moved meanwhile.
pub const MOVED_RETRIES_MAX: usize = 8;
/// Names of a folder that are compared with one that does not exist.
pub const NEAR_NAMES_MAX: usize = 2_000;
/// Beginning of a file by which its encoding is told, in bytes.
pub const ENCODING_SAMPLE_BYTES: usize = 256 * 1024;
/// What is read from a file at once, in bytes.
pub const PAGE_READ_BYTES: usize = 128 * 1024;
/// Writes of one file at the same time.
pub const WRITERS_MAX: u32 = 16;
/// Longest wait for others that put files into the same folder, in milliseconds.
pub const TURN_MS_MAX: u64 = 5_000;
/// Longest wait for a lock that another process has, in milliseconds.
pub const LOCK_MS_MAX: u64 = 10_000;
/// Largest extended attribute of a file that is kept, and the names of all of them together, in bytes.
pub const ATTRIBUTE_BYTES_MAX: usize = 64 * 1024;
/// Longest path that is looked at, in bytes, as the kernel bounds it.
pub const PATH_BYTES_MAX: usize = 4096;
/// Names of one folder that are looked through for the stored one.
pub const STORED_NAMES_MAX: usize = 200_000;
/// What is read at once, in bytes; even, so that a block holds whole units of two bytes.
pub const TAIL_BLOCK_BYTES: usize = 64 * 1024;
/// Largest old file that is compared with the new one, in bytes.
pub const COMPARED_BYTES_MAX: u64 = 8 << 20;
