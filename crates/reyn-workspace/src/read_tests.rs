//! Tests of reading pages.

use super::*;
use crate::tests::Place;

fn read_in(place: &Place, request: PageRequest) -> Result<Page, FileError> {
    place.read_page(&place.to_read("f"), request, &CancellationToken::new())
}

fn read(content: &[u8], request: PageRequest) -> Result<Page, FileError> {
    let place = Place::new();
    place.put("f", content);
    read_in(&place, request)
}

fn lines(offset: i64, limit: Option<u64>) -> PageRequest {
    PageRequest { offset, limit, ..PageRequest::default() }
}

fn utf8(text: &str, next: Option<Next>) -> Page {
    let (text, encoding) = (text.to_owned(), Encoding::UTF_8);
    Page { text, next, lines_if_behind: None, encoding, is_sure: true, is_damaged: false }
}

const fn line(offset: i64) -> Option<Next> {
    Some(Next { offset, char_offset: 0 })
}

/// All pages one after the other, and how many there were.
fn all_pages(place: &Place, mut request: PageRequest) -> (String, usize) {
    let (mut text, mut pages) = (String::new(), 0);
    loop {
        let page = read_in(place, request).unwrap();
        assert!(page.text.len() <= RESULT_BYTES_MAX);
        text.push_str(&page.text);
        pages += 1;
        let Some(next) = page.next else { return (text, pages) };
        let goes_on = (next.offset, next.char_offset) > (request.offset, request.char_offset);
        assert!(goes_on, "{next:?} after {request:?}");
        (request.offset, request.char_offset) = (next.offset, next.char_offset);
    }
}

#[test]
fn pages_by_line_are_the_whole_file_together() {
    let content = b"one\ntwo\nthree";
    for (offset, limit, page) in [
        (0, None, utf8("one\ntwo\nthree", None)),
        (0, Some(2), utf8("one\ntwo\n", line(2))),
        (2, Some(2), utf8("three", None)),
        (0, Some(3), utf8("one\ntwo\nthree", None)),
        (1, Some(0), utf8("two\n", line(2))),
    ] {
        assert_eq!(read(content, lines(offset, limit)).unwrap(), page, "{offset} {limit:?}");
    }
}

#[test]
fn a_page_behind_the_end_says_how_many_lines_there_are() {
    for (content, count) in [(&b"one\ntwo\nthree"[..], 3), (b"one\ntwo\n", 2), (b"", 0)] {
        let page = read(content, lines(9, None)).unwrap();
        assert_eq!(page, Page { lines_if_behind: Some(count), ..utf8("", None) });
    }
    assert_eq!(read(b"one\n", lines(1, None)).unwrap(), utf8("", None));
}

#[test]
fn the_end_of_a_file_is_read_from_its_end() {
    let content = b"one\ntwo\nthree\n";
    for (offset, limit, page) in [
        (-1, None, utf8("three\n", None)),
        (-2, None, utf8("two\nthree\n", None)),
        (-2, Some(1), utf8("two\n", line(-1))),
        (-3, Some(1), utf8("one\n", line(1))),
        (-9, Some(2), utf8("one\ntwo\n", line(2))),
        (-9, None, utf8("one\ntwo\nthree\n", None)),
    ] {
        assert_eq!(read(content, lines(offset, limit)).unwrap(), page, "{offset} {limit:?}");
    }
    let place = Place::new();
    let text = "日本語のテキスト\n".repeat(10_000);
    place.put("f", &text);
    assert!(all_pages(&place, lines(-9_000, None)) == ("日本語のテキスト\n".repeat(9_000), 5));
    assert!(all_pages(&place, lines(-90_000, None)) == (text.clone(), 6));
}

#[test]
fn a_file_larger_than_a_page_goes_on_where_the_page_ended() {
    let place = Place::new();
    let content = "日本語のテキスト\n".repeat(10_000);
    place.put("f", &content);
    assert!(all_pages(&place, PageRequest::default()) == (content, 6));
}

