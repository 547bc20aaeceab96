//! Which charset the bytes of an answer are in, and their text.
//!
//! A declaration is the publisher's word and a mark the file's own; what the bytes say wins only where the
//! declaration cannot be true, or where it could not be false: bytes decode in a charset of one byte a
//! character whatever they are.

use encoding_rs::{Encoding as Charset, UTF_8};
use reyn_text::encoding::{Encoding, detect};
use serde::Serialize;

use crate::bounds::DECLARATION_BYTES_MAX;
use crate::reduced::unescaped;
use crate::scan::{Scanner, Token};

/// What said which charset it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The byte order mark at the beginning.
    Bom,
    /// `charset` in the header `Content-Type`; also a type that has one charset: JSON is UTF-8.
    Header,
    /// The page itself: `<meta charset>`, `<meta http-equiv>`, `<?xml encoding?>`.
    Meta,
    /// The bytes.
    Detected,
}

/// The text of some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The text without a byte order mark; U+FFFD stands where bytes are no character. A character that is cut
    /// at the end is left out.
    pub text: String,
    /// The charset in lower case: `shift_jis`.
    pub encoding: &'static str,
    /// What said so.
    pub source: Source,
    /// Whether bytes in it were no character of the charset.
    pub is_lossy: bool,
}

/// Decodes `bytes` that were sent with the header `content_type`.
///
/// In this order: a byte order mark, the header, the page's own declaration in its first
/// [`DECLARATION_BYTES_MAX`] bytes, the bytes. A label that is not known is as if none was there. Three things
/// are stronger than a declaration:
///
/// - Bytes that are UTF-8 beyond ASCII, and escape sequences of ISO-2022-JP, where another charset is declared.
/// - A charset of several bytes a character in which everything decodes, declared by the page or detected
///   beyond doubt, where one of one byte a character is declared.
/// - The next declaration, or the detected charset, in which everything decodes, where not everything does.
#[must_use]
pub fn decode(bytes: &[u8], content_type: Option<&str>) -> Decoded {
    if let Some((charset, mark_len)) = Charset::for_bom(bytes) {
        return decoded(&bytes[mark_len..], charset, Source::Bom);
    }
    let header = content_type.and_then(header_charset);
    let meta = declared_in_page(bytes);
    let detected = detected(bytes);
    let (charset, source) = chosen(bytes, header, meta, detected);
    decoded(bytes, charset, source)
}

/// A charset that was detected, and whether that is beyond doubt.
#[derive(Clone, Copy)]
struct Detected {
    charset: &'static Charset,
    is_sure: bool,
}

fn chosen(
    bytes: &[u8],
    header: Option<&'static Charset>,
    meta: Option<&'static Charset>,
    detected: Detected,
) -> (&'static Charset, Source) {
    let declared = [header.map(|it| (it, Source::Header)), meta.map(|it| (it, Source::Meta))];
    let mut declared = declared.into_iter().flatten();
    let Some(first) = declared.next() else {
        return (detected.charset, Source::Detected);
    };
    let other = declared.next().filter(|(charset, _)| *charset != first.0);
    let detected_pair = (detected.charset, Source::Detected);
    let is_plain = bytes.is_ascii() && detected.charset != encoding_rs::ISO_2022_JP;
    if is_plain {
        return first;
    }
    let tells_itself = detected.charset == UTF_8 || detected.charset == encoding_rs::ISO_2022_JP;
    if tells_itself && detected.is_sure {
        // The declaration that says the same is named as the source.
        return [Some(first), other]
            .into_iter()
            .flatten()
            .find(|it| it.0 == detected.charset)
            .unwrap_or(detected_pair);
    }
    let is_clean = |charset: &'static Charset| !has_errors(bytes, charset);
    if first.0.is_single_byte() && is_clean(first.0) {
        let page = other.filter(|(charset, _)| !charset.is_single_byte() && is_clean(charset));
        let sure = Some(detected_pair).filter(|(charset, _)| detected.is_sure && !charset.is_single_byte());
        return page.or(sure).unwrap_or(first);
    }
    let candidates = [Some(first), other, Some(detected_pair)];
    candidates.into_iter().flatten().find(|(charset, _)| is_clean(charset)).unwrap_or(first)
}

fn detected(bytes: &[u8]) -> Detected {
    // The detection reads declarations as well, which have their own place here.
    let body = without_declarations(bytes);
    match detect(body, false, None) {
        Ok(found) => Detected {
            charset: Charset::for_label(found.encoding.name().as_bytes()).unwrap_or(UTF_8),
            is_sure: found.is_sure,
        },
        Err(_) => Detected { charset: UTF_8, is_sure: false },
    }
}

