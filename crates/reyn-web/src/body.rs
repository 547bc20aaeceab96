//! The body of an answer, decoded piece by piece and counted after decoding, so a bomb ends at the limit.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, GzDecoder, ZlibDecoder};

use crate::brotli_stream::BrotliStream;
use crate::sink::Sink;
use crate::zstd_stream::ZstdStream;

/// The first byte of a member of gzip.
const GZIP_FIRST: u8 = 0x1f;

/// Encodings that are not asked for and cannot be decoded.
const UNSUPPORTED: [&str; 6] = ["compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip"];

/// Why a body cannot be had.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// It is larger than the limit.
    TooLarge,
    /// It is not in its encoding.
    Decode(String),
}

/// A body that is being received.
pub(crate) struct Body {
    decoder: Decoder,
    received_bytes: usize,
}

enum Decoder {
    Identity(Sink),
    Gzip(Box<GzDecoder<Sink>>),
    /// `deflate` of which the first two bytes, which tell its form, have not come.
    Deflate(Vec<u8>, Sink),
    Zlib(Box<ZlibDecoder<Sink>>),
    RawDeflate(Box<DeflateDecoder<Sink>>),
    Brotli(Box<BrotliStream>),
    Zstd(Box<ZstdStream>),
    /// The encoded stream is over; what follows is dropped, as browsers do.
    Ended(Sink),
}

impl Body {
    /// Begins a body. `content_encoding` is the header's value; `length` is what the server says of its bytes,
    /// which is believed only for the size of the first allocation.
    pub(crate) fn new(
        content_encoding: &str,
        length: Option<u64>,
        limit_bytes: usize,
    ) -> Result<Self, BodyError> {
        let sink = || Sink::new(limit_bytes, 0);
        let named: Vec<String> = content_encoding
            .split(',')
            .map(|name| name.trim().to_ascii_lowercase())
            .filter(|name| !name.is_empty() && name != "identity")
            .collect();
        let decoder = match named.as_slice() {
            [] => {
                let length = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
                if length > limit_bytes {
                    return Err(BodyError::TooLarge);
                }
                Decoder::Identity(Sink::new(limit_bytes, length))
            }
            [name] => match name.as_str() {
                "gzip" | "x-gzip" => Decoder::Gzip(Box::new(GzDecoder::new(sink()))),
                "deflate" => Decoder::Deflate(Vec::new(), sink()),
                "br" => Decoder::Brotli(Box::new(BrotliStream::new(sink()))),
                "zstd" => Decoder::Zstd(Box::new(ZstdStream::new(sink()))),
                name if UNSUPPORTED.contains(&name) => {
                    return Err(BodyError::Decode("it was not asked for and is not supported".to_owned()));
                }
                // Servers also write a charset or `none` here; browsers read such a body as it is.
                _ => Decoder::Identity(sink()),
            },
            _ => {
                return Err(BodyError::Decode(
                    "several encodings in one another are not supported".to_owned(),
                ));
            }
        };
        Ok(Self { decoder, received_bytes: 0 })
    }

