//! Members of a zip archive that is in memory: stored or deflated, with their sizes and checksums held to.
//!
//! Only what an `.npz` uses is read: no encryption, no second disk, no sizes beyond 32 bits.

use flate2::{Decompress, FlushDecompress, Status};
use thiserror::Error;

const END_MARK: &[u8] = b"PK\x05\x06";
const END_BYTES: usize = 22;
const COMMENT_BYTES_MAX: usize = 65_535;
const ENTRY_MARK: &[u8] = b"PK\x01\x02";
const ENTRY_BYTES: usize = 46;
const LOCAL_MARK: &[u8] = b"PK\x03\x04";
const LOCAL_BYTES: usize = 30;
const MEMBERS_MAX: usize = 1024;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const ENCRYPTED: u16 = 1;

/// Why an archive cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ArchiveError {
    /// There is no directory at its end.
    #[error("it is no zip archive, or it is cut short")]
    NoDirectory,
    /// The directory does not lie in the file as it says.
    #[error("its directory is damaged")]
    BrokenDirectory,
    /// More members than a model has.
    #[error("it has {members} members; at most {MEMBERS_MAX} are read")]
    TooManyMembers {
        /// How many the directory names.
        members: usize,
    },
    /// A member that is needed is not there.
    #[error("it has no member `{name}`")]
    Missing {
        /// The member.
        name: String,
    },
    /// A member is packed in a way that is not read.
    #[error("its member `{name}` is packed by method {method}; stored and deflated ones are read")]
    Method {
        /// The member.
        name: String,
        /// The number of the method, 65535 for one that is encrypted.
        method: u16,
    },
    /// A member is larger than what it stands for can be.
    #[error("its member `{name}` has {bytes} bytes; at most {bytes_max} can be right")]
    TooLarge {
        /// The member.
        name: String,
        /// Its size as the directory says.
        bytes: usize,
        /// The bound.
        bytes_max: usize,
    },
    /// The bytes of a member are not what the directory says.
    #[error("its member `{name}` is damaged")]
    Damaged {
        /// The member.
        name: String,
    },
}

/// One line of the directory.
#[derive(Debug)]
struct Member<'a> {
    name: &'a [u8],
    flags: u16,
    method: u16,
    checksum: u32,
    packed_bytes: usize,
    bytes: usize,
    header_at: usize,
}

/// An archive and its directory.
#[derive(Debug)]
pub(crate) struct Archive<'a> {
    file: &'a [u8],
    members: Vec<Member<'a>>,
}

impl<'a> Archive<'a> {
    /// Reads the directory.
    pub(crate) fn open(file: &'a [u8]) -> Result<Self, ArchiveError> {
        let end = find_end(file).ok_or(ArchiveError::NoDirectory)?;
        let count = usize::from(short(end, 10).ok_or(ArchiveError::NoDirectory)?);
        if count > MEMBERS_MAX {
            return Err(ArchiveError::TooManyMembers { members: count });
        }
        let directory_at = size(end, 16).ok_or(ArchiveError::NoDirectory)?;
        let mut rest = file.get(directory_at..).ok_or(ArchiveError::BrokenDirectory)?;
        let mut members = Vec::with_capacity(count);
        for _ in 0..count {
            let (member, after) = entry(rest).ok_or(ArchiveError::BrokenDirectory)?;
            members.push(member);
            rest = after;
        }
        Ok(Self { file, members })
    }

    /// The unpacked bytes of a member, of which there are at most `bytes_max`.
    pub(crate) fn member(&self, name: &str, bytes_max: usize) -> Result<Vec<u8>, ArchiveError> {
        let member = self
            .members
            .iter()
            .find(|member| member.name == name.as_bytes())
            .ok_or_else(|| ArchiveError::Missing { name: name.to_owned() })?;
        if member.flags & ENCRYPTED != 0 {
            return Err(ArchiveError::Method { name: name.to_owned(), method: u16::MAX });
        }
        if member.bytes > bytes_max {
            return Err(ArchiveError::TooLarge { name: name.to_owned(), bytes: member.bytes, bytes_max });
        }
        let damaged = || ArchiveError::Damaged { name: name.to_owned() };
        let packed = self.packed(member).ok_or_else(damaged)?;
        let unpacked = match member.method {
            STORED => (packed.len() == member.bytes).then(|| packed.to_vec()),
            DEFLATED => inflate(packed, member.bytes),
            method => return Err(ArchiveError::Method { name: name.to_owned(), method }),
        };
        unpacked.filter(|bytes| crc32fast::hash(bytes) == member.checksum).ok_or_else(damaged)
    }

