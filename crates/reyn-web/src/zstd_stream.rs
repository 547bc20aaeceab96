//! Zstandard (RFC 8878), piece by piece, decoded straight into the body.
//!
//! The decoder finds what it repeats in the body, so a window takes no memory beside it. Windows are bounded all the
//! same to what RFC 9659 asks of HTTP.

use std::io::{self, Write};

use zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd_safe::{DCtx, DParameter, ErrorCode, InBuffer, OutBuffer};

use crate::limits::ZSTD_WINDOW_BITS_MAX;
use crate::sink::Sink;

/// What a frame begins with.
const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// What a frame begins with that is passed over; the low four bits of its first byte are free.
const SKIPPED: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

/// Bytes of the length of a frame that is passed over.
const SKIPPED_LENGTH_BYTES: usize = 4;

/// A stream that is being decoded.
pub(crate) struct ZstdStream {
    decoder: DCtx<'static>,
    sink: Sink,
    /// What has come of a frame's head, as long as it is not whole.
    head: Vec<u8>,
    part: Part,
}

/// What comes next.
#[derive(Clone, Copy)]
enum Part {
    /// The first frame.
    First,
    /// Another frame, or the end.
    Next,
    /// The rest of a frame.
    Frame,
    /// The stream is over.
    Over,
}

impl ZstdStream {
    pub(crate) fn new(sink: Sink) -> Self {
        let mut decoder = DCtx::create();
        for parameter in [DParameter::WindowLogMax(ZSTD_WINDOW_BITS_MAX), DParameter::StableOutBuffer(true)] {
            decoder.set_parameter(parameter).expect("the library has it");
        }
        Self { decoder, sink, head: vec![], part: Part::First }
    }

    pub(crate) const fn sink(&self) -> &Sink {
        &self.sink
    }

    pub(crate) const fn sink_mut(&mut self) -> &mut Sink {
        &mut self.sink
    }