/// The bytes from the first one that is not ASCII on, or that begins an escape sequence: what a page declares
/// is ASCII and stands before it.
fn without_declarations(bytes: &[u8]) -> &[u8] {
    let first = bytes.iter().position(|byte| !byte.is_ascii() || *byte == 0x1B || *byte == 0);
    // Two bytes before it, which the statistics look at. They must not look like markup.
    first.map_or(&[], |first| &bytes[first.saturating_sub(usize::from(bytes[first] != 0) * 2)..])
}

fn has_errors(bytes: &[u8], charset: &'static Charset) -> bool {
    decoded(bytes, charset, Source::Detected).is_lossy
}

fn decoded(bytes: &[u8], charset: &'static Charset, source: Source) -> Decoded {
    let encoding = Encoding::by_label(charset.name()).map_or("utf-8", Encoding::name);
    let mut decoder = charset.new_decoder_without_bom_handling();
    let capacity = decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len());
    let mut text = String::with_capacity(capacity.min(bytes.len() * 3 + 16));
    let (mut is_lossy, mut read) = (false, 0);
    loop {
        // Never told that it was the last, the decoder keeps back a character that is cut.
        let (result, more, has_replaced) =
            decoder.decode_to_string(bytes.get(read..).unwrap_or_default(), &mut text, false);
        read += more;
        is_lossy |= has_replaced;
        match result {
            encoding_rs::CoderResult::InputEmpty => break,
            encoding_rs::CoderResult::OutputFull => text.reserve(bytes.len() - read + 16),
        }
    }
    Decoded { text, encoding, source, is_lossy }
}

/// The charset that a header names, or that its type has.
fn header_charset(content_type: &str) -> Option<&'static Charset> {
    let mut parts = content_type.split(';');
    let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
    let label = parts.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    });
    let is_json = essence == "application/json" || essence.ends_with("+json");
    label.and_then(by_label).or(if is_json { Some(UTF_8) } else { None })
}

fn by_label(label: &str) -> Option<&'static Charset> {
    let charset = Charset::for_label_no_replacement(label.trim().as_bytes());
    charset.or_else(|| {
        // Labels of programs, `cp932`.
        Encoding::by_label(label.trim())
            .and_then(|encoding| Charset::for_label_no_replacement(encoding.name().as_bytes()))
    })
}

/// The charset that a page declares in its own text. UTF-16 there is a mistake for UTF-8: what is legible as
/// ASCII is not in it.
fn declared_in_page(bytes: &[u8]) -> Option<&'static Charset> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION_BYTES_MAX)]);
    let label = declared_in_xml(&head).or_else(|| declared_in_html(&head))?;
    let charset = by_label(&label)?;
    let is_utf16 = charset == encoding_rs::UTF_16LE || charset == encoding_rs::UTF_16BE;
    Some(if is_utf16 { UTF_8 } else { charset })
}

fn declared_in_xml(head: &str) -> Option<String> {
    let (declaration, _) = head.trim_start().strip_prefix("<?xml")?.split_once("?>")?;
    let (_, rest) = declaration.split_once("encoding")?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    Some(rest[1..].split(quote).next().unwrap_or_default().to_owned())
}

fn declared_in_html(head: &str) -> Option<String> {
    Scanner::new(head).find_map(|token| {
        let Token::Start(tag) = token else {
            return None;
        };
        if !tag.name.eq_ignore_ascii_case("meta") {
            return None;
        }
        let (mut charset, mut content, mut is_type) = (None, None, false);
        for (name, value) in tag.attributes() {
            if name.eq_ignore_ascii_case("charset") {
                charset = charset.or(Some(value));
            } else if name.eq_ignore_ascii_case("content") {
                content = content.or(Some(value));
            } else if name.eq_ignore_ascii_case("http-equiv") {
                is_type |= value.trim().eq_ignore_ascii_case("content-type");
            }
        }
        let in_content = || content.filter(|_| is_type).and_then(label_in);
        charset.map(unescaped).filter(|label| by_label(label).is_some()).or_else(in_content)
    })
}

/// The label after `charset=` in `text/html; charset=sjis`.
fn label_in(content: &str) -> Option<String> {
    let content = unescaped(content).to_ascii_lowercase();
    let (_, rest) = content.split_once("charset")?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let label = rest.split(|end: char| end.is_whitespace() || matches!(end, '"' | '\'' | ';')).next();
    label.map(str::to_owned).filter(|label| by_label(label).is_some())
}

#[cfg(test)]
#[path = "charset_tests.rs"]
mod tests;