#[test]
fn a_long_line_goes_on_at_its_own_characters() {
    for content in ["あ".repeat(60_000), format!("ab\nあ\n{}\nend", "x日".repeat(60_000))] {
        let place = Place::new();
        place.put("f", &content);
        assert!(all_pages(&place, PageRequest::default()).0 == content);
    }
    for (char_offset, shown) in [(2, "c\n"), (3, "\n"), (9, "\n")] {
        let page = read(b"abc\ndef\n", PageRequest { char_offset, ..lines(0, Some(1)) }).unwrap();
        assert_eq!(page, utf8(shown, line(1)));
    }
    let content = format!("ab\n{}", "x".repeat(60_000));
    let page = read(content.as_bytes(), lines(1, None)).unwrap();
    assert_eq!(page.next, Some(Next { offset: 1, char_offset: RESULT_BYTES_MAX as u64 }));
}

#[test]
fn encodings_table() {
    let long = |text: &str, encoding: Encoding| encoding.encode(&text.repeat(40)).unwrap();
    let japanese = "日本語の文章です。\r\n";
    let with_mark = |mark: &[u8], bytes: Vec<u8>| [mark, &bytes].concat();
    for (name, bytes, text, encoding) in [
        ("mark of UTF-8", with_mark(b"\xef\xbb\xbf", b"a\n".to_vec()), "a\n".to_owned(), Encoding::UTF_8),
        ("Shift_JIS", long(japanese, Encoding::SHIFT_JIS), japanese.repeat(40), Encoding::SHIFT_JIS),
        ("EUC-JP", long(japanese, Encoding::EUC_JP), japanese.repeat(40), Encoding::EUC_JP),
        (
            "UTF-16 LE",
            with_mark(b"\xff\xfe", long(japanese, Encoding::UTF_16LE)),
            japanese.repeat(40),
            Encoding::UTF_16LE,
        ),
        (
            "UTF-16 BE",
            with_mark(b"\xfe\xff", long(japanese, Encoding::UTF_16BE)),
            japanese.repeat(40),
            Encoding::UTF_16BE,
        ),
    ] {
        let page = read(&bytes, PageRequest::default()).unwrap();
        assert_eq!((page.text, page.encoding, page.is_damaged), (text, encoding, false), "{name}");
        let page = read(&bytes, lines(-1, None)).unwrap();
        assert_eq!(
            page.text,
            if name.starts_with("mark") { "a\n" } else { japanese },
            "{name}, from the end"
        );
    }
}

#[test]
fn a_large_file_of_another_encoding_is_read_page_by_page_too() {
    let text = "日本語の文章です。\n".repeat(30_000);
    for encoding in [Encoding::SHIFT_JIS, Encoding::UTF_16LE] {
        let place = Place::new();
        let mark: &[u8] = if encoding.is_utf16() { b"\xff\xfe" } else { b"" };
        place.put("f", [mark, &encoding.encode(&text).unwrap()].concat());
        assert!(all_pages(&place, PageRequest::default()).0 == text, "{encoding}");
    }
}

#[test]
fn another_encoding_behind_a_beginning_in_ascii_is_still_found() {
    let (ascii, japanese) = ("plain text\n".repeat(30_000), "日本語の文章です。\n".repeat(30));
    let place = Place::new();
    place.put("f", [ascii.as_bytes(), &Encoding::SHIFT_JIS.encode(&japanese).unwrap()].concat());
    let page = read_in(&place, lines(30_000, None)).unwrap();
    assert_eq!((page.text, page.encoding, page.is_sure), (japanese, Encoding::SHIFT_JIS, false));
}

#[test]
fn bytes_that_cannot_be_decoded_are_shown_and_said() {
    let text = "日本語の文章です。\n".repeat(20);
    let broken = [text.as_bytes(), b"caf\xe9\n"].concat();
    let page = read(&broken, PageRequest::default()).unwrap();
    assert_eq!((page.encoding, page.is_sure, page.is_damaged), (Encoding::UTF_8, false, true));
    assert_eq!(page.text, format!("{text}caf\u{FFFD}\n"));
    let page = read(text.as_bytes(), PageRequest::default()).unwrap();
    assert_eq!((page.is_sure, page.is_damaged), (true, false));
}

#[test]
fn an_encoding_that_the_caller_knows_is_used() {
    let request = PageRequest { encoding: Some(Encoding::WINDOWS_1252), ..PageRequest::default() };
    let page = read(b"caf\xe9\n", request).unwrap();
    assert_eq!((page.text.as_str(), page.encoding, page.is_sure), ("café\n", Encoding::WINDOWS_1252, true));
}