    fn packed(&self, member: &Member<'_>) -> Option<&'a [u8]> {
        let local = self.file.get(member.header_at..)?;
        if !local.starts_with(LOCAL_MARK) {
            return None;
        }
        let begins = LOCAL_BYTES + usize::from(short(local, 26)?) + usize::from(short(local, 28)?);
        local.get(begins..begins.checked_add(member.packed_bytes)?)
    }
}

/// The record at the end, from its mark on. A comment of any length may follow it.
fn find_end(file: &[u8]) -> Option<&[u8]> {
    let last = file.len().checked_sub(END_BYTES)?;
    let first = last.saturating_sub(COMMENT_BYTES_MAX);
    (first..=last).rev().map(|at| &file[at..]).find(|end| end.starts_with(END_MARK))
}

fn entry(bytes: &[u8]) -> Option<(Member<'_>, &[u8])> {
    if !bytes.starts_with(ENTRY_MARK) {
        return None;
    }
    let name_ends = ENTRY_BYTES + usize::from(short(bytes, 28)?);
    let ends = name_ends + usize::from(short(bytes, 30)?) + usize::from(short(bytes, 32)?);
    let member = Member {
        name: bytes.get(ENTRY_BYTES..name_ends)?,
        flags: short(bytes, 8)?,
        method: short(bytes, 10)?,
        checksum: long(bytes, 16)?,
        packed_bytes: size(bytes, 20)?,
        bytes: size(bytes, 24)?,
        header_at: size(bytes, 42)?,
    };
    Some((member, bytes.get(ends..)?))
}

fn inflate(packed: &[u8], bytes: usize) -> Option<Vec<u8>> {
    let mut unpacked = vec![0; bytes];
    let mut decoder = Decompress::new(false);
    let status = decoder.decompress(packed, &mut unpacked, FlushDecompress::Finish).ok()?;
    let is_whole = status == Status::StreamEnd && decoder.total_out() == u64::try_from(bytes).ok()?;
    is_whole.then_some(unpacked)
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn size(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(long(bytes, at)?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_files::zip;

    fn two() -> Vec<u8> {
        zip(&[("a.npy", b"stored", false), ("b.npy", &[7; 1000], true)])
    }

    #[test]
    fn stored_and_deflated_members_are_read() {
        let file = two();
        let archive = Archive::open(&file).unwrap();
        assert_eq!(archive.member("a.npy", 6), Ok(b"stored".to_vec()));
        assert_eq!(archive.member("b.npy", 1000), Ok(vec![7; 1000]));
    }

    #[test]
    fn a_comment_after_the_directory_is_passed_over() {
        let file = [two(), b"a comment".to_vec()].concat();
        assert_eq!(Archive::open(&file).unwrap().member("a.npy", 6), Ok(b"stored".to_vec()));
    }

    #[test]
    fn a_member_that_is_not_there_or_too_large_is_named() {
        let file = two();
        let archive = Archive::open(&file).unwrap();
        assert_eq!(archive.member("c.npy", 9), Err(ArchiveError::Missing { name: "c.npy".into() }));
        assert_eq!(
            archive.member("b.npy", 999),
            Err(ArchiveError::TooLarge { name: "b.npy".into(), bytes: 1000, bytes_max: 999 })
        );
    }

    #[test]
    fn a_size_that_the_stream_does_not_have_is_damage() {
        let mut file = two();
        let at = file.len() - END_BYTES - 5 - ENTRY_BYTES + 24;
        assert_eq!(long(&file, at), Some(1000));
        for wrong in [999_u32, 1001, 5] {
            file[at..at + 4].copy_from_slice(&wrong.to_le_bytes());
            let archive = Archive::open(&file).unwrap();
            assert_eq!(
                archive.member("b.npy", 2000),
                Err(ArchiveError::Damaged { name: "b.npy".into() }),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_directory_of_more_members_than_there_are_is_refused() {
        let mut file = two();
        let at = file.len() - END_BYTES + 10;
        file[at..at + 2].copy_from_slice(&3_u16.to_le_bytes());
        assert_eq!(Archive::open(&file).unwrap_err(), ArchiveError::BrokenDirectory);
        file[at..at + 2].copy_from_slice(&u16::MAX.to_le_bytes());
        assert_eq!(Archive::open(&file).unwrap_err(), ArchiveError::TooManyMembers { members: 65_535 });
    }

    #[test]
    fn an_archive_cut_anywhere_is_an_error() {
        let file = two();
        for length in 0..file.len() {
            assert!(Archive::open(&file[..length]).is_err(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn a_changed_byte_gives_the_same_bytes_or_an_error(at in 0..two().len(), to: u8) {
            let mut file = two();
            file[at] = to;
            if let Ok(archive) = Archive::open(&file) {
                for (name, right) in [("a.npy", b"stored".to_vec()), ("b.npy", vec![7; 1000])] {
                    if let Ok(bytes) = archive.member(name, 1000) {
                        prop_assert_eq!(bytes, right);
                    }
                }
            }
        }
    }
}
