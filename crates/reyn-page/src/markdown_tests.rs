//! Markdown of small pages.

use dom_query::Document;

use crate::reduced::reduced;

/// The Markdown of a page's body.
fn markdown(page: &str) -> String {
    let url = url::Url::parse("https://e.example/").unwrap();
    let document = Document::from(reduced(page, Some(&url)).html);
    super::markdown(&document.body().unwrap()).0
}

#[test]
fn each_element_has_its_marks() {
    for (page, expected) in [
        ("<h2>a <b>b</b><br>c</h2>d", "## a **b** c\n\nd"),
        ("<h2> </h2>a<b></b>", "a"),
        ("<p>a<p>b<br>c<br><br>d", "a\n\nb\nc\n\nd"),
        ("a <b> b </b> c<i>d</i>e <del>f</del> <q>g</q>", "a **b** c*d*e ~~f~~ \"g\""),
        ("<b>a<i>b</i></b>", "**ab**"),
        ("<b>a<p>b</p></b>", "a\n\nb"),
        ("x<sup>2</sup> a<sup>[1]</sup> 10<sup>-3</sup> 1<sup>st</sup>", "x^2 a[1] 10^-3 1st"),
        ("<a href=/x> a </a>b", "[a](https://e.example/x) b"),
        ("<a href=/x></a><a>b</a>", "b"),
        ("<a href='/x(y)'>a</a>", "[a](https://e.example/x%28y%29)"),
        ("<a href=/x><div><h3>a</h3><p>b</p></div></a>", "[a b](https://e.example/x)"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<code>a_b</code> <kbd>x`y</kbd> <code>`</code><code> </code>", "`a_b` ``x`y`` `` ` ``"),
        ("<pre>\n\n a\n\n  b\n</pre>c", "```\n a\n\n  b\n```\n\nc"),
        ("<pre>```</pre>", "````\n```\n````"),
        ("<pre class='hl language-c++'>a</pre>", "```c++\na\n```"),
        ("<pre class='language-&#10;x'>a</pre>", "```\na\n```"),
        ("<ul><li>a<li><p>b</p><p>c</p><li></ul>d", "- a\n- b\n\n  c\n\nd"),
        ("<ol start=9><li>a<li>b<ul><li>c</ul><li value=20>d</ol>", "9. a\n10. b\n    - c\n20. d"),
        ("<ul><li>a<pre>b\n\nc</pre></ul>", "- a\n\n  ```\n  b\n\n  c\n  ```"),
        ("<ul><li><ul><li>a</ul></ul>", "- - a"),
        ("a<blockquote><p>b<p>c</blockquote>d", "a\n\n> b\n>\n> c\n\nd"),
        ("<blockquote><ul><li>a<li>b</ul></blockquote>", "> - a\n> - b"),
        ("<dl><dt>a<dd>b<dd>c</dl>", "a\n: b\n: c"),
        ("a<header>b</header>c<figure>d<figcaption>e</figcaption></figure>", "a\n\nb\n\nc\n\nd\n\ne"),
    ] {
        assert_eq!(markdown(page), expected, "{page}");
    }
}

#[test]
fn a_table_of_data_has_rows_of_one_length_and_one_for_layout_is_text() {
    for (page, expected) in [
        (
            "<table><caption>t</caption><tr><th>a<th>b|c<tr><td>1<td><p>2</p><p>3</p><tr><td>4</table>",
            "t\n\n| a | b\\|c |\n| --- | --- |\n| 1 | 2 3 |\n| 4 |  |",
        ),
        (
            "<table><tr><td colspan=2>a<td>b<tr><td>c<td>d<td>e</table>",
            "| a |  | b |\n| --- | --- | --- |\n| c | d | e |",
        ),
        (
            "<table><tr><td>a<td>b<tr><td><ul><li>c<li>d</ul><td>e<br>f</table>",
            "| a | b |\n| --- | --- |\n| c d | e f |",
        ),
        ("<table><tr><td>a<tr><td>b</table>", "a\nb"),
        ("<table><tr><td>a<td>b</table>", "a b"),
        ("<table><tr><td>a<td><table><tr><td>b</table><tr><td>c<td>d</table>", "a\n\nb\n\nc d"),
    ] {
        assert_eq!(markdown(page), expected, "{page}");
    }
}

#[test]
fn japanese_gets_no_blanks_that_it_does_not_have() {
    for (page, expected) in [
        ("日本<b>語</b>の<span>文章</span>です", "日本**語**の文章です"),
        ("日本\n  語の\n<b>文章</b>\nです", "日本語の**文章**です"),
        ("日本語 の", "日本語 の"),
        ("日本\nEnglish\n語", "日本 English 語"),
        ("<p>　字下げ</p>", "　字下げ"),
        ("<ruby>漢字<rt>かんじ</rt></ruby>を", "漢字(かんじ)を"),
    ] {
        assert_eq!(markdown(page), expected, "{page}");
    }
}

#[test]
fn text_that_looks_like_a_mark_at_the_beginning_of_a_line_is_no_mark() {
    for (page, expected) in [
        ("<p># a<p>#a", "\\# a\n\n#a"),
        ("<p>&gt; a<p>- a<p>-a<p>```", "\\> a\n\n\\- a\n\n-a\n\n\\```"),
        ("<p>a_b *c* [d] - e # f", "a_b *c* [d] - e # f"),
    ] {
        assert_eq!(markdown(page), expected, "{page}");
    }
}
