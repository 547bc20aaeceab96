//! What the bytes of an answer are: HTML, another text, or none.

use reyn_text::encoding::detect;

/// How an answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Html,
    /// HTML written as XML.
    Xhtml,
    Text,
    Binary,
}

/// Bytes that are looked at to tell text from what is none.
const SAMPLE_BYTES_MAX: usize = 64 << 10;

/// The type of an answer without parameters, in lower case, and how it is read.
///
/// Bytes that begin like a binary format are of that type, whatever is declared. What is declared as neither
/// text nor binary, or not at all, is what its bytes are.
pub(crate) fn form_of(bytes: &[u8], declared: Option<&str>) -> (String, Form) {
    if let Some(found) = by_magic(bytes) {
        return (found.to_owned(), Form::Binary);
    }
    let essence = declared.and_then(essence);
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES_MAX)];
    let is_text = || detect(sample, false, None).is_ok();
    match essence {
        // Browsers pass over NUL bytes in it, so pages with some are read.
        Some(essence) if essence == "text/html" => (essence, Form::Html),
        Some(essence) if essence == "application/xhtml+xml" => (essence, Form::Xhtml),
        Some(essence) => {
            let is_media = ["image/", "audio/", "video/", "font/"].iter().any(|it| essence.starts_with(it));
            let may_be_text = !BINARY_TYPES.contains(&essence.as_str())
                // An image in SVG is text.
                && (!is_media || essence.ends_with("+xml"));
            let is_readable = may_be_text && is_text();
            (essence, if is_readable { Form::Text } else { Form::Binary })
        }
        None if looks_like_html(sample) => ("text/html".to_owned(), Form::Html),
        None if is_text() => ("text/plain".to_owned(), Form::Text),
        None => ("application/octet-stream".to_owned(), Form::Binary),
    }
}

/// Types that are no text even where their bytes look like one.
const BINARY_TYPES: [&str; 3] = ["application/pdf", "application/zip", "application/gzip"];

/// Bytes of a half of a type (RFC 6838); a longer one is as if it were not declared.
const PART_BYTES_MAX: usize = 127;

fn essence(content_type: &str) -> Option<String> {
    let essence = content_type.split([';', ',']).next().unwrap_or_default().trim().to_ascii_lowercase();
    let (kind, name) = essence.split_once('/')?;
    let is_token = |part: &str| {
        (1..=PART_BYTES_MAX).contains(&part.len())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    (is_token(kind) && is_token(name)).then_some(essence)
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start();
    let begins =
        |start: &&[u8]| bytes.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    [b"<!doctype html".as_slice(), b"<html", b"<head", b"<body"].iter().any(begins)
}

fn by_magic(bytes: &[u8]) -> Option<&'static str> {
    if let (Some(b"RIFF"), Some(kind)) = (bytes.get(..4), bytes.get(8..12)) {
        match kind {
            b"WEBP" => return Some("image/webp"),
            b"WAVE" => return Some("audio/wav"),
            _ => {}
        }
    }
    if bytes.get(4..8) == Some(b"ftyp") {
        return Some("video/mp4");
    }
    MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, found)| *found)
}

const MAGIC: [(&[u8], &str); 25] = [
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1A\n", "image/png"),
    (b"\xFF\xD8\xFF", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\0\0\x01\0", "image/x-icon"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1F\x8B\x08", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xFD7zXZ\0", "application/x-xz"),
    (b"\x28\xB5\x2F\xFD", "application/zstd"),
    (b"7z\xBC\xAF\x27\x1C", "application/x-7z-compressed"),
    (b"Rar!\x1A\x07", "application/vnd.rar"),
    (b"\x7FELF", "application/x-executable"),
    (b"\0asm", "application/wasm"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "application/x-ole-storage"),
    (b"OggS\0", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC\0", "audio/flac"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
];

#[cfg(test)]
#[path = "media_type_tests.rs"]
mod tests;
