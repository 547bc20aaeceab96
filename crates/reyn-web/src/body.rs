//! The body of an answer, decoded piece by piece and counted after decoding, so a bomb ends at the limit.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::limits::BODY_GROWTH_BYTES_MIN;

/// Bytes that one step of a Brotli decoder gives.
const BROTLI_STEP_BYTES: usize = 16 * 1024;

/// The low bits of a first byte that the format forbids; the decoder takes them for a window of up to a gigabyte.
const BROTLI_LARGE_WINDOW: u8 = 0x11;

/// Encodings that are not asked for and cannot be decoded.
const UNSUPPORTED: [&str; 7] = ["zstd", "compress", "x-compress", "dcb", "dcz", "exi", "pack200-gzip"];

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
    Gzip(Box<MultiGzDecoder<Sink>>),
    /// `deflate` of which the first two bytes, which tell its form, have not come.
    Deflate(Vec<u8>, Sink),
    Zlib(Box<ZlibDecoder<Sink>>),
    RawDeflate(Box<DeflateDecoder<Sink>>),
    Brotli(Box<DecompressorWriter<Sink>>),
}

impl Body {
    /// Begins a body. `content_encoding` is the header's value; `length` is what the server says of its bytes,
    /// which is believed only for the size of the first allocation.
    pub(crate) fn new(
        content_encoding: &str,
        length: Option<u64>,
        limit_bytes: usize,
    ) -> Result<Self, BodyError> {
        let mut sink = Sink { bytes: Vec::new(), limit_bytes, is_over: false };
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
                sink.bytes.reserve_exact(length);
                Decoder::Identity(sink)
            }
            [name] => match name.as_str() {
                "gzip" | "x-gzip" => Decoder::Gzip(Box::new(MultiGzDecoder::new(sink))),
                "deflate" => Decoder::Deflate(Vec::new(), sink),
                "br" => Decoder::Brotli(Box::new(DecompressorWriter::new(sink, BROTLI_STEP_BYTES))),
                name if UNSUPPORTED.contains(&name) => {
                    return Err(BodyError::Decode("it was not asked for and is not supported".to_owned()));
                }
                // Servers also write a charset or `none` here; browsers read such a body as it is.
                _ => Decoder::Identity(sink),
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
        if let (0, Some(first), Decoder::Brotli(_)) = (self.received_bytes, piece.first(), &self.decoder)
            && first & 0x7f == BROTLI_LARGE_WINDOW
        {
            return Err(BodyError::Decode("its window is larger than the format has".to_owned()));
        }
        self.received_bytes = self.received_bytes.saturating_add(piece.len());
        // Empty blocks decode to nothing, so what is received counts as well.
        if self.received_bytes > self.sink().limit_bytes {
            return Err(BodyError::TooLarge);
        }
        self.decode(piece)
    }

    fn decode(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        let written = match &mut self.decoder {
            Decoder::Identity(sink) => sink.write_all(piece),
            Decoder::Gzip(decoder) => decoder.write_all(piece),
            Decoder::Deflate(start, sink) => {
                start.extend_from_slice(piece);
                let [first, second, ..] = start.as_slice() else { return Ok(()) };
                let is_zlib = is_zlib_head(*first, *second);
                let start = std::mem::take(start);
                let sink = std::mem::take(sink);
                self.decoder = if is_zlib {
                    Decoder::Zlib(Box::new(ZlibDecoder::new(sink)))
                } else {
                    Decoder::RawDeflate(Box::new(DeflateDecoder::new(sink)))
                };
                return self.decode(&start);
            }
            Decoder::Zlib(decoder) => decoder.write_all(piece),
            Decoder::RawDeflate(decoder) => decoder.write_all(piece),
            Decoder::Brotli(decoder) => decoder.write_all(piece),
        };
        written.map_err(|error| self.failure(&error))
    }

    /// Decoded bytes so far.
    pub(crate) fn decoded_bytes(&self) -> usize {
        self.sink().bytes.len()
    }

    /// Ends the body.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>, BodyError> {
        let ended = match &mut self.decoder {
            // An answer without a body has its headers all the same.
            _ if self.received_bytes == 0 => Ok(()),
            Decoder::Identity(_) => Ok(()),
            Decoder::Gzip(decoder) => decoder.try_finish(),
            Decoder::Deflate(..) => Err(io::ErrorKind::UnexpectedEof.into()),
            Decoder::Zlib(decoder) => decoder.try_finish(),
            Decoder::RawDeflate(decoder) => decoder.try_finish(),
            Decoder::Brotli(decoder) => decoder.close(),
        };
        if let Err(error) = ended {
            return Err(self.failure(&error));
        }
        Ok(std::mem::take(&mut self.sink_mut().bytes))
    }

    fn failure(&self, error: &io::Error) -> BodyError {
        if self.sink().is_over {
            return BodyError::TooLarge;
        }
        let is_cut = error.kind() == io::ErrorKind::UnexpectedEof;
        let why = if is_cut { "it ends too early".to_owned() } else { error.to_string() };
        BodyError::Decode(why)
    }

    fn sink(&self) -> &Sink {
        match &self.decoder {
            Decoder::Identity(sink) | Decoder::Deflate(_, sink) => sink,
            Decoder::Gzip(decoder) => decoder.get_ref(),
            Decoder::Zlib(decoder) => decoder.get_ref(),
            Decoder::RawDeflate(decoder) => decoder.get_ref(),
            Decoder::Brotli(decoder) => decoder.get_ref(),
        }
    }

    fn sink_mut(&mut self) -> &mut Sink {
        match &mut self.decoder {
            Decoder::Identity(sink) | Decoder::Deflate(_, sink) => sink,
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Zlib(decoder) => decoder.get_mut(),
            Decoder::RawDeflate(decoder) => decoder.get_mut(),
            Decoder::Brotli(decoder) => decoder.get_mut(),
        }
    }
}

/// Whether two bytes begin a zlib stream; some servers send bare deflate under the same name.
const fn is_zlib_head(first: u8, second: u8) -> bool {
    first & 0x0f == 8 && (((first as u16) << 8) | second as u16).is_multiple_of(31)
}

/// Where decoded bytes go, up to a limit.
#[derive(Default)]
struct Sink {
    bytes: Vec<u8>,
    limit_bytes: usize,
    is_over: bool,
}

impl Write for Sink {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let left = self.limit_bytes - self.bytes.len();
        if piece.len() > left {
            self.is_over = true;
            return Err(io::Error::other("the body is too large"));
        }
        if self.bytes.capacity() - self.bytes.len() < piece.len() {
            // Doubling would hold three times the body while it moves.
            let growth = piece.len().max(BODY_GROWTH_BYTES_MIN).max(self.bytes.len() / 16);
            self.bytes.reserve_exact(growth.min(left));
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
