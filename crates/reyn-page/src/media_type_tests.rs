//! What answers are read as.

use super::*;

#[test]
fn each_answer_is_read_as_what_it_is() {
    let html = b"<!doctype html><p>a".as_slice();
    let (text, binary) = (b"a,b\n1,2\n".as_slice(), b"\x01\x00\x02\x00\x00\x00\xFF".as_slice());
    for (bytes, declared, expected, form) in [
        (html, Some("text/html; charset=utf-8"), "text/html", Form::Html),
        (html, Some("TEXT/HTML"), "text/html", Form::Html),
        (b"a\0b".as_slice(), Some("text/html"), "text/html", Form::Html),
        (b"".as_slice(), Some("text/html"), "text/html", Form::Html),
        (html, None, "text/html", Form::Html),
        (b"\xEF\xBB\xBF <HTML>".as_slice(), None, "text/html", Form::Html),
        (html, Some("nonsense"), "text/html", Form::Html),
        (html, Some("text/plain"), "text/plain", Form::Text),
        (html, Some("application/xhtml+xml; charset=utf-8"), "application/xhtml+xml", Form::Xhtml),
        (html, Some("application/octet-stream"), "application/octet-stream", Form::Text),
        (text, Some("text/csv"), "text/csv", Form::Text),
        (text, Some("application/json"), "application/json", Form::Text),
        (text, Some("application/rss+xml"), "application/rss+xml", Form::Text),
        (text, Some("application/yaml"), "application/yaml", Form::Text),
        (text, Some("application/x-new-thing"), "application/x-new-thing", Form::Text),
        (text, Some("image/svg+xml"), "image/svg+xml", Form::Text),
        (text, None, "text/plain", Form::Text),
        (text, Some(""), "text/plain", Form::Text),
        (text, Some("application/pdf"), "application/pdf", Form::Binary),
        (text, Some("image/png"), "image/png", Form::Binary),
        (binary, Some("text/plain"), "text/plain", Form::Binary),
        (binary, Some("application/octet-stream"), "application/octet-stream", Form::Binary),
        (binary, None, "application/octet-stream", Form::Binary),
        (b"%PDF-1.7\n".as_slice(), Some("text/html"), "application/pdf", Form::Binary),
        (b"\x89PNG\r\n\x1A\n".as_slice(), Some("text/html"), "image/png", Form::Binary),
        (b"PK\x03\x04".as_slice(), Some("text/plain"), "application/zip", Form::Binary),
        (b"RIFF\0\0\0\0WEBP".as_slice(), None, "image/webp", Form::Binary),
        (b"\0\0\0\x18ftypmp42".as_slice(), None, "video/mp4", Form::Binary),
        (b"\x1F\x8B\x08\0".as_slice(), Some("application/json"), "application/gzip", Form::Binary),
    ] {
        let shown = String::from_utf8_lossy(bytes);
        assert_eq!(form_of(bytes, declared), (expected.to_owned(), form), "{declared:?} {shown}");
    }
}
