//! The pieces that pages are cut into.

use super::*;

/// The pieces of a page, written so that a row of a table holds them.
fn pieces(page: &str) -> Vec<String> {
    pieces_in(page, Syntax::Html)
}

fn pieces_in(page: &str, syntax: Syntax) -> Vec<String> {
    let written = |token: Token<'_>| match token {
        Token::Text(text) => format!("'{text}'"),
        Token::End(name) => format!("/{name}"),
        Token::Start(tag) => {
            let attributes: String =
                tag.attributes().map(|(name, value)| format!(" {name}={value}")).collect();
            format!("{}{attributes}", tag.name)
        }
    };
    Scanner::of(page, syntax).map(written).collect()
}

#[test]
fn a_page_is_cut_where_a_browser_cuts_it() {
    for (page, expected) in [
        ("a<b>c</b >d", vec!["'a'", "b", "'c'", "/b", "'d'"]),
        ("<a href=\"x>y\" title='z'>", vec!["a href=x>y title=z"]),
        ("<a href=x/y class = \"c\"disabled/>", vec!["a href=x/y class=c disabled="]),
        ("<a =x=1 / b>", vec!["a =x=1 b="]),
        ("<a\nb\t=\n'c'>", vec!["a b=c"]),
        ("1 < 2 <3", vec!["'1 '", "'< 2 '", "'<3'"]),
        ("a<!-- <b> -->c<!-->d<!--->e<!----!>f", vec!["'a'", "'c'", "'d'", "'e'", "'f'"]),
        ("a<!--b-- >-->c", vec!["'a'", "'c'"]),
        ("a<!-- b", vec!["'a'"]),
        ("<!doctype html><?php x ?>a</ b>c</>d<![CDATA[e]]>", vec!["'a'", "'c'", "'d'"]),
        ("<script>if(a<b){'</p>'}</SCRIPT >x", vec!["script", "'if(a<b){'</p>'}'", "/SCRIPT", "'x'"]),
        ("<script></scripts></script>", vec!["script", "'</scripts>'", "/script"]),
        ("<style>a", vec!["style", "'a'"]),
        ("<title>a<b></title>", vec!["title", "'a<b>'", "/title"]),
        ("<plaintext>a</plaintext>", vec!["plaintext", "'a</plaintext>'"]),
        ("<script/>a", vec!["script", "'a'"]),
        ("<a", vec![]),
        ("a<a b='c", vec!["'a'"]),
        ("a</", vec!["'a'"]),
        ("日<本>語", vec!["'日'", "'<本>語'"]),
        ("<日>", vec!["'<日>'"]),
        ("<a日 é=ü>", vec!["a日 é=ü"]),
        ("", vec![]),
    ] {
        assert_eq!(pieces(page), expected, "{page}");
    }
}

#[test]
fn in_xml_a_tag_may_end_its_element_and_text_may_hold_tags() {
    for (page, expected) in [
        ("<script src=\"a\"/>a", vec!["script src=a", "/script", "'a'"]),
        ("<title />a<br/>b", vec!["title", "/title", "'a'", "br", "/br", "'b'"]),
        ("<a href='x/'>a</a>", vec!["a href=x/", "'a'", "/a"]),
        ("<script>if(a<b){}</script>", vec!["script", "'if(a<b){}'", "/script"]),
        ("a<![CDATA[<b> ]] ]]>c", vec!["'a'", "'<b> ]] '", "'c'"]),
        ("<![CDATA[]]>a", vec!["'a'"]),
        ("<![CDATA[a", vec!["'a'"]),
        ("<?xml version='1.0'?><!DOCTYPE html>a", vec!["'a'"]),
    ] {
        assert_eq!(pieces_in(page, Syntax::Xml), expected, "{page}");
    }
}

proptest::proptest! {
    #[test]
    fn any_page_ends_and_its_pieces_are_of_it(page in "([<>/!\\-a='\" é\n\\]]|<!\\[CDATA\\[){0,80}") {
        for token in Scanner::new(&page).chain(Scanner::of(&page, Syntax::Xml)) {
            let piece = match token {
                Token::Text(text) => text,
                Token::Start(tag) => tag.name,
                Token::End(name) => name,
            };
            proptest::prop_assert!(!piece.is_empty() && page.contains(piece));
        }
    }
}
