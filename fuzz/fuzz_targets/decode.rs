//! Encodings of any bytes: no panic, and what is called sure decodes and comes back.

#![no_main]

use std::io::{BufReader, Read as _};

use libfuzzer_sys::fuzz_target;
use reyn_text::encoding::{Encoding, detect};
use reyn_text::reader::DecodingReader;

const ENCODINGS: [Encoding; 9] = [
    Encoding::UTF_8,
    Encoding::SHIFT_JIS,
    Encoding::EUC_JP,
    Encoding::ISO_2022_JP,
    Encoding::GBK,
    Encoding::BIG5,
    Encoding::UTF_16LE,
    Encoding::UTF_16BE,
    Encoding::WINDOWS_1252,
];

fuzz_target!(|bytes: &[u8]| {
    for is_whole in [true, false] {
        let Ok(detected) = detect(bytes, is_whole, None) else { continue };
        let text = &bytes[detected.mark_len..];
        let decoded = detected.encoding.decode(text);
        if detected.is_sure && is_whole {
            assert_eq!(decoded.undecodable_at, None, "{}", detected.encoding.name());
        }
        let mut streamed = String::new();
        let pieces = BufReader::with_capacity(7, bytes);
        let mut reader = DecodingReader::new(pieces, detected.encoding, detected.mark_len);
        reader.read_to_string(&mut streamed).expect("a reader of memory gives UTF-8");
        assert_eq!(streamed, decoded.text);
        assert_eq!(reader.undecodable(), decoded.undecodable_at.is_some());
    }
    for encoding in ENCODINGS {
        let decoded = encoding.decode(bytes);
        if decoded.undecodable_at.is_none()
            && let Ok(back) = encoding.encode(&decoded.text)
        {
            assert_eq!(encoding.decode(&back).text, decoded.text, "{}", encoding.name());
        }
        for at in 0..bytes.len().min(64) {
            let _ = encoding.is_char_start(bytes, at);
        }
    }
});
