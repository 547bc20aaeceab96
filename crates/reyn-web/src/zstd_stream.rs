//! Zstandard (RFC 8878), piece by piece: frames one after the other, each block decoded when all of it is there.
//!
//! The window is bounded to what RFC 9659 asks of HTTP, so a stream's memory is too, whatever it says.

use std::io::{self, Write};

use ruzstd::decoding::errors::FrameDecoderError;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::limits::ZSTD_WINDOW_BYTES_MAX;
use crate::sink::Sink;

/// What a frame begins with.
const FRAME: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// What a frame begins with that is passed over; the low four bits of its first byte are free.
const SKIPPED: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

/// The head of a frame of no bytes.
const EMPTY_HEAD: &[u8] = b"\x28\xb5\x2f\xfd\x20\x00";

/// Bytes of a block, before and after decoding.
const BLOCK_BYTES_MAX: usize = 128 * 1024;

/// Bytes that are taken at once while a part of a block waits for its end, so that little is held twice.
const STEP_BYTES: usize = 16 * 1024;

/// Bytes of what comes before a block, and of the sum at a frame's end.
const BLOCK_HEAD_BYTES: usize = 3;
const CHECKSUM_BYTES: usize = 4;

/// A stream that is being decoded.
pub(crate) struct ZstdStream {
    decoder: FrameDecoder,
    sink: Sink,
    /// What was taken and is no whole part.
    waiting: Vec<u8>,
    part: Part,
}

/// What comes next.
#[derive(Clone, Copy)]
enum Part {
    /// The first frame.
    First,
    /// Another frame, or the end.
    Next,
    /// The rest of a frame that is passed over.
    Skipped { left_bytes: usize },
    /// A block.
    Block(Frame),
    /// The stream is over.
    Over,
}

/// What a frame says of itself.
#[derive(Clone, Copy)]
struct Frame {
    has_checksum: bool,
    /// Where in the sink it must end.
    end: Option<u64>,
}

impl ZstdStream {
    pub(crate) fn new(sink: Sink) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(ZSTD_WINDOW_BYTES_MAX);
        // After a first frame the decoder makes room for a window at once; before, it grows by doubling, and what it
        // leaves behind is as large as the window again.
        decoder.reset(EMPTY_HEAD).expect("it is the head of a frame");
        Self { decoder, sink, waiting: vec![], part: Part::First }
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
            Part::Next if self.waiting.is_empty() => Ok(()),
            Part::First | Part::Next | Part::Skipped { .. } | Part::Block(_) => {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
        }
    }

    /// Decodes all whole parts, and gives how many bytes they were.
    fn steps(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut at = 0;
        while let Some(count) = self.step(&bytes[at..])? {
            at += count;
        }
        Ok(at)
    }

    /// Decodes the next part, and gives how many bytes it was; `None` where more must come first.
    fn step(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        match self.part {
            Part::Over => Ok(None),
            Part::First | Part::Next if bytes.is_empty() => Ok(None),
            Part::First | Part::Next if begins_frame(bytes, FRAME, 0xff) => self.begin(bytes),
            Part::First | Part::Next if begins_frame(bytes, SKIPPED, 0xf0) => Ok(self.skip(bytes)),
            Part::First => Err(broken("it does not begin as the encoding does")),
            Part::Next => {
                self.part = Part::Over;
                Ok(None)
            }
            Part::Skipped { left_bytes: 0 } => {
                self.part = Part::Next;
                Ok(Some(0))
            }
            Part::Skipped { left_bytes } => {
                let taken = left_bytes.min(bytes.len());
                self.part = Part::Skipped { left_bytes: left_bytes - taken };
                Ok((taken > 0).then_some(taken))
            }
            Part::Block(frame) => self.block(frame, bytes),
        }
    }

    fn skip(&mut self, bytes: &[u8]) -> Option<usize> {
        let length = bytes.get(SKIPPED.len()..)?.first_chunk()?;
        let left_bytes = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        self.part = Part::Skipped { left_bytes };
        Some(SKIPPED.len() + length.len())
    }

    fn begin(&mut self, bytes: &[u8]) -> io::Result<Option<usize>> {
        let Some(&flags) = bytes.get(FRAME.len()) else { return Ok(None) };
        if flags & 0x08 != 0 {
            return Err(broken("a bit is set that must not be"));
        }
        let is_single = flags & 0x20 != 0;
        let size_bytes = [usize::from(is_single), 2, 4, 8][usize::from(flags >> 6)];
        let dictionary_bytes = [0, 1, 2, 4][usize::from(flags & 3)];
        let head_bytes = FRAME.len() + 1 + usize::from(!is_single) + dictionary_bytes + size_bytes;
        let Some(mut head) = bytes.get(..head_bytes) else { return Ok(None) };
        self.decoder.reset(&mut head).map_err(|error| failure(&error))?;
        let length = u64::try_from(self.sink.length()).unwrap_or(u64::MAX);
        let end = (size_bytes > 0).then(|| length.saturating_add(self.decoder.content_size()));
        self.part = Part::Block(Frame { has_checksum: flags & 0x04 != 0, end });
        Ok(Some(head_bytes))
    }

    fn block(&mut self, frame: Frame, bytes: &[u8]) -> io::Result<Option<usize>> {
        let Some(&[first, second, third]) = bytes.first_chunk::<BLOCK_HEAD_BYTES>() else { return Ok(None) };
        let is_last = first & 1 != 0;
        let is_one_byte = (first >> 1) & 3 == 1;
        let size = usize::from(first >> 3) | usize::from(second) << 5 | usize::from(third) << 13;
        if size > BLOCK_BYTES_MAX {
            return Err(broken("a block is larger than the format has"));
        }
        let sum_bytes = if is_last && frame.has_checksum { CHECKSUM_BYTES } else { 0 };
        let whole = BLOCK_HEAD_BYTES + if is_one_byte { 1 } else { size } + sum_bytes;
        let Some(block) = bytes.get(..whole) else { return Ok(None) };
        let only = BlockDecodingStrategy::UptoBlocks(1);
        self.decoder.decode_blocks(block, only).map_err(|error| failure(&error))?;
        self.decoder.collect_to_writer(&mut self.sink)?;
        if is_last {
            self.end_frame(frame)?;
        }
        Ok(Some(whole))
    }

    fn end_frame(&mut self, frame: Frame) -> io::Result<()> {
        let is_whole = frame.end.is_none_or(|end| u64::try_from(self.sink.length()) == Ok(end));
        let sum = self.decoder.get_checksum_from_data();
        if !is_whole || sum.is_some() && sum != self.decoder.get_calculated_checksum() {
            return Err(broken("its size or its checksum is wrong"));
        }
        self.part = Part::Next;
        Ok(())
    }
}

