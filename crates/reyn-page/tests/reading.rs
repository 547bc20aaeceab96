//! Pages as a model reads them.

#![expect(clippy::unwrap_used, reason = "tests")]

use reyn_page::charset::Source;
use reyn_page::reading::{Extractor, PageError, ReadOptions, Reading, read};

const URL: &str = "https://e.example/d/p.html";
const HTML: Option<&str> = Some("text/html; charset=utf-8");
const WHOLE: ReadOptions = ReadOptions { chars_max: 50_000 };

fn html(page: &str) -> Reading {
    read(page.as_bytes(), HTML, URL, &WHOLE).unwrap()
}

#[test]
fn an_article_is_read_without_what_is_around_it() {
    let reading = html(include_str!("pages/article.html"));
    let expected = Reading {
        title: Some("記事の題 | Site".into()),
        text: include_str!("pages/article.md").trim_end().into(),
        encoding: "utf-8",
        encoding_source: Source::Header,
        content_type: "text/html".into(),
        is_truncated: false,
        chars_total: include_str!("pages/article.md").trim_end().chars().count(),
        extractor: Extractor::Readability,
        note: None,
    };
    assert_eq!(reading, expected);
}

#[test]
fn a_japanese_article_is_told_from_what_is_around_it() {
    let sentence = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ、と思う。";
    let links: String = (0..40).map(|n| format!("<li><a href=/{n}>関連する記事その{n}</a>")).collect();
    let paragraphs: String =
        (0..12).map(|n| format!("<p>{n}番目の段落。{}</p>", sentence.repeat(4))).collect();
    let page = format!(
        "<title>猫</title><body><nav><ul>{links}</ul></nav><div id=main><div class=entry>{paragraphs}</div></div>\
         <div class=sidebar><ul>{links}</ul></div><footer>著作権</footer>"
    );
    let reading = html(&page);
    let expected: Vec<String> = (0..12).map(|n| format!("{n}番目の段落。{}", sentence.repeat(4))).collect();
    assert_eq!((reading.text, reading.extractor), (expected.join("\n\n"), Extractor::Readability));
}

#[test]
fn a_heading_of_documentation_stays_whatever_its_class_is() {
    let text = "What the function does, in words, and what it takes, and what it gives. ".repeat(3);
    let methods: String = (0..8)
        .map(|n| format!("<section id=m{n}><h4 class=code-header>fn f{n}()</h4></section><p>{text}</p>"))
        .collect();
    let reading = html(&format!(
        "<main><div class=content><h2 class=section-header>Methods</h2>{methods}</div></main>"
    ));
    let headings: Vec<&str> = reading.text.lines().filter(|line| line.starts_with('#')).collect();
    let expected: Vec<String> = (0..8).map(|n| format!("#### fn f{n}()")).collect();
    assert_eq!(headings, [vec!["## Methods".to_owned()], expected].concat());
    assert_eq!(reading.extractor, Extractor::Readability);
}

#[test]
fn a_short_page_is_its_body() {
    let reading = html("<title>Hello</title><h1>Hi</h1><p>One line. <a href=x>More</a>");
    assert_eq!(reading.text, "# Hi\n\nOne line. [More](https://e.example/d/x)");
    assert_eq!((reading.extractor, reading.note), (Extractor::Body, None));
}

#[test]
fn a_page_of_links_is_its_body() {
    let links: String = (0..200).map(|n| format!("<li><a href=/{n}>An entry with words {n}</a>")).collect();
    let reading = html(&format!("<div class=sidebar><ul>{links}</ul></div><p>Some words, and others.</p>"));
    assert!(reading.text.contains("- [An entry with words 199](https://e.example/199)"), "{}", reading.text);
}

#[test]
fn an_application_that_draws_itself_says_so() {
    for (page, words) in [
        ("<title>App</title><div id=root></div><script src=a.js></script>", Some("no text")),
        ("<div id=root>Loading…</div><script>a()</script><script>b()</script>", Some("hardly any text")),
        ("<noscript>You need JavaScript</noscript><script>a()</script>", Some("no text")),
        ("<p>Short, but without scripts", None),
    ] {
        let note = html(page).note;
        assert_eq!(note.is_some(), words.is_some(), "{page}: {note:?}");
        assert!(words.is_none_or(|words| note.unwrap_or_default().contains(words)), "{page}");
    }
}

