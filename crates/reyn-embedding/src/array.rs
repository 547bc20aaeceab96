//! Arrays in the format of numpy (`.npy`): a mark, a header in Python's notation, the numbers.
//!
//! The shape comes from the caller and the file must agree, so no size of a file is ever believed.

use thiserror::Error;

use crate::archive::{Archive, ArchiveError};

const MARK: &[u8] = b"\x93NUMPY";
const HEADER_BYTES_MAX: usize = 4096;

/// Why an array cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ArrayError {
    /// Its member of the archive cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// It does not begin as an array does.
    #[error("its array `{name}` has no readable header")]
    Header {
        /// The array.
        name: String,
    },
    /// It is an array of another kind or shape.
    #[error("its array `{name}` is `{found}`; expected is `{expected}`")]
    Kind {
        /// The array.
        name: String,
        /// Type, order and shape in the file.
        found: String,
        /// The same as the model has it.
        expected: String,
    },
    /// It has more or fewer numbers than its shape.
    #[error("its array `{name}` has {bytes} bytes of numbers; its shape has {expected}")]
    Length {
        /// The array.
        name: String,
        /// Bytes in the file.
        bytes: usize,
        /// Bytes of the shape.
        expected: usize,
    },
    /// One of its numbers is infinite or none.
    #[error("its array `{name}` holds a number that is not finite")]
    NotFinite {
        /// The array.
        name: String,
    },
}

/// The finite numbers of an array of 32-bit floats.
pub(crate) fn floats(archive: &Archive<'_>, name: &str, shape: &[usize]) -> Result<Vec<f32>, ArrayError> {
    let (member, begins) = numbers(archive, name, "<f4", shape, 4)?;
    let (chunks, _) = member[begins..].as_chunks();
    let floats: Vec<f32> = chunks.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    if floats.iter().all(|float| float.is_finite()) {
        Ok(floats)
    } else {
        Err(ArrayError::NotFinite { name: name.to_owned() })
    }
}

/// A finite number that stands alone, in 64 bits.
pub(crate) fn double(archive: &Archive<'_>, name: &str) -> Result<f64, ArrayError> {
    let (member, begins) = numbers(archive, name, "<f8", &[], 8)?;
    let bytes = member[begins..].first_chunk().expect("its length was compared");
    let double = f64::from_le_bytes(*bytes);
    if double.is_finite() { Ok(double) } else { Err(ArrayError::NotFinite { name: name.to_owned() }) }
}

/// An array of bytes, and where in it the numbers begin: they are large, so they stay where they were unpacked.
pub(crate) fn bytes(
    archive: &Archive<'_>,
    name: &str,
    shape: &[usize],
) -> Result<(Vec<u8>, usize), ArrayError> {
    numbers(archive, name, "|u1", shape, 1)
}

/// A member of the archive, and where its numbers begin; there are as many as the shape has.
fn numbers(
    archive: &Archive<'_>,
    name: &str,
    kind: &str,
    shape: &[usize],
    item_bytes: usize,
) -> Result<(Vec<u8>, usize), ArrayError> {
    let expected_bytes = shape.iter().product::<usize>() * item_bytes;
    let member = archive.member(&format!("{name}.npy"), expected_bytes + HEADER_BYTES_MAX)?;
    let (header, begins) = header(&member).ok_or_else(|| ArrayError::Header { name: name.to_owned() })?;
    let expected = written(kind, shape);
    let found: String = header.chars().filter(|c| !c.is_whitespace()).collect();
    if found != expected {
        return Err(ArrayError::Kind { name: name.to_owned(), found, expected });
    }
    let bytes = member.len() - begins;
    if bytes != expected_bytes {
        return Err(ArrayError::Length { name: name.to_owned(), bytes, expected: expected_bytes });
    }
    Ok((member, begins))
}

