//! Brotli, piece by piece, without a second copy of a body that fits in the decoder's window.
//!
//! The window of the format has up to 16 MiB, so a body beside it would be held twice: as long as the window has
//! not gone round, the body stays there, and at the end the window becomes the body. A large window is made so large
//! that it does not go round.

use std::io::{self, Write};

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

use crate::sink::Sink;

/// Bytes that one step gives, once the window is full.
const STEP_BYTES: usize = 64 * 1024;

/// A stream that is being decoded.
pub(crate) struct BrotliStream {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    sink: Sink,
    /// Room for one step; empty until the window is full.
    output: Vec<u8>,
}

impl BrotliStream {
    /// Begins a stream. Windows beyond those of RFC 7932, of up to a gigabyte, are broken data.
    pub(crate) fn new(sink: Sink) -> Self {
        let alloc = StandardAlloc::default;
        Self { state: BrotliState::new_strict(alloc(), alloc(), alloc()), sink, output: vec![] }
    }

    pub(crate) const fn sink(&self) -> &Sink {
        &self.sink
    }

    pub(crate) const fn sink_mut(&mut self) -> &mut Sink {
        &mut self.sink
    }

    /// Ends the stream; all of it is in the sink then.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if !self.state.BrotliStateIsStreamEnd() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if self.output.is_empty() {
            let length = self.held_bytes();
            let window: Box<[u8]> = std::mem::take(&mut self.state.ringbuffer).into();
            let mut bytes = window.into_vec();
            bytes.truncate(length);
            return self.sink.fill(bytes);
        }
        loop {
            match self.step(&[], &mut 0)? {
                BrotliResult::NeedsMoreOutput => {}
                BrotliResult::ResultSuccess => return Ok(()),
                BrotliResult::NeedsMoreInput | BrotliResult::ResultFailure => return Err(broken()),
            }
        }
    }

    /// Decodes until the piece or the stream is over, and gives how many bytes that took.
    fn decode(&mut self, piece: &[u8]) -> io::Result<usize> {
        let mut at = 0;
        while !self.state.BrotliStateIsStreamEnd() {
            match self.step(piece, &mut at)? {
                BrotliResult::ResultFailure => return Err(broken()),
                BrotliResult::NeedsMoreInput | BrotliResult::ResultSuccess => break,
                BrotliResult::NeedsMoreOutput if self.state.BrotliStateIsStreamEnd() => break,
                BrotliResult::NeedsMoreOutput => self.output.resize(STEP_BYTES, 0),
            }
        }
        if self.output.is_empty() && self.held_bytes() > self.sink.limit_bytes() {
            return Err(self.sink.refuse());
        }
        Ok(at)
    }

    /// Makes a window with room for half the largest body or more large enough for all of it.
    ///
    /// How far back the stream reaches is another number, which the decoder has taken from the first byte too.
    fn widen(&mut self) {
        let limit_bytes = self.sink.limit_bytes();
        if 1_usize << self.state.window_bits >= limit_bytes / 2 {
            let whole_bits = (limit_bytes + 1).next_power_of_two().trailing_zeros();
            self.state.window_bits = self.state.window_bits.max(whole_bits);
        }
    }

    /// Decoded bytes in a window that is not full.
    fn held_bytes(&self) -> usize {
        usize::try_from(self.state.pos).unwrap_or(0)
    }

    /// Decodes from `piece[*at..]` and moves `at`.
    fn step(&mut self, piece: &[u8], at: &mut usize) -> io::Result<BrotliResult> {
        let mut left = piece.len() - *at;
        let (mut room, mut given, mut total) = (self.output.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut left,
            at,
            piece,
            &mut room,
            &mut given,
            &mut self.output,
            &mut total,
            &mut self.state,
        );
        self.sink.write_all(&self.output[..given])?;
        Ok(result)
    }
}

impl Write for BrotliStream {
    /// Takes nothing once the stream is over.
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if self.state.window_bits > 0 {
            return self.decode(piece);
        }
        // The first byte says how large the window is, and is too short for what a window is made for.
        let Some(first) = piece.get(..1) else { return Ok(0) };
        let taken = self.decode(first)?;
        self.widen();
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn broken() -> io::Error {
    io::Error::other("its data is broken")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded(text: &[u8], window_bits: u32) -> Vec<u8> {
        let mut encoder = brotli::CompressorWriter::new(vec![], 4096, 5, window_bits);
        encoder.write_all(text).unwrap();
        encoder.into_inner()
    }

    fn decoded(bytes: &[u8], piece_bytes: usize, limit_bytes: usize) -> io::Result<Vec<u8>> {
        let mut stream = BrotliStream::new(Sink::new(limit_bytes, 0));
        for piece in bytes.chunks(piece_bytes) {
            stream.write_all(piece)?;
        }
        stream.finish()?;
        Ok(stream.sink_mut().take())
    }

    /// Words in a random order: some of it repeats, some does not.
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
        fn a_text_is_the_same_in_windows_that_hold_it_and_in_those_that_go_round(
            text in text(),
            piece_bytes in 1_usize..2000,
        ) {
            for window_bits in [10, 12, 16, 22, 24] {
                let bytes = encoded(&text, window_bits);
                let found = decoded(&bytes, piece_bytes, text.len());
                prop_assert_eq!(found.unwrap(), text.clone(), "{}", window_bits);
                if let Some(limit_bytes) = text.len().checked_sub(1) {
                    prop_assert!(decoded(&bytes, piece_bytes, limit_bytes).is_err());
                }
            }
        }
    }

    #[test]
    fn a_body_that_fits_in_the_window_is_the_window_and_no_copy() {
        let text = b"a body ".repeat(100_000);
        let mut stream = BrotliStream::new(Sink::new(1_000_000, 0));
        stream.write_all(&encoded(&text, 24)).unwrap();
        assert_eq!(stream.sink().length(), 0);
        stream.finish().unwrap();
        assert_eq!(stream.sink_mut().take(), text);
    }

    #[test]
    fn a_body_larger_than_a_large_window_stays_there_too() {
        let text: Vec<u8> = (0..300_000_u32).flat_map(|at| (at / 7).to_le_bytes()).collect();
        let limit_bytes = text.len() + 1000;
        // One of 1 MiB has room for more than half of what is let in.
        for (window_bits, is_kept) in [(16, false), (18, false), (19, false), (20, true), (22, true)] {
            let mut stream = BrotliStream::new(Sink::new(limit_bytes, 0));
            stream.write_all(&encoded(&text, window_bits)).unwrap();
            assert_eq!(stream.sink().length() == 0, is_kept, "{window_bits}");
            stream.finish().unwrap();
            assert!(stream.sink_mut().take() == text, "{window_bits}");
        }
    }

    #[test]
    fn a_window_of_a_gigabyte_is_broken_data() {
        assert!(decoded(b"\x11\x1e\x00\x00\x00\x00", 10, 1000).is_err());
    }
}
