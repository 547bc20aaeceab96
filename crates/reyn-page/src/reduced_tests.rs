//! What is left of small pages.

use super::*;
use crate::bounds::{DEPTH_MAX, INDENTS_MAX};

/// The body of a reduced page.
fn body(page: &str) -> String {
    let url = Url::parse("https://e.example/d/p.html").unwrap();
    let html = reduced(page, Some(&url)).html;
    let (_, body) = html.split_once("<body>").unwrap();
    body.strip_suffix("</body></html>").unwrap().to_owned()
}

#[test]
fn what_no_reader_sees_is_dropped() {
    for (page, expected) in [
        ("a<script>b</script>c<style>d</style>e", "ace"),
        ("a<noscript><p>b</noscript>c", "ac"),
        ("a<svg><title>b</title><path/></svg>c<template><b>d</template>e", "ace"),
        ("a<iframe src=x>b</iframe>c<select><option>d</select>e", "ace"),
        ("<p hidden>a<b>b</b></p>c", "c"),
        ("a <span style='Display : None'>b</span>c", "a c"),
        ("<b style=\"color:red;display:none !important\">b</b>c", "c"),
        ("<b style='display:&#110;one'>b</b>c", "c"),
        ("<b style='visibility:hidden'>b</b>c", "c"),
        ("<b style='display:nonesuch'>b</b>", "<b>b</b>"),
        ("<i aria-hidden=TRUE>b</i>c<i aria-hidden=false>d</i>", "c<i>d</i>"),
        ("<p hidden=until-found>a</p>", "<p>a</p>"),
        ("<dialog>a</dialog><dialog open>b</dialog>", "<dialog>b</dialog>"),
        ("<br hidden><img hidden alt=a>b", "b"),
        // A body that shows itself by script is no hidden one.
        ("<body style='visibility:hidden'>a", "a"),
    ] {
        assert_eq!(body(page), expected, "{page}");
    }
}

#[test]
fn what_is_hidden_stays_hidden_up_to_its_own_end() {
    for (page, expected) in [
        ("<p hidden>a</b>b</i>c</p>d", "d"),
        ("<b><div hidden>a</b>b</div>c</b>", "<b>\nc</b>"),
        ("<x-y hidden>a<z></w></z>b</x-y>c", "c"),
        ("<font hidden>a</u>b</font>c", "c"),
        ("<td hidden>a</div>b", ""),
        ("<p hidden>a<p>b", "<p>b</p>"),
        ("<ul><li hidden>a<li>b</ul>", "<ul>\n<li>b</li></ul>"),
        ("<div hidden>a", ""),
        ("<div hidden><script>a</div></script>b</div>c", "c"),
    ] {
        assert_eq!(body(page), expected, "{page}");
    }
}

