//! A reader that gives UTF-8 out of any encoding, with a bounded buffer.

use crate::encoding::Encoding;
use std::io::{self, BufRead, Read};

/// Bytes of text that are ready to be read, at most.
const BUFFER_BYTES: usize = 64 * 1024;

/// Reads the UTF-8 of what `R` has in another encoding: the text that [`Encoding::decode`] gives, piece by
/// piece. Errors are those of `R`; after one, reading goes on where it stopped.
pub struct DecodingReader<R> {
    inner: R,
    decoder: encoding_rs::Decoder,
    /// Bytes of the byte order mark that are still to be cut.
    mark_left: usize,
    buffer: Box<[u8]>,
    ready: std::ops::Range<usize>,
    is_undecodable: bool,
    is_at_end: bool,
}

impl<R: BufRead> DecodingReader<R> {
    /// A reader of `inner` in `encoding`, without the first `mark_len` bytes, a byte order mark.
    pub fn new(inner: R, encoding: Encoding, mark_len: usize) -> Self {
        Self {
            inner,
            decoder: encoding.decoder(),
            mark_left: mark_len,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            ready: 0..0,
            is_undecodable: false,
            is_at_end: false,
        }
    }

    /// Whether U+FFFD stands for bytes that could not be decoded in what was read so far, or is about to be.
    pub fn undecodable(&self) -> bool {
        self.is_undecodable
    }

    fn decode_more(&mut self) -> io::Result<()> {
        let bytes = self.inner.fill_buf()?;
        let is_last = bytes.is_empty();
        let mark = self.mark_left.min(bytes.len());
        let (result, read, written, has_errors) =
            self.decoder.decode_to_utf8(&bytes[mark..], &mut self.buffer, is_last);
        self.inner.consume(mark + read);
        self.mark_left -= mark;
        self.ready = 0..written;
        self.is_undecodable |= has_errors;
        self.is_at_end = is_last && result == encoding_rs::CoderResult::InputEmpty;
        Ok(())
    }
}

impl<R: BufRead> BufRead for DecodingReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.ready.is_empty() && !self.is_at_end {
            self.decode_more()?;
        }
        Ok(&self.buffer[self.ready.clone()])
    }

    fn consume(&mut self, amount: usize) {
        self.ready.start = self.ready.end.min(self.ready.start.saturating_add(amount));
    }
}

impl<R: BufRead> Read for DecodingReader<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let count = ready.len().min(target.len());
        target[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Decoded;

    /// Hands its pieces over one at a time.
    struct Pieces<'a>(Vec<&'a [u8]>);

    impl Read for Pieces<'_> {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            unreachable!("the reader under test takes whole buffers")
        }
    }

    impl BufRead for Pieces<'_> {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            self.0.retain(|piece| !piece.is_empty());
            Ok(self.0.first().copied().unwrap_or_default())
        }
        fn consume(&mut self, amount: usize) {
            if let Some(piece) = self.0.first_mut() {
                *piece = &piece[amount..];
            }
        }
    }

    fn read(pieces: Vec<&[u8]>, encoding: Encoding, mark_len: usize) -> (String, bool) {
        let mut reader = DecodingReader::new(Pieces(pieces), encoding, mark_len);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        (text, reader.undecodable())
    }

    #[test]
    fn a_cut_between_any_two_bytes_changes_nothing() {
        for (encoding, bytes) in [
            (Encoding::UTF_8, "aé日本🦀\n".as_bytes().to_vec()),
            (Encoding::UTF_8, b"\xE6\x97\xA5\xE6\x97a\xFF\xF0\x9F".to_vec()),
            (Encoding::UTF_16LE, Encoding::UTF_16LE.encode("a日🦀\n").unwrap()),
            (Encoding::UTF_16BE, b"\0a\xD8\x3D\0b\xDC\0\x30".to_vec()),
            (Encoding::SHIFT_JIS, Encoding::SHIFT_JIS.encode("表示ｶﾅabc\n").unwrap()),
            (Encoding::SHIFT_JIS, b"\x82\xA0\x82\n\x85@\xFF\x83".to_vec()),
            (Encoding::EUC_JP, b"\xA4\xA2\x8F\xB0\xA1\x8E\xB1\x8F\xB0".to_vec()),
            (Encoding::GB18030, Encoding::GB18030.encode("中é🦀9\n").unwrap()),
            (Encoding::GB18030, b"\x810\x81a\x810\x810\x81".to_vec()),
            (Encoding::ISO_2022_JP, Encoding::ISO_2022_JP.encode("a日本b¥\n").unwrap()),
            (Encoding::WINDOWS_1252, b"caf\xE9 \x80".to_vec()),
        ] {
            let Decoded { text, undecodable_at } = encoding.decode(&bytes);
            let expected = (text, undecodable_at.is_some());
            for cut in 0..=bytes.len() {
                let (before, after) = bytes.split_at(cut);
                assert_eq!(read(vec![before, after], encoding, 0), expected, "{encoding} at {cut}");
            }
            assert_eq!(read(bytes.chunks(1).collect(), encoding, 0), expected, "{encoding} byte by byte");
        }
    }

    #[test]
    fn a_mark_is_cut_even_when_it_comes_in_pieces() {
        let bytes = b"\xEF\xBB\xBFa\xEF\xBB\xBF";
        for cut in 0..=bytes.len() {
            let (before, after) = bytes.split_at(cut);
            let expected = ("a\u{FEFF}".to_owned(), false);
            assert_eq!(read(vec![before, after], Encoding::UTF_8, 3), expected, "{cut}");
        }
        assert_eq!(read(vec![b"\xEF"], Encoding::UTF_8, 3), (String::new(), false));
    }

    #[test]
    fn text_longer_than_the_buffer_comes_whole_and_in_lines() {
        let text = "日本語の行\n".repeat(20_000);
        let bytes = Encoding::SHIFT_JIS.encode(&text).unwrap();
        assert_eq!(read(bytes.chunks(70_001).collect(), Encoding::SHIFT_JIS, 0), (text, false));
        let lines = DecodingReader::new(Pieces(vec![&bytes]), Encoding::SHIFT_JIS, 0).lines();
        assert_eq!(lines.map(Result::unwrap).filter(|line| line == "日本語の行").count(), 20_000);
    }

    #[test]
    fn an_error_of_the_source_is_passed_on() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::PermissionDenied.into())
            }
        }
        let mut reader = DecodingReader::new(io::BufReader::new(Broken), Encoding::UTF_8, 0);
        let error = reader.read_to_string(&mut String::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }
}
