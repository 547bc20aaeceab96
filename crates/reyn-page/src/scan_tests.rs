//! The pieces that pages are cut into.

use super::*;

/// The pieces of a page, written so that a row of a table holds them.
fn pieces(page: &str) -> Vec<String> {
    let written = |token: Token<'_>| match token {
        Token::Text(text) => format!("'{text}'"),
        Token::End(name) => format!("/{name}"),
        Token::Start(tag) => {
            let attributes: String =
                tag.attributes().map(|(name, value)| format!(" {name}={value}")).collect();
            format!("{}{attributes}", tag.name)
        }
    };
    Scanner::new(page).map(written).collect()
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

proptest::proptest! {
    #[test]
    fn any_page_ends_and_its_pieces_are_of_it(page in "[<>/!\\-a='\" é\n]{0,80}") {
        for token in Scanner::new(&page) {
            let piece = match token {
                Token::Text(text) => text,
                Token::Start(tag) => tag.name,
                Token::End(name) => name,
            };
            proptest::prop_assert!(!piece.is_empty() && page.contains(piece));
        }
    }
}
