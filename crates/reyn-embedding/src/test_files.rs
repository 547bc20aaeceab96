//! Files for tests, written by the rules of their formats: zip archives, arrays, charsmaps, vocabularies.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// An archive of members: name, bytes, whether deflated.
pub(crate) fn zip(members: &[(&str, &[u8], bool)]) -> Vec<u8> {
    let mut file = vec![];
    let mut directory = vec![];
    for (name, bytes, is_deflated) in members {
        let packed = if *is_deflated { deflated(bytes) } else { bytes.to_vec() };
        let header_at = u32::try_from(file.len()).unwrap();
        let name_bytes = u16::try_from(name.len()).unwrap();
        let mut shared = vec![];
        shared
            .extend([20_u16, 0, if *is_deflated { 8 } else { 0 }, 0, 0].iter().flat_map(|n| n.to_le_bytes()));
        shared.extend(crc32fast::hash(bytes).to_le_bytes());
        shared.extend(u32::try_from(packed.len()).unwrap().to_le_bytes());
        shared.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
        shared.extend(name_bytes.to_le_bytes());
        shared.extend([0, 0]);
        file.extend(b"PK\x03\x04");
        file.extend(&shared);
        file.extend(name.as_bytes());
        file.extend(packed);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(shared);
        directory.extend([0; 10]);
        directory.extend(header_at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let directory_at = u32::try_from(file.len()).unwrap();
    let count = u16::try_from(members.len()).unwrap();
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([count, count].iter().flat_map(|n| n.to_le_bytes()));
    file.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    file.extend(directory_at.to_le_bytes());
    file.extend([0, 0]);
    file
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(vec![], Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An array of the type, the shape as Python writes it, and the bytes of the numbers.
pub(crate) fn npy(kind: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{header:<117}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), numbers].concat()
}

/// A field of a protocol buffer message that holds bytes.
pub(crate) fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut message = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        message.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    message.push(u8::try_from(length).unwrap());
    [&message, bytes].concat()
}

/// A SentencePiece model of pieces with their scores and a table of normal forms.
pub(crate) fn vocabulary(pieces: &[(&str, f32)], charsmap: &[u8]) -> Vec<u8> {
    let mut file: Vec<u8> = pieces
        .iter()
        .flat_map(|(piece, score)| {
            field(1, &[&field(1, piece.as_bytes())[..], b"\x15", &score.to_le_bytes()].concat())
        })
        .collect();
    file.extend(field(2, b"\x18\x01"));
    file.extend(field(3, &field(2, charsmap)));
    file
}

/// A table of normal forms: a double array over keys, then the forms.
///
/// The children of each node get a block of 256 units of their own, so that none collide.
pub(crate) fn charsmap(forms: &[(&str, &str)]) -> Vec<u8> {
    const HAS_VALUE: u32 = 1 << 8;
    let mut units = vec![0_u32; 512];
    let mut blob = vec![];
    units[0] = 256 << 10;
    for (key, form) in forms {
        let value = u32::try_from(blob.len()).unwrap();
        blob.extend(form.as_bytes());
        blob.push(0);
        let mut base = 256;
        let mut at = 0;
        for byte in key.bytes() {
            at = base ^ usize::from(byte);
            if units[at] >> 10 == 0 {
                let children = units.len();
                units.resize(children + 256, 0);
                units[at] = u32::try_from(at ^ children).unwrap() << 10 | u32::from(byte);
            }
            base = at ^ usize::try_from(units[at] >> 10).unwrap();
        }
        units[at] |= HAS_VALUE;
        units[base] = value | 1 << 31;
    }
    let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
    [&u32::try_from(bytes.len()).unwrap().to_le_bytes()[..], &bytes, &blob].concat()
}
