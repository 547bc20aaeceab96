//! The encoding that a file states in its own text, in the ways of HTML, XML, CSS, Python, vim and Emacs.

use crate::encoding::Encoding;

/// How far into a file a declaration stands, as browsers have it.
const HEAD_BYTES_MAX: usize = 1024;

/// The encoding that the beginning of a file states; the first statement counts.
///
/// - CSS: `@charset "…";` as the very first bytes.
/// - XML and HTML, when the text begins with `<`: `<?xml … encoding="…"`, `<meta charset=…>`,
///   `<meta … content="…; charset=…">` in the first 1024 bytes.
/// - In the first two lines, `coding:` or `coding=` (as part of `encoding` and `fileencoding` too), and
///   `fenc=`, in a line that begins with `#` (Python, Ruby), has `-*-` (Emacs), or `vim:` or `vi:`.
///
/// None for an unknown name, and for UTF-16: a statement that is legible without it is false.
#[must_use]
pub fn in_text(bytes: &[u8]) -> Option<Encoding> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES_MAX)];
    let label = in_stylesheet(head).or_else(|| in_markup(head)).or_else(|| in_comment(head))?;
    let label = std::str::from_utf8(label).ok()?.to_ascii_lowercase();
    // The line endings that Emacs adds are there in the file already.
    let name = ["-dos", "-mac"].iter().find_map(|end| label.strip_suffix(end)).unwrap_or(&label);
    Encoding::by_label(name).filter(|encoding| !encoding.is_utf16())
}

fn in_stylesheet(head: &[u8]) -> Option<&[u8]> {
    let rest = head.strip_prefix(b"@charset \"")?;
    let end = memchr::memchr(b'"', rest)?;
    rest[end..].starts_with(b"\";").then_some(&rest[..end])
}

fn in_markup(head: &[u8]) -> Option<&[u8]> {
    let head = head.trim_ascii_start();
    if !head.starts_with(b"<") {
        return None;
    }
    if head.starts_with(b"<?xml") {
        let declaration = &head[..memchr::memchr(b'>', head).unwrap_or(head.len())];
        if let Some(label) = value_after(declaration, b"encoding", b"=") {
            return Some(label);
        }
    }
    let mut rest = head;
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = &rest[at..];
        let (is_meta, end) = if rest.starts_with(b"<!--") {
            (false, memchr::memmem::find(rest, b"-->"))
        } else {
            (starts_with_word(rest, b"<meta"), memchr::memchr(b'>', rest))
        };
        let (tag, after) = rest.split_at(end.unwrap_or(rest.len()).max(1));
        if let Some(label) = value_after(tag, b"charset", b"=").filter(|_| is_meta) {
            return Some(label);
        }
        rest = after;
    }
    None
}

fn in_comment(head: &[u8]) -> Option<&[u8]> {
    let mut lines = head.split(|byte| *byte == b'\n' || *byte == b'\r').filter(|line| !line.is_empty());
    let (first, second) = (lines.next()?, lines.next());
    [Some(first), second].into_iter().flatten().find_map(|line| {
        let has = |mark: &[u8]| memchr::memmem::find(line, mark).is_some();
        if !(line.trim_ascii_start().starts_with(b"#") || has(b"-*-") || has(b"vim:") || has(b"vi:")) {
            return None;
        }
        value_after(line, b"coding", b":=").or_else(|| value_after(line, b"fenc", b"="))
    })
}

/// The label after `name` in upper or lower case, one of `separators` and an opening quote, blanks between.
fn value_after<'a>(text: &'a [u8], name: &[u8], separators: &[u8]) -> Option<&'a [u8]> {
    text.windows(name.len()).enumerate().filter(|(_, window)| window.eq_ignore_ascii_case(name)).find_map(
        |(at, _)| {
            let rest = text[at + name.len()..].trim_ascii_start();
            let (separator, rest) = rest.split_first()?;
            let rest = rest.trim_ascii_start();
            let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
            let len = rest.iter().take_while(|byte| is_of_label(**byte)).count();
            (separators.contains(separator) && len > 0).then_some(&rest[..len])
        },
    )
}

fn is_of_label(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'+')
}

fn starts_with_word(text: &[u8], word: &[u8]) -> bool {
    let is_end =
        text.get(word.len()).is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'));
    is_end && text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_declare_an_encoding_is_read() {
        let sjis = Some(Encoding::SHIFT_JIS);
        for (text, expected) in [
            ("# -*- coding: cp932 -*-\n", sjis),
            ("#!/usr/bin/python\r\n# vim: set fileencoding=sjis :\r\n", sjis),
            ("#!/usr/bin/ruby\n# Encoding: Shift_JIS\n", sjis),
            ("/* -*- mode: c; coding: shift_jis-dos -*- */", sjis),
            ("// vim: fenc=cp932\n", sjis),
            ("; -*- coding: cp932-mac -*-", sjis),
            ("; -*- coding: Shift_JIS-DOS -*-", sjis),
            ("; -*- coding: -dos -*-", None),
            ("# coding = 'sjis'", sjis),
            ("<?xml version='1.0' encoding='Shift_JIS'?><a/>", sjis),
            ("<?xml version=\"1.0\"?>\n<html><META CharSet = sjis >", sjis),
            ("<!doctype html><head><meta charset=\"x-sjis\"/>", sjis),
            ("\n<meta http-equiv=\"Content-Type\" content=\"text/html; charset=Shift_JIS\">", sjis),
            ("<!-- <meta charset=big5> --><meta name=a><meta charset=sjis>", sjis),
            ("@charset \"Shift_JIS\";\n", sjis),
            ("# coding: latin-1", Some(Encoding::WINDOWS_1252)),
            ("# coding: utf-8", Some(Encoding::UTF_8)),
            // What is no declaration.
            ("", None),
            ("#", None),
            ("# coding:", None),
            ("# coding: klingon", None),
            ("# encoding utf-8", None),
            ("import a\nimport b\n# coding: cp932\n", None),
            ("encoding: cp932\n", None),
            ("let html = \"<meta charset=sjis>\";", None),
            ("<metal charset=sjis>", None),
            ("<p title='charset=sjis'>", None),
            ("<!-- <meta charset=sjis>", None),
            ("<?xml version=\"1.0\"?><a encoding='sjis'/>", None),
            (" @charset \"Shift_JIS\";", None),
            ("@charset \"Shift_JIS", None),
            ("<meta charset=utf-16>", None),
        ] {
            assert_eq!(in_text(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_declaration_after_1024_bytes_is_not_read() {
        for (blanks, expected) in [(1000, Some(Encoding::BIG5)), (1010, None)] {
            let text = format!("<p>{}<meta charset=big5>", " ".repeat(blanks));
            assert_eq!(in_text(text.as_bytes()), expected, "{blanks}");
        }
    }
}