#[test]
fn what_is_left_open_is_closed_where_a_browser_closes_it() {
    for (page, expected) in [
        ("<p>a<p>b<div>c", "<p>a</p><p>b</p><div>c</div>"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>"),
        ("<dl><dt>a<dd>b<dt>c</dl>", "<dl><dt>a</dt><dd>b</dd><dt>c</dt></dl>"),
        (
            "<table><tr><td>a<th>b<tr><td>c</table>d",
            "<table><tr><td>a</td><th>b</th></tr><tr><td>c</td></tr></table>d",
        ),
        ("<table><tr><td></div></p>a</table>b", "<table><tr><td>a</td></tr></table>b"),
        ("<b><p>a</b>b</p>", "<b><p>a</p></b>b"),
        ("<b><i>a</b>b</i>", "<b><i>a</i></b>b"),
        (
            "<a href=/x>a<a href=/y>b",
            "<a href=\"https://e.example/x\">a</a><a href=\"https://e.example/y\">b</a>",
        ),
        ("<h1>a</h2>b<h3>c<h4>d", "<h1>a</h1>b<h3>c</h3><h4>d</h4>"),
        ("a</p></br></div>b", "ab"),
        ("<table><tr><td colspan=3>a", "<table><tr><td>a</td><td></td><td></td></tr></table>"),
    ] {
        assert_eq!(body(page), expected, "{page}");
    }
}

#[test]
fn only_attributes_that_say_something_are_left() {
    for (page, expected) in [
        (
            "<p onclick=x class='a b' id=\"c\" class=d data-x=y style=color:red>",
            "<p class=\"a b\" id=\"c\"></p>",
        ),
        ("<b class=x>a</b>", "<b>a</b>"),
        ("<p class='say \"a\"'>", "<p class=\"say &quot;a&quot;\"></p>"),
        ("<a href='../x?a=1&amp;b=2#c'>a</a>", "<a href=\"https://e.example/x?a=1&amp;b=2#c\">a</a>"),
        ("<a href='/日本'>a</a>", "<a href=\"https://e.example/%E6%97%A5%E6%9C%AC\">a</a>"),
        ("<a href=#top>a</a><a href=javascript:b()>c</a>", "<a>a</a><a>c</a>"),
        ("<a href='data:text/html,x'>a</a><a href=' JAVA&Tab;SCRIPT:x'>b</a>", "<a>a</a><a>b</a>"),
        ("<base href=/z/><base href=/y/><a href=a>a</a>", "<a href=\"https://e.example/z/a\">a</a>"),
        ("<ol start=3><li value=7>a</ol>", "<ol start=\"3\"><li value=\"7\">a</li></ol>"),
    ] {
        assert_eq!(body(page), expected, "{page}");
    }
}

#[test]
fn images_ruby_and_code_are_made_text() {
    for (page, expected) in [
        ("a<img src=data:image/png;base64,AA alt=' b '>c", "a b c"),
        ("語<img alt=画>像<img src=x><img alt=''>", "語画像"),
        ("<img alt='<b>'>", "&lt;b>"),
        ("<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</ruby>は", "<span>漢(かん)字(じ)</span>は"),
        ("<pre>a<br>b<div>c</div><span>d</span></pre>", "<pre>a\nb\nc\nd</pre>"),
        (
            "<pre><code class=language-x>a<b>b</b></code></pre>",
            "<pre><code class=\"language-x\">ab</code></pre>",
        ),
        ("<xmp>a<b></xmp>", "<pre>a&lt;b></pre>"),
        ("a<wbr>b\0c", "abc"),
        ("<my-card>a</my-card><my-card>b</my-card>", "<span>a</span>\n<span>b</span>\n"),
    ] {
        assert_eq!(body(page).trim_end(), expected.trim_end(), "{page}");
    }
}

#[test]
fn a_title_is_the_first_that_is_not_empty_or_the_one_for_social_networks() {
    let title = |page: &str| {
        let html = reduced(page, None).html;
        html.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0.to_owned()
    };
    for (page, expected) in [
        ("<title> </title><title>a &amp; <b></title><title>c</title>", "a &amp; &lt;b>"),
        ("<svg><title>a</title></svg><title>b</title>", "b"),
        ("<meta property=og:title content='a</title>'>", "a&lt;/title>"),
        ("<meta name=description content=a>", ""),
    ] {
        assert_eq!(title(page), expected, "{page}");
    }
}

#[test]
fn elements_are_as_deep_as_the_bound_and_text_below_it_is_kept() {
    let page = format!("{}<p>a<p>b<i hidden>c</i></div>d", "<div>".repeat(DEPTH_MAX + 3));
    let body = body(&page);
    assert_eq!(body.matches("<div>").count(), DEPTH_MAX);
    assert_eq!(body.matches("</div>").count(), DEPTH_MAX);
    let text: String = body.replace("<div>", "").replace("</div>", "").replace("<br>", "\n");
    assert_eq!(text.split_whitespace().collect::<Vec<_>>(), ["a", "b", "d"]);
}

#[test]
fn lists_are_as_deep_as_their_own_bound() {
    let body = body(&"<ul><li>a".repeat(INDENTS_MAX + 5));
    assert_eq!((body.matches("<ul>").count(), body.matches('a').count()), (INDENTS_MAX, INDENTS_MAX + 5));
}

#[test]
fn a_page_with_more_tags_than_are_read_is_cut() {
    let page = format!("{}b", "<p>a".repeat(TAGS_MAX + 1));
    let reduced = reduced(&page, None);
    assert!(reduced.is_cut);
    assert!(!reduced.html.contains('b') || !reduced.html.ends_with("b</p></body></html>"));
}

proptest::proptest! {
    #[test]
    fn what_comes_out_is_well_formed(
        page in "(<(/)?(p|div|b|a|li|ul|td|table|pre|rt|font|x-y|script|br|h1)( hidden)?>|a|語|&amp;|<|-->| |\n){0,60}"
    ) {
        let body = body(&page);
        let mut open: Vec<String> = vec![];
        for token in Scanner::new(&body) {
            match token {
                Token::Text(text) => proptest::prop_assert!(!text.contains('<')),
                Token::Start(tag) if matches!(tag.name, "br" | "hr") => {}
                Token::Start(tag) => open.push(tag.name.to_owned()),
                Token::End(name) => proptest::prop_assert_eq!(open.pop(), Some(name.to_owned())),
            }
        }
        proptest::prop_assert!(open.is_empty());
    }
}