#[test]
fn what_is_not_text_is_refused() {
    for (content, says) in [
        (&b"a\x00b"[..], "it is a binary file"),
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0", "it is a binary file"),
        (b"\xff\xfe\0\0a\0\0\0", "UTF-32"),
    ] {
        let error = read(content, PageRequest::default()).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
    let late = [&b"text\n".repeat(100_000)[..], b"\0"].concat();
    let error = read(&late, lines(99_990, None)).unwrap_err();
    assert!(error.to_string().contains("binary"), "{error}");
}

#[test]
fn a_pipe_a_device_and_a_folder_are_refused_without_waiting() {
    let place = Place::new();
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, place.at("pipe"), FileType::Fifo, mode, 0).unwrap();
    for (path, says) in [
        ("pipe", "a pipe"),
        (".", "it is a folder"),
        ("no", "no such file"),
        ("/dev/zero", "a device"),
        ("/dev/stdin/x", "not a folder"),
    ] {
        let error = place
            .read_page(&place.to_read(path), PageRequest::default(), &CancellationToken::new())
            .unwrap_err();
        assert!(error.to_string().contains(says), "{path}: {error}");
    }
}

#[test]
fn files_that_say_they_are_empty_and_are_not_are_read() {
    let place = Place::new();
    let target = place.to_read("/proc/self/status");
    let page = place.read_page(&target, PageRequest::default(), &CancellationToken::new()).unwrap();
    assert!(page.text.starts_with("Name:"), "{}", page.text);
}

#[test]
fn a_missing_file_names_what_is_near() {
    let place = Place::new();
    place.put("docs/README.md", "x");
    place.put("bytes-1.12.2/src/lib.rs", "x");
    for (asked, near) in [
        ("docs/REDAME.md", "docs/README.md"),
        ("dosc", "docs"),
        ("bytes-1.11.0/src/lib.rs", "bytes-1.12.2/src/lib.rs"),
        ("bytes-1.11.0/src/gone.rs", "bytes-1.12.2"),
    ] {
        let target = place.to_read(asked);
        let error = place.read_page(&target, PageRequest::default(), &CancellationToken::new());
        let Err(FileError::Failed { suggestions, .. }) = error else { panic!("{error:?}") };
        assert_eq!(suggestions, [near]);
    }
}

#[test]
fn a_file_that_became_another_name_of_a_guarded_one_is_not_read() {
    let place = Place::new();
    let secrets = place.outside().join("secrets.env");
    std::fs::write(&secrets, "KEY=1").unwrap();
    place.put("f", "mine");
    let target = place.to_read("f");
    std::fs::remove_file(place.at("f")).unwrap();
    std::fs::hard_link(&secrets, place.at("f")).unwrap();
    let read = |target: &Target| {
        place.read_page(target, PageRequest::default(), &CancellationToken::new()).map(|page| page.text)
    };
    let error = read(&target).unwrap_err();
    assert!(error.to_string().contains("turned into another file"), "{error}");
    std::fs::remove_file(place.at("f")).unwrap();
    place.put("f", "mine again");
    assert_eq!(read(&target), Ok("mine again".to_owned()));
}

#[test]
fn a_workspace_that_was_replaced_says_so() {
    let place = Place::new();
    let target = place.to_read("f");
    std::fs::remove_dir(place.root()).unwrap();
    std::fs::create_dir(place.root()).unwrap();
    place.put("f", "new");
    let error = place.read_page(&target, PageRequest::default(), &CancellationToken::new()).unwrap_err();
    assert!(error.to_string().contains("moved, deleted or replaced"), "{error}");
}

#[test]
fn cancelling_stops_the_way_to_a_page() {
    let place = Place::new();
    place.put("f", "x\n".repeat(500_000));
    let cancel = CancellationToken::new();
    cancel.cancel();
    for request in [
        lines(400_000, None),
        lines(-400_000, None),
        PageRequest { char_offset: 900_000, ..PageRequest::default() },
    ] {
        let result = place.read_page(&place.to_read("f"), request, &cancel);
        assert_eq!(result, Err(FileError::Cancelled), "{request:?}");
    }
}