    /// Ends the stream; all of it is in the sink then.
    pub(crate) fn finish(&self) -> io::Result<()> {
        match self.part {
            Part::Over => Ok(()),
            Part::Next if self.head.is_empty() => Ok(()),
            Part::First | Part::Next | Part::Frame => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Takes bytes of a frame's head, and gives how many; the decoder gets the head when it is whole.
    ///
    /// It gets the head alone: a frame that it sees whole, it decodes without a look at the window's size.
    fn begin(&mut self, piece: &[u8]) -> io::Result<usize> {
        for (at, byte) in piece.iter().enumerate() {
            self.head.push(*byte);
            match (head_bytes(&self.head), self.part) {
                (Some(whole), _) if self.head.len() < whole => {}
                (Some(_), _) => {
                    let head = std::mem::take(&mut self.head);
                    self.part = Part::Frame;
                    self.decode(&head)?;
                    return Ok(at + 1);
                }
                (None, Part::First) => return Err(broken("it does not begin as the encoding does")),
                (None, Part::Next | Part::Frame | Part::Over) => {
                    self.part = Part::Over;
                    return Ok(0);
                }
            }
        }
        Ok(piece.len())
    }

    /// Decodes bytes of a frame, up to its end, and gives how many.
    fn decode(&mut self, piece: &[u8]) -> io::Result<usize> {
        let body = self.sink.whole_room()?;
        let length = body.len();
        let mut input = InBuffer::around(piece);
        let mut output = OutBuffer::around_pos(body, length);
        match self.decoder.decompress_stream(&mut output, &mut input) {
            Ok(0) => self.part = Part::Next,
            Ok(_) => {}
            Err(code) if is_error(code, ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall) => {
                return Err(self.sink.refuse());
            }
            Err(code) => return Err(failure(code)),
        }
        // An allocator may give more room than was asked for.
        if self.sink.length() > self.sink.limit_bytes() {
            return Err(self.sink.refuse());
        }
        Ok(input.pos())
    }
}

impl Write for ZstdStream {
    /// Takes nothing once the stream is over.
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        match self.part {
            Part::First | Part::Next => self.begin(piece),
            Part::Frame => self.decode(piece),
            Part::Over => Ok(0),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes of the head of a frame, as far as its start says; `None` where no frame begins so.
fn head_bytes(start: &[u8]) -> Option<usize> {
    if begins_frame(start, SKIPPED, 0xf0) {
        return Some(SKIPPED.len() + SKIPPED_LENGTH_BYTES);
    }
    if !begins_frame(start, FRAME, 0xff) {
        return None;
    }
    let to_flags = FRAME.len() + 1;
    let Some(flags) = start.get(FRAME.len()) else { return Some(to_flags) };
    let is_single = flags & 0x20 != 0;
    let size_bytes = [usize::from(is_single), 2, 4, 8][usize::from(flags >> 6)];
    let dictionary_bytes = [0, 1, 2, 4][usize::from(flags & 3)];
    Some(to_flags + usize::from(!is_single) + dictionary_bytes + size_bytes)
}

/// Whether bytes begin a frame, as far as they have come.
fn begins_frame(bytes: &[u8], magic: [u8; 4], first_mask: u8) -> bool {
    let masks = [first_mask, 0xff, 0xff, 0xff];
    bytes.iter().zip(magic).zip(masks).all(|((byte, expected), mask)| byte & mask == expected)
}

fn broken(why: &str) -> io::Error {
    io::Error::other(why.to_owned())
}

/// The library gives its errors as negative numbers.
const fn is_error(code: ErrorCode, error: ZSTD_ErrorCode) -> bool {
    0_usize.wrapping_sub(code) == error as usize
}

fn failure(code: ErrorCode) -> io::Error {
    let known = [
        (
            ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge,
            "its window is larger than 8 MiB, the most that is for the web",
        ),
        (ZSTD_ErrorCode::ZSTD_error_frameParameter_unsupported, "a bit is set that must not be"),
        (ZSTD_ErrorCode::ZSTD_error_dictionary_wrong, "it needs a dictionary"),
        (ZSTD_ErrorCode::ZSTD_error_checksum_wrong, "its checksum is wrong"),
    ];
    let why = known.into_iter().find(|(error, _)| is_error(code, *error));
    broken(why.map_or("its data is broken", |(_, why)| why))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use zstd_safe::{CCtx, CParameter};

    use super::*;

    const LIMIT_BYTES: usize = 10_000_000;

    const TEXT: &str = "Hello, 日本語! ";

    /// `TEXT` 40 times by the reference encoder: with its size and a checksum, and with neither.
    const WITH_SUM: &str = "28b52ffd64d001cd00009048656c6c6f2c20e697a5e69cace8aa9e21200100765535c3975e254a";
    const WITHOUT: &str = "28b52ffd0068cd00009048656c6c6f2c20e697a5e69cace8aa9e21200100765535c3";

    /// A frame that is passed over, of three bytes.
    const PASSED_OVER: &[u8] = b"\x5a\x2a\x4d\x18\x03\0\0\0abc";

    /// One of none.
    const PASSED_OVER_EMPTY: &[u8] = b"\x50\x2a\x4d\x18\0\0\0\0";

    fn unhex(text: &str) -> Vec<u8> {
        (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
    }

    /// A frame by the library's encoder.
    fn frame(text: &[u8], window_bits: u32, says_size: bool, has_checksum: bool) -> Vec<u8> {
        let mut encoder = CCtx::create();
        for parameter in [
            CParameter::WindowLog(window_bits),
            CParameter::ContentSizeFlag(says_size),
            CParameter::ChecksumFlag(has_checksum),
        ] {
            encoder.set_parameter(parameter).unwrap();
        }
        let mut frame = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
        encoder.compress2(&mut frame, text).unwrap();
        frame
    }

    fn fed(bytes: &[u8], piece_bytes: usize, limit_bytes: usize) -> io::Result<ZstdStream> {
        let mut stream = ZstdStream::new(Sink::new(limit_bytes, 0));
        for mut piece in bytes.chunks(piece_bytes) {
            while !piece.is_empty() {
                match stream.write(piece)? {
                    0 => break,
                    taken => piece = &piece[taken..],
                }
            }
        }
        Ok(stream)
    }

    fn decoded(bytes: &[u8], piece_bytes: usize) -> Result<String, String> {
        let mut stream = fed(bytes, piece_bytes, LIMIT_BYTES).map_err(|error| error.to_string())?;
        stream.finish().map_err(|error| error.kind().to_string())?;
        Ok(String::from_utf8(stream.sink_mut().take()).unwrap())
    }

    #[test]
    fn frames_with_and_without_sums_and_those_to_pass_over_are_one_text() {
        let (with_sum, without, text) = (unhex(WITH_SUM), unhex(WITHOUT), TEXT.repeat(40));
        let small_window = frame(text.as_bytes(), 10, false, true);
        for (bytes, count) in [
            (with_sum.clone(), 1),
            (without.clone(), 1),
            (small_window.clone(), 1),
            ([with_sum.clone(), without.clone(), small_window].concat(), 3),
            ([PASSED_OVER, &with_sum, PASSED_OVER, PASSED_OVER, &without, PASSED_OVER].concat(), 2),
            (PASSED_OVER.to_vec(), 0),
            ([PASSED_OVER_EMPTY, &with_sum, PASSED_OVER_EMPTY].concat(), 1),
            // A frame of one empty block.
            (unhex("28b52ffd2000010000"), 0),
            // What follows is no frame, though it begins as one that is passed over.
            ([&with_sum, b"P*M\n".as_slice()].concat(), 1),
            ([&with_sum, b"\0\0".as_slice()].concat(), 1),
        ] {
            for piece_bytes in [1, 7, 100, usize::MAX] {
                assert_eq!(decoded(&bytes, piece_bytes), Ok(text.repeat(count)), "{bytes:02x?}");
            }
        }
    }

    #[test]
    fn a_stream_that_is_cut_anywhere_ends_too_early() {
        let frame = unhex(WITH_SUM);
        let bytes = [PASSED_OVER, &frame, &frame].concat();
        let frame_ends = [PASSED_OVER.len(), PASSED_OVER.len() + frame.len()];
        for cut in (0..bytes.len()).filter(|cut| !frame_ends.contains(cut)) {
            assert_eq!(decoded(&bytes[..cut], 9), Err("unexpected end of file".to_owned()), "{cut}");
        }
    }

    #[test]
    fn a_stream_that_is_broken_says_why() {
        let with = |at: usize, byte: u8| {
            let mut bytes = unhex(WITH_SUM);
            bytes[at] = byte;
            bytes
        };
        let data = "its data is broken";
        let window = "its window is larger than 8 MiB, the most that is for the web";
        for (bytes, why) in [
            (b"<html>plain</html>".to_vec(), "it does not begin as the encoding does"),
            (with(4, 0x6c), "a bit is set that must not be"),
            // The size, the checksum, an offset.
            (with(5, 0xd1), data),
            (with(38, 0), "its checksum is wrong"),
            (with(32, 0), data),
            // 128 KiB and one byte, and a kind of block that is not there.
            (unhex("28b52ffd0068080010"), data),
            (unhex("28b52ffd0068070000"), data),
            // 8 MiB pass, one step more and a size in one segment do not.
            (unhex("28b52ffd0068"), "unexpected end of file"),
            (unhex("28b52ffd0069"), window),
            (unhex("28b52ffda001008000"), window),
            // Nor do they when the whole frame is there, with its size.
            (unhex("28b52ffd80690100000009000061"), window),
            (unhex("28b52ffd01680701"), "it needs a dictionary"),
        ] {
            for piece_bytes in [1, 5, usize::MAX] {
                assert_eq!(decoded(&bytes, piece_bytes), Err(why.to_owned()), "{bytes:02x?}");
            }
        }
    }

    #[test]
    fn the_largest_window_takes_no_memory_beside_the_body() {
        let mut text = b"a line that comes again and again\n".repeat(LIMIT_BYTES / 34 + 1);
        text.truncate(LIMIT_BYTES);
        let bytes = frame(&text, ZSTD_WINDOW_BITS_MAX, false, true);
        assert_eq!(bytes[5], 0x68, "its window has 8 MiB");
        let mut stream = fed(&bytes, 1000, LIMIT_BYTES).unwrap();
        assert!(stream.decoder.sizeof() < 512 * 1024, "{}", stream.decoder.sizeof());
        stream.finish().unwrap();
        let body = stream.sink_mut().take();
        assert_eq!((body.capacity(), body == text), (LIMIT_BYTES, true));
    }

    #[test]
    fn a_frame_that_says_it_is_larger_than_the_limit_is_refused_before_it_is_decoded() {
        let text = TEXT.repeat(40);
        let whole = unhex(WITH_SUM);
        for count in [1, 2] {
            let limit_bytes = count * text.len() - 1;
            let mut bytes = whole.repeat(count);
            bytes.truncate(bytes.len() - whole.len() + 7);
            let mut stream = ZstdStream::new(Sink::new(limit_bytes, 0));
            assert!(stream.write_all(&bytes).is_err());
            assert!(stream.sink().is_over());
            assert_eq!(stream.sink_mut().take().len(), (count - 1) * text.len());
        }
    }

    /// What repeats near and far, and what does not.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let words = prop_oneof![
            Just(b"the same word ".to_vec()),
            Just(vec![b'a'; 700]),
            proptest::collection::vec(any::<u8>(), 0..40),
        ];
        proptest::collection::vec(words, 0..200).prop_map(|words| words.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn frames_of_any_window_are_one_body_however_they_are_cut(
            texts in proptest::collection::vec((text(), 10_u32..=23, any::<bool>(), any::<bool>()), 1..4),
            piece_bytes in 1_usize..2000,
        ) {
            let (mut bytes, mut body) = (vec![], vec![]);
            for (text, window_bits, says_size, has_checksum) in texts {
                bytes.extend(frame(&text, window_bits, says_size, has_checksum));
                bytes.extend_from_slice(PASSED_OVER);
                body.extend(text);
            }
            let mut stream = fed(&bytes, piece_bytes, body.len()).unwrap();
            stream.finish().unwrap();
            prop_assert_eq!(stream.sink_mut().take(), body.clone());
            if let Some(limit_bytes) = body.len().checked_sub(1) {
                let mut stream = ZstdStream::new(Sink::new(limit_bytes, 0));
                prop_assert!(bytes.chunks(piece_bytes).any(|piece| stream.write_all(piece).is_err()));
                prop_assert!(stream.sink().is_over());
            }
        }
    }
}
