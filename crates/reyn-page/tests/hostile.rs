//! Pages that were made to break a reader. Each ends in a result; how much work it is, is bounded by counts.

#![expect(clippy::unwrap_used, reason = "tests")]

use reyn_page::bounds::{PAGE_BYTES_MAX, TEXT_BYTES_MAX};
use reyn_page::reading::{PageError, ReadOptions, Reading, read};
use reyn_page::results::duckduckgo;

const HTML: Option<&str> = Some("text/html; charset=utf-8");

fn page(page: &[u8]) -> Reading {
    read(page, HTML, "https://e.example/", &ReadOptions { chars_max: 1_000 }).unwrap()
}

/// A stack as small as a thread's in a server, so that depth shows.
fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(512 * 1024).spawn(work).unwrap().join().unwrap();
}

#[test]
fn elements_in_each_other_overflow_no_stack() {
    on_a_small_stack(|| {
        let names = [
            "div",
            "b",
            "a href=x",
            "ul><li",
            "table><tr><td",
            "blockquote",
            "span",
            "dl><dd",
            "font",
            "x-y",
            "svg",
            "math",
            "p",
            "pre",
            "select",
            "button",
            "h1",
        ];
        for name in names {
            let deep = format!(
                "{}word, and words",
                format!("<{name}>").repeat(if name == "div" { 100_000 } else { 20_000 })
            );
            let reading = page(deep.as_bytes());
            assert!(
                reading.is_truncated || reading.text.contains("word") || ["svg", "select"].contains(&name),
                "{name}"
            );
            let _ = duckduckgo(deep.as_bytes(), HTML, 200);
        }
    });
}

#[test]
fn a_deep_page_with_enough_text_to_be_scored_overflows_no_stack() {
    on_a_small_stack(|| {
        for name in ["div", "ul><li", "blockquote><p", "table><tr><td", "section", "b><div"] {
            let part =
                format!("{}Some words, and more words, in a sentence. ", format!("<{name}>").repeat(300));
            let reading = page(part.repeat(20).as_bytes());
            assert!(reading.text.contains("Some words"), "{name}");
        }
    });
}

#[test]
fn a_page_larger_than_what_is_read_is_cut_and_says_so() {
    let divs = b"<div>".repeat(50_000_000 / 5);
    let reading = page(&divs);
    assert!(reading.is_truncated);
    assert_eq!(
        reading.note.as_deref(),
        Some("the page is larger than what is read of it; its end is missing")
    );

    let text = [b"<p>".as_slice(), &b"words ".repeat(PAGE_BYTES_MAX / 6 + 10)].concat();
    let reading = page(&text);
    assert!(
        reading.is_truncated
            && reading.text.starts_with("words words")
            && reading.chars_total <= PAGE_BYTES_MAX
    );
}

#[test]
fn attributes_of_any_number_and_size_are_passed_over() {
    let many = format!("<p {}>words", "a=1 b ".repeat(500_000));
    let different: String = (0..300_000).map(|n| format!(" a{n}=x")).collect();
    let different = format!("<p{different} class=y>words");
    let long = format!("<p title=\"{}\" class='{}'>words", "x".repeat(10_000_000), "y".repeat(1_000_000));
    let link = format!("<a href=\"/{}\">words</a>", "x".repeat(5_000_000));
    let image = format!("<img src=\"data:image/png;base64,{}\" alt=words>", "A".repeat(5_000_000));
    for hostile in [many, different, long, link, image] {
        assert_eq!(page(hostile.as_bytes()).text, "words", "{}", &hostile[..20]);
    }
}

#[test]
fn what_is_never_closed_ends_with_the_page() {
    for (hostile, expected) in [
        (format!("words<!--{}", "<p>a".repeat(100_000)), "words"),
        (format!("words{}", "<!--".repeat(500_000)), "words"),
        (format!("words<script>{}", "</scrip".repeat(100_000)), "words"),
        (format!("words<p title='{}", "<p>".repeat(100_000)), "words"),
        (format!("words{}", "<title>".repeat(100_000)), "words"),
        (format!("words{}", "<textarea>".repeat(100_000)), "words"),
        ("words<plaintext></plaintext><p>a".to_owned(), "words\n\n```\n</plaintext><p>a\n```"),
        (format!("words{}", "<![CDATA[".repeat(100_000)), "words"),
        (format!("words{}", "</".repeat(100_000)), "words"),
    ] {
        assert_eq!(page(hostile.as_bytes()).text, expected, "{}", &hostile[..20]);
    }
}

#[test]
fn nuls_broken_bytes_and_entities_are_read_through() {
    assert_eq!(page(b"<p>a\0b<scr\0ipt>c\0").text, "abc");
    assert_eq!(page(b"<p>\xC3\xA9\xC3\xA9\xC3\xA9\xC3\x28\xE2\x82").text, "ééé\u{FFFD}(");
    let laughs = "<!DOCTYPE html [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><p>&b;</p>";
    assert!(page(laughs.as_bytes()).text.contains("&b;"));
    assert_eq!(
        page("&#0;&#xD800;&#x110000;&#99999999999;&amp".as_bytes()).text,
        "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}&"
    );
}

#[test]
fn a_page_cannot_make_more_text_than_the_bound() {
    let deep = format!("{}<pre>{}x", "<blockquote>".repeat(100), "a\n".repeat(3_000_000));
    let reading = page(deep.as_bytes());
    assert!(reading.is_truncated && reading.chars_total <= TEXT_BYTES_MAX);
    let cells = format!("<table><tr>{}{}", "<td>x".repeat(64), "<tr><td>y".repeat(50_000));
    assert!(page(cells.as_bytes()).chars_total <= TEXT_BYTES_MAX);
    let spans = format!("<table>{}", "<tr><td colspan=1000000>x".repeat(50_000));
    assert!(page(spans.as_bytes()).is_truncated);
}

#[test]
fn a_character_of_a_million_marks_is_not_cut_in_two() {
    let marks = format!("a{}", "\u{301}".repeat(1_000_000));
    let reading = read(marks.as_bytes(), Some("text/plain"), "", &ReadOptions { chars_max: 1_000 }).unwrap();
    assert_eq!((reading.text.as_str(), reading.is_truncated, reading.chars_total), ("", true, 1_000_001));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 300, ..Default::default() })]

    #[test]
    fn any_bytes_are_read_or_are_no_text(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
        for content_type in [Some("text/html"), Some("text/plain"), None] {
            match read(&bytes, content_type, "https://e.example/", &ReadOptions { chars_max: 100 }) {
                Ok(reading) => proptest::prop_assert!(reading.text.chars().count() <= 100),
                Err(PageError::NotText { bytes: counted, .. }) => proptest::prop_assert_eq!(counted, bytes.len()),
            }
        }
    }

    #[test]
    fn no_soup_of_tags_breaks_a_reader(
        soup in "(<(/)?(p|div|b|a href=x|li|ul|ol|dl|dd|td|tr|th|table|tbody|caption|pre|code|ruby|rt|font|x-y|script|br|h1|form|button|select|option|svg|math|template|title|body|html|head|frameset|textarea|blockquote|hr|img alt=x)( hidden)?>|some words, here|語|&amp;|<|<!--|-->| |\n){0,80}"
    ) {
        // Often enough that the article is looked for as well.
        let reading = page(soup.repeat(10).as_bytes());
        proptest::prop_assert!(reading.text.chars().count() <= 1_000);
    }
}