    /// Takes the next piece as it was received.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        self.received_bytes = self.received_bytes.saturating_add(piece.len());
        // Empty blocks decode to nothing, so what is received counts as well.
        if self.received_bytes > self.sink().limit_bytes() {
            return Err(BodyError::TooLarge);
        }
        self.decode(piece)
    }

    fn decode(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        let rest = match &mut self.decoder {
            Decoder::Identity(sink) => feed(sink, piece),
            Decoder::Gzip(decoder) => feed(decoder.as_mut(), piece),
            Decoder::Zlib(decoder) => feed(decoder.as_mut(), piece),
            Decoder::RawDeflate(decoder) => feed(decoder.as_mut(), piece),
            Decoder::Brotli(decoder) => feed(decoder.as_mut(), piece),
            Decoder::Zstd(decoder) => feed(decoder.as_mut(), piece),
            Decoder::Ended(_) => Ok([].as_slice()),
            Decoder::Deflate(start, _) => {
                start.extend_from_slice(piece);
                return self.begin_deflate();
            }
        };
        match rest {
            Ok([]) => Ok(()),
            Ok(rest) => self.end_stream(rest),
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// Chooses the form of `deflate` when its first two bytes are there.
    fn begin_deflate(&mut self) -> Result<(), BodyError> {
        let Decoder::Deflate(start, sink) = &mut self.decoder else { return Ok(()) };
        let [first, second, ..] = start.as_slice() else { return Ok(()) };
        let is_zlib = is_zlib_head(*first, *second);
        let start = std::mem::take(start);
        let sink = std::mem::take(sink);
        self.decoder = if is_zlib {
            Decoder::Zlib(Box::new(ZlibDecoder::new(sink)))
        } else {
            Decoder::RawDeflate(Box::new(DeflateDecoder::new(sink)))
        };
        self.decode(&start)
    }

    /// Checks a stream that is over; `rest` follows it, which in gzip may be a further member.
    fn end_stream(&mut self, rest: &[u8]) -> Result<(), BodyError> {
        let is_member = matches!(self.decoder, Decoder::Gzip(_)) && rest.first() == Some(&GZIP_FIRST);
        self.check_end()?;
        let sink = std::mem::take(self.sink_mut());
        if is_member {
            self.decoder = Decoder::Gzip(Box::new(GzDecoder::new(sink)));
            return self.decode(rest);
        }
        self.decoder = Decoder::Ended(sink);
        Ok(())
    }

    fn check_end(&mut self) -> Result<(), BodyError> {
        let ended = match &mut self.decoder {
            Decoder::Identity(_) | Decoder::Ended(_) => Ok(()),
            Decoder::Gzip(decoder) => decoder.try_finish(),
            Decoder::Deflate(..) => Err(io::ErrorKind::UnexpectedEof.into()),
            Decoder::Zlib(decoder) => decoder.try_finish(),
            Decoder::RawDeflate(decoder) => decoder.try_finish(),
            Decoder::Brotli(decoder) => decoder.finish(),
            Decoder::Zstd(decoder) => decoder.finish(),
        };
        ended.map_err(|error| self.failure(&error))
    }

    /// Bytes that have come, as they were sent.
    pub(crate) const fn received_bytes(&self) -> usize {
        self.received_bytes
    }

    /// Ends the body.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, BodyError> {
        // An answer without a body has its headers all the same.
        if self.received_bytes > 0 {
            self.check_end()?;
        }
        Ok(self.sink_mut().take())
    }

    fn failure(&self, error: &io::Error) -> BodyError {
        if self.sink().is_over() {
            return BodyError::TooLarge;
        }
        let is_cut = error.kind() == io::ErrorKind::UnexpectedEof;
        let why = if is_cut { "it ends too early".to_owned() } else { error.to_string() };
        BodyError::Decode(why)
    }

    fn sink(&self) -> &Sink {
        match &self.decoder {
            Decoder::Identity(sink) | Decoder::Deflate(_, sink) | Decoder::Ended(sink) => sink,
            Decoder::Gzip(decoder) => decoder.get_ref(),
            Decoder::Zlib(decoder) => decoder.get_ref(),
            Decoder::RawDeflate(decoder) => decoder.get_ref(),
            Decoder::Brotli(decoder) => decoder.sink(),
            Decoder::Zstd(decoder) => decoder.sink(),
        }
    }

    fn sink_mut(&mut self) -> &mut Sink {
        match &mut self.decoder {
            Decoder::Identity(sink) | Decoder::Deflate(_, sink) | Decoder::Ended(sink) => sink,
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Zlib(decoder) => decoder.get_mut(),
            Decoder::RawDeflate(decoder) => decoder.get_mut(),
            Decoder::Brotli(decoder) => decoder.sink_mut(),
            Decoder::Zstd(decoder) => decoder.sink_mut(),
        }
    }
}

/// Whether two bytes begin a zlib stream; some servers send bare deflate under the same name.
const fn is_zlib_head(first: u8, second: u8) -> bool {
    first & 0x0f == 8 && (((first as u16) << 8) | second as u16).is_multiple_of(31)
}