#[test]
fn a_page_that_is_written_as_xml_is_read_as_a_page() {
    let page = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE html>\n\
        <html xmlns=\"http://www.w3.org/1999/xhtml\"><head><title>棚</title><script src=\"a.js\"/></head>\
        <body><a id=\"top\"/><h1>棚卸し</h1><div class=\"ad\"/>\
        <p>See <a href=\"/more\">more</a><br/>and <![CDATA[1 < 2]]>.</p></body></html>";
    for content_type in ["application/xhtml+xml", "Application/XHTML+XML; charset=utf-8"] {
        let reading = read(page.as_bytes(), Some(content_type), URL, &WHOLE).unwrap();
        let text = "# 棚卸し\n\nSee [more](https://e.example/more)\nand 1 < 2.";
        assert_eq!((reading.title.as_deref(), reading.text.as_str()), (Some("棚"), text));
        assert_eq!((reading.content_type.as_str(), reading.encoding), ("application/xhtml+xml", "utf-8"));
        assert_eq!(reading.extractor, Extractor::Body);
    }
}

#[test]
fn other_text_is_read_as_it_is() {
    let feed = "<?xml version=\"1.0\"?>\n<rss><title>&lt;b&gt;</title>\n\n</rss>\n";
    for (body, content_type) in [
        (feed, "application/rss+xml"),
        ("{\"a\": [1, 2]}\n", "application/json"),
        ("a,b\r\n1,2\r\n", "text/csv"),
        ("# Title\n\n  text", "text/markdown"),
        ("<!DOCTYPE lolz [<!ENTITY l \"lol\"><!ENTITY m \"&l;&l;&l;\">]><a>&m;</a>", "text/xml"),
    ] {
        let reading = read(body.as_bytes(), Some(content_type), URL, &WHOLE).unwrap();
        assert_eq!((reading.text.as_str(), reading.extractor), (body, Extractor::Verbatim), "{content_type}");
        assert_eq!((reading.title, reading.content_type.as_str()), (None, content_type));
    }
}

#[test]
fn what_is_no_text_is_an_error_with_its_type_and_size() {
    let mut pdf = b"%PDF-1.7\n".to_vec();
    pdf.resize(1_450_000, 0);
    let error = read(&pdf, HTML, URL, &WHOLE).unwrap_err();
    assert_eq!(error, PageError::NotText { content_type: "application/pdf".into(), bytes: 1_450_000 });
    assert_eq!(
        error.to_string(),
        "the answer is `application/pdf`, 1.4 MB, and no text that can be read here; fetch a page that \
         describes it, or another form of it (HTML, plain text) if the site has one"
    );
}

#[test]
fn a_page_in_shift_jis_is_read_and_says_so() {
    let (bytes, _, _) = encoding_rs::SHIFT_JIS.encode(
        "<html><head><meta charset=shift_jis><title>題</title></head><body><p>日本語の文章</p></body></html>",
    );
    let reading = read(&bytes, Some("text/html"), URL, &WHOLE).unwrap();
    assert_eq!((reading.text.as_str(), reading.title.as_deref()), ("日本語の文章", Some("題")));
    assert_eq!((reading.encoding, reading.encoding_source), ("shift_jis", Source::Meta));
}

#[test]
fn bytes_that_are_no_characters_are_told() {
    let reading = read(b"<p>\xC3\xA9\xC3\xA9a\xFFb", HTML, URL, &WHOLE).unwrap();
    assert_eq!(reading.text, "ééa\u{FFFD}b");
    assert_eq!(reading.note.as_deref(), Some("some bytes are no `utf-8`; `\u{FFFD}` stands for them"));
}

#[test]
fn a_long_page_is_cut_and_says_how_long_it_is() {
    let page = "<p>one two three</p>".repeat(10);
    let reading = read(page.as_bytes(), HTML, URL, &ReadOptions { chars_max: 47 }).unwrap();
    assert_eq!(reading.text, "one two three\n\none two three\n\none two three");
    assert_eq!((reading.is_truncated, reading.chars_total), (true, 148));
}

#[test]
fn links_of_a_page_without_an_address_are_kept_when_they_are_absolute() {
    let page = b"<a href=/x>a</a> <a href=https://o.example/>b</a>";
    let reading = read(page, HTML, "not an address", &WHOLE).unwrap();
    assert_eq!(reading.text, "a [b](https://o.example/)");
}