impl Write for ZstdStream {
    /// Takes nothing once the stream is over.
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if matches!(self.part, Part::Over) {
            return Ok(0);
        }
        if self.waiting.is_empty() {
            let at = self.steps(piece)?;
            self.waiting = piece[at..].to_vec();
            return Ok(piece.len());
        }
        let taken = piece.len().min(STEP_BYTES);
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.reserve_exact(taken);
        waiting.extend_from_slice(&piece[..taken]);
        let at = self.steps(&waiting)?;
        waiting.drain(..at);
        self.waiting = waiting;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether bytes begin a frame, as far as they have come.
fn begins_frame(bytes: &[u8], magic: [u8; 4], first_mask: u8) -> bool {
    let masks = [first_mask, 0xff, 0xff, 0xff];
    bytes.iter().zip(magic).zip(masks).all(|((byte, expected), mask)| byte & mask == expected)
}

fn broken(why: &str) -> io::Error {
    io::Error::other(why.to_owned())
}

fn failure(error: &FrameDecoderError) -> io::Error {
    if let FrameDecoderError::WindowSizeTooBig { .. } = error {
        return broken("its window is larger than 8 MiB, the most that is for the web");
    }
    if let FrameDecoderError::DictNotProvided { .. } = error {
        return broken("it needs a dictionary");
    }
    broken("its data is broken")
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    const TEXT: &str = "Hello, 日本語! ";

    /// `TEXT` 40 times by the reference encoder: with its size and a checksum, and with neither.
    const WITH_SUM: &str = "28b52ffd64d001cd00009048656c6c6f2c20e697a5e69cace8aa9e21200100765535c3975e254a";
    const WITHOUT: &str = "28b52ffd0068cd00009048656c6c6f2c20e697a5e69cace8aa9e21200100765535c3";

    /// A frame that is passed over, of three bytes.
    const PASSED_OVER: &[u8] = b"\x5a\x2a\x4d\x18\x03\0\0\0abc";

    fn unhex(text: &str) -> Vec<u8> {
        (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
    }

    fn decoded(bytes: &[u8], piece_bytes: usize) -> Result<String, String> {
        let mut stream = ZstdStream::new(Sink::new(1_000_000, 0));
        for mut piece in bytes.chunks(piece_bytes) {
            while !piece.is_empty() {
                match stream.write(piece).map_err(|error| error.to_string())? {
                    0 => break,
                    taken => piece = &piece[taken..],
                }
            }
        }
        stream.finish().map_err(|error| error.kind().to_string())?;
        Ok(String::from_utf8(stream.sink_mut().take()).unwrap())
    }

    #[test]
    fn frames_with_and_without_sums_and_those_to_pass_over_are_one_text() {
        let (with_sum, without, text) = (unhex(WITH_SUM), unhex(WITHOUT), TEXT.repeat(40));
        let rust = compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
        for (bytes, count) in [
            (with_sum.clone(), 1),
            (without.clone(), 1),
            (rust.clone(), 1),
            ([with_sum.clone(), without.clone(), rust].concat(), 3),
            ([PASSED_OVER, &with_sum, PASSED_OVER, PASSED_OVER, &without, PASSED_OVER].concat(), 2),
            (PASSED_OVER.to_vec(), 0),
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
        let sum = "its size or its checksum is wrong";
        let block = "a block is larger than the format has";
        for (bytes, why) in [
            (b"<html>plain</html>".to_vec(), "it does not begin as the encoding does"),
            (with(4, 0x6c), "a bit is set that must not be"),
            (with(5, 0xd1), sum),
            (with(38, 0), sum),
            (with(32, 0), "its data is broken"),
            // 128 KiB and one byte, and a kind of block that is not there.
            (unhex("28b52ffd0068080010"), block),
            (unhex("28b52ffd0068070000"), "its data is broken"),
            // 8 MiB pass, one step more and a size in one segment do not.
            (unhex("28b52ffd0068"), "unexpected end of file"),
            (unhex("28b52ffd0069"), "its window is larger than 8 MiB, the most that is for the web"),
            (unhex("28b52ffda001008000"), "its window is larger than 8 MiB, the most that is for the web"),
            (unhex("28b52ffd01680701"), "it needs a dictionary"),
        ] {
            assert_eq!(decoded(&bytes, 5), Err(why.to_owned()), "{bytes:02x?}");
        }
    }
}