/// Gives a piece to a decoder, and gives back what it does not take any more.
fn feed<'a>(decoder: &mut impl Write, mut piece: &'a [u8]) -> io::Result<&'a [u8]> {
    while !piece.is_empty() {
        match decoder.write(piece)? {
            0 => break,
            taken => piece = &piece[taken..],
        }
    }
    Ok(piece)
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;

    use super::*;

    const LIMIT_BYTES: usize = 10_000;

    /// The encodings, and the forms in which they are sent.
    const FORMS: [(&str, &str); 5] =
        [("gzip", "gzip"), ("deflate", "zlib"), ("deflate", "raw"), ("br", "br"), ("zstd", "zstd")];

    fn decoded(encoding: &str, bytes: &[u8], piece_bytes: usize) -> Result<Vec<u8>, BodyError> {
        let mut body = Body::new(encoding, None, LIMIT_BYTES)?;
        for piece in bytes.chunks(piece_bytes) {
            body.push(piece)?;
        }
        body.finish()
    }

    fn encoded(encoding: &str, text: &[u8]) -> Vec<u8> {
        let level = Compression::default();
        match encoding {
            "gzip" => {
                let mut encoder = GzEncoder::new(vec![], level);
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
            "zlib" => {
                let mut encoder = ZlibEncoder::new(vec![], level);
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
            "br" => {
                let mut encoder = brotli::CompressorWriter::new(vec![], 4096, 5, 10);
                encoder.write_all(text).unwrap();
                encoder.into_inner()
            }
            "zstd" => {
                let mut frame = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
                zstd_safe::compress(&mut frame, text, 1).unwrap();
                frame
            }
            _ => {
                let mut encoder = DeflateEncoder::new(vec![], level);
                encoder.write_all(text).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_encoding_end_within_the_limit(
            bytes in proptest::collection::vec(any::<u8>(), 0..400),
            piece_bytes in 1_usize..50,
        ) {
            for encoding in ["", "gzip", "deflate", "br", "zstd"] {
                if let Ok(body) = decoded(encoding, &bytes, piece_bytes) {
                    prop_assert!(body.len() <= LIMIT_BYTES);
                }
            }
        }

        #[test]
        fn a_body_is_the_same_however_it_is_cut_and_whatever_follows_its_stream(
            text in proptest::collection::vec(any::<u8>(), 0..400),
            piece_bytes in 1_usize..50,
            after in prop_oneof![Just(&b""[..]), Just(&b"\n"[..]), Just(&b"\0\0\0\0<!-- served -->"[..])],
        ) {
            for (encoding, form) in FORMS {
                let bytes = [&encoded(form, &text), after].concat();
                prop_assert_eq!(decoded(encoding, &bytes, piece_bytes), Ok(text.clone()), "{}", form);
            }
        }

        #[test]
        fn a_stream_that_is_cut_anywhere_is_an_error(
            text in proptest::collection::vec(any::<u8>(), 1..400),
            at in any::<proptest::sample::Index>(),
        ) {
            for (encoding, form) in FORMS {
                let bytes = encoded(form, &text);
                let cut = 1 + at.index(bytes.len() - 1);
                let result = decoded(encoding, &bytes[..cut], 7);
                prop_assert!(matches!(result, Err(BodyError::Decode(_))), "{} {:?}", form, result);
            }
        }

        #[test]
        fn a_stream_with_a_byte_that_is_wrong_ends_within_the_limit(
            text in proptest::collection::vec(prop_oneof![Just(b'a'), any::<u8>()], 1..400),
            wrong in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
        ) {
            for (encoding, form) in FORMS {
                let mut bytes = encoded(form, &text);
                for (at, byte) in &wrong {
                    let at = at.index(bytes.len());
                    bytes[at] = *byte;
                }
                if let Ok(body) = decoded(encoding, &bytes, 50) {
                    prop_assert!(body.len() <= LIMIT_BYTES);
                }
            }
        }
    }
}
