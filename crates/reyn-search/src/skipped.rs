//! What a search has passed over.

use std::ops::AddAssign;

/// How many entries were not searched, by reason. A folder counts once, whatever is in it.
///
/// Only what the glob of the search asks for counts: a hidden `.a.txt` is not missing from a search of
/// `*.rs`. Links, pipes, sockets and devices never count, and neither does a `.git` folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Skipped {
    /// Names that begin with a dot.
    pub hidden: u64,
    /// Left out by `.gitignore`, `.ignore` or `.git/info/exclude`.
    pub ignored: u64,
    /// Files that are no text.
    pub binary: u64,
    /// Files too large to be searched across lines.
    pub too_large: u64,
    /// Files and folders that cannot be opened or read.
    pub unreadable: u64,
    /// Files that the caller does not admit.
    pub not_permitted: u64,
    /// Folders where another file system is mounted.
    pub other_file_systems: u64,
    /// Files with a line too long to be searched; what was found before it is in the result.
    pub long_lines: u64,
    /// Files in an encoding that cannot be decoded.
    pub undecodable: u64,
}

impl AddAssign for Skipped {
    fn add_assign(&mut self, other: Self) {
        self.hidden += other.hidden;
        self.ignored += other.ignored;
        self.binary += other.binary;
        self.too_large += other.too_large;
        self.unreadable += other.unreadable;
        self.not_permitted += other.not_permitted;
        self.other_file_systems += other.other_file_systems;
        self.long_lines += other.long_lines;
        self.undecodable += other.undecodable;
    }
}