/// The text of the header, and where it ends.
fn header(member: &[u8]) -> Option<(&str, usize)> {
    let [major, _minor, low, high, ..] = *member.strip_prefix(MARK)? else { return None };
    let (begins, length) = match major {
        1 => (10, usize::from(u16::from_le_bytes([low, high]))),
        2 | 3 => (12, usize::try_from(u32::from_le_bytes(*member.get(8..)?.first_chunk()?)).ok()?),
        _ => return None,
    };
    let ends = begins + Some(length).filter(|length| *length <= HEADER_BYTES_MAX)?;
    Some((std::str::from_utf8(member.get(begins..ends)?).ok()?, ends))
}

/// A header as numpy writes it, without its spaces.
fn written(kind: &str, shape: &[usize]) -> String {
    let shape = match shape {
        [one] => format!("{one},"),
        all => all.iter().map(usize::to_string).collect::<Vec<_>>().join(","),
    };
    format!("{{'descr':'{kind}','fortran_order':False,'shape':({shape}),}}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_files::{npy, zip};

    fn file(member: &[u8]) -> Vec<u8> {
        zip(&[("a.npy", member, true)])
    }

    fn three() -> Vec<u8> {
        let numbers: Vec<u8> = [1.5_f32, -2.0, 0.25].into_iter().flat_map(f32::to_le_bytes).collect();
        npy("<f4", "(3,)", &numbers)
    }

    fn read(member: &[u8], shape: &[usize]) -> Result<Vec<f32>, ArrayError> {
        floats(&Archive::open(&file(member)).unwrap(), "a", shape)
    }

    #[test]
    fn floats_bytes_and_single_numbers_are_read() {
        assert_eq!(read(&three(), &[3]), Ok(vec![1.5, -2.0, 0.25]));
        let of_bytes = file(&npy("|u1", "(2, 2)", &[1, 2, 3, 4]));
        let (member, begins) = bytes(&Archive::open(&of_bytes).unwrap(), "a", &[2, 2]).unwrap();
        assert_eq!(member[begins..], [1, 2, 3, 4]);
        let single = file(&npy("<f8", "()", &0.5_f64.to_le_bytes()));
        assert_eq!(double(&Archive::open(&single).unwrap(), "a"), Ok(0.5));
    }

    #[test]
    fn another_shape_type_or_order_is_refused() {
        let error = read(&three(), &[4]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "its array `a` is `{'descr':'<f4','fortran_order':False,'shape':(3,),}`; \
             expected is `{'descr':'<f4','fortran_order':False,'shape':(4,),}`"
        );
        assert!(matches!(read(&npy("<f8", "(3,)", &[0; 24]), &[3]), Err(ArrayError::Kind { .. })));
        let turned = String::from_utf8_lossy(&npy("|u1", "(2, 2)", &[1; 4])).replace("False", "True ");
        assert!(read(turned.as_bytes(), &[2, 2]).is_err());
    }

    #[test]
    fn numbers_that_are_missing_too_many_or_not_finite_are_errors() {
        let whole = three();
        assert_eq!(
            read(&whole[..whole.len() - 1], &[3]),
            Err(ArrayError::Length { name: "a".into(), bytes: 11, expected: 12 })
        );
        assert_eq!(
            read(&[&whole[..], &[0]].concat(), &[3]),
            Err(ArrayError::Length { name: "a".into(), bytes: 13, expected: 12 })
        );
        let infinite = npy("<f4", "(1,)", &f32::INFINITY.to_le_bytes());
        assert_eq!(read(&infinite, &[1]), Err(ArrayError::NotFinite { name: "a".into() }));
    }

    #[test]
    fn an_array_cut_anywhere_is_an_error() {
        let whole = three();
        for length in 0..whole.len() {
            assert!(read(&whole[..length], &[3]).is_err(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_array_or_an_error(mut member in proptest::collection::vec(any::<u8>(), 0..200), marked: bool) {
            if marked {
                member.splice(0..0, MARK.iter().copied().chain([2, 0]));
            }
            prop_assert!(read(&member, &[3]).is_err());
        }
    }
}
