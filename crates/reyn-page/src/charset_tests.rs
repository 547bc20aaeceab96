//! Charsets by each way to declare them.

use super::*;

const JAPANESE: &str = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所で\
                        ニャーニャー泣いていた事だけは記憶している。";
const SIMPLIFIED: &str = "学而时习之，不亦说乎？有朋自远方来，不亦乐乎？人不知而不愠，不亦君子乎？这是一个用来测试编码的中文网页，\
                          内容没有特别的意思。";
const TRADITIONAL: &str = "學而時習之，不亦說乎？有朋自遠方來，不亦樂乎？人不知而不慍，不亦君子乎？這是一個用來測試編碼的中文網頁，\
                           內容沒有特別的意思。";
const WESTERN: &str =
    "Les élèves étaient à l’école, où l’été paraissait déjà très loin; ça ne les gênait guère.";

/// The bytes of a page with `text`, and with the charset declared in it when `meta` is given.
fn page(text: &str, charset: &str, meta: Option<&str>) -> Vec<u8> {
    let meta = meta.map(|label| format!("<meta charset=\"{label}\">")).unwrap_or_default();
    let html =
        format!("<!doctype html><html><head>{meta}<title>t</title></head><body><p>{text}</p></body></html>");
    let charset = Charset::for_label(charset.as_bytes()).unwrap();
    charset.encode(&html).0.into_owned()
}

/// What was decoded, as far as it is told: the charset, its source, and whether the text is right.
fn told(bytes: &[u8], header: Option<&str>, text: &str) -> (&'static str, Source, bool) {
    let header = header.map(|label| format!("text/html; charset={label}"));
    let decoded = decode(bytes, header.as_deref().or(Some("text/html")));
    assert!(!decoded.is_lossy, "{header:?} {}", decoded.encoding);
    (decoded.encoding, decoded.source, decoded.text.contains(text))
}

#[test]
fn a_page_is_decoded_whoever_declares_its_charset() {
    use Source::{Detected, Header, Meta};
    for (name, text, wrong) in [
        ("utf-8", JAPANESE, "Shift_JIS"),
        ("utf-8", WESTERN, "ISO-8859-1"),
        ("shift_jis", JAPANESE, "UTF-8"),
        ("shift_jis", JAPANESE, "ISO-8859-1"),
        ("euc-jp", JAPANESE, "UTF-8"),
        ("euc-jp", JAPANESE, "windows-1252"),
        ("iso-2022-jp", JAPANESE, "UTF-8"),
        ("iso-2022-jp", JAPANESE, "ISO-8859-1"),
        ("gbk", SIMPLIFIED, "UTF-8"),
        ("gbk", SIMPLIFIED, "ISO-8859-1"),
        ("big5", TRADITIONAL, "UTF-8"),
        ("big5", TRADITIONAL, "ISO-8859-1"),
        ("windows-1252", WESTERN, "UTF-8"),
    ] {
        let (bare, marked) = (page(text, name, None), page(text, name, Some(name)));
        assert_eq!(told(&bare, Some(name), text), (name, Header, true), "{name}: the header alone");
        assert_eq!(told(&marked, None, text), (name, Meta, true), "{name}: the page alone");
        assert_eq!(told(&marked, Some(name), text), (name, Header, true), "{name}: both");
        assert_eq!(told(&marked, Some(wrong), text), (name, Meta, true), "{name}: the header says {wrong}");
        assert_eq!(
            told(&bare, Some(wrong), text),
            (name, Detected, true),
            "{name}: {wrong} and nothing else"
        );
        assert_eq!(told(&bare, None, text), (name, Detected, true), "{name}: nothing");
        assert_eq!(told(&bare, Some("klingon"), text), (name, Detected, true), "{name}: an unknown label");
    }
}

#[test]
fn a_wrong_charset_of_several_bytes_in_which_all_decodes_is_believed() {
    // EUC-JP and GBK share their code space: no error tells them apart.
    let bytes = page(JAPANESE, "euc-jp", Some("euc-jp"));
    let decoded = decode(&bytes, Some("text/html; charset=gb18030"));
    assert_eq!((decoded.encoding, decoded.source, decoded.is_lossy), ("gb18030", Source::Header, false));
    assert!(!decoded.text.contains(JAPANESE));
}

#[test]
fn a_few_words_of_a_charset_of_one_byte_cannot_be_told_from_its_neighbours() {
    let bytes = page("Zażółć", "iso-8859-2", None);
    let decoded = decode(&bytes, Some("text/html"));
    assert_eq!(decoded.source, Source::Detected);
    assert!(!decoded.is_lossy);
    assert_ne!(decoded.encoding, "iso-8859-2", "a guess, and here a wrong one");
}

#[test]
fn a_single_broken_byte_does_not_change_a_declared_charset() {
    let mut bytes = page(JAPANESE, "utf-8", None);
    bytes.extend(b"\xFF<p>end");
    let decoded = decode(&bytes, Some("text/html; charset=utf-8"));
    assert_eq!((decoded.encoding, decoded.source, decoded.is_lossy), ("utf-8", Source::Header, true));
    assert!(decoded.text.ends_with("\u{FFFD}<p>end"));
}

#[test]
fn a_byte_order_mark_is_stronger_than_any_declaration() {
    let utf16: Vec<u8> = "\u{FEFF}日本".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, encoding) in [(utf16.as_slice(), "utf-16le"), ("\u{FEFF}日本".as_bytes(), "utf-8")] {
        let expected = Decoded { text: "日本".into(), encoding, source: Source::Bom, is_lossy: false };
        assert_eq!(decode(bytes, Some("text/html; charset=shift_jis")), expected);
    }
}

#[test]
fn each_way_to_write_a_declaration_is_read() {
    let (sjis, utf8) = (Some(encoding_rs::SHIFT_JIS), Some(UTF_8));
    for (head, expected) in [
        ("<meta charset=shift_jis>", sjis),
        ("<META CHARSET='Shift_JIS' />", sjis),
        ("<meta http-equiv=\"Content-Type\" content=\"text/html; charset=x-sjis\">", sjis),
        ("<meta content='text/html;charset=\"sjis\"' http-equiv=content-type>", sjis),
        ("<?xml version=\"1.0\" encoding=\"Shift_JIS\"?><rss/>", sjis),
        ("<!-- <meta charset=big5> --><meta charset=cp932>", sjis),
        ("<script>'<meta charset=big5>'</script><meta charset=sjis>", sjis),
        ("<title><meta charset=big5></title><meta charset=sjis>", sjis),
        ("<meta charset=klingon><meta charset=sjis>", sjis),
        ("<meta charset=utf-16le>", utf8),
        ("<meta content='text/html; charset=sjis'>", None),
        ("<meta name=description content='charset=sjis'>", None),
        ("<p charset=sjis>", None),
        ("<meta charset=replacement>", None),
        ("", None),
        ("<meta charset=", None),
    ] {
        assert_eq!(declared_in_page(head.as_bytes()), expected, "{head}");
    }
}

#[test]
fn each_way_to_write_a_header_is_read() {
    let sjis = Some(encoding_rs::SHIFT_JIS);
    for (header, expected) in [
        ("text/html; charset=Shift_JIS", sjis),
        ("text/html;charset=\"sjis\"", sjis),
        ("text/html; boundary=x; CHARSET = 'cp932' ; q=1", sjis),
        ("application/json", Some(UTF_8)),
        ("application/ld+json; profile=x", Some(UTF_8)),
        ("application/json; charset=sjis", sjis),
        ("text/html", None),
        ("text/html; charset=", None),
        ("text/html; charset=klingon", None),
        ("text/html; xcharset=sjis", None),
        ("", None),
    ] {
        assert_eq!(header_charset(header), expected, "{header}");
    }
}

#[test]
fn a_declaration_is_looked_for_in_the_beginning_alone() {
    for (blanks, expected) in [(4000, Some(encoding_rs::BIG5)), (4100, None)] {
        let text = format!("{}<meta charset=big5>", " ".repeat(blanks));
        assert_eq!(declared_in_page(text.as_bytes()), expected, "{blanks}");
    }
}

#[test]
fn json_without_a_charset_is_utf_8() {
    let decoded = decode("{\"a\":\"é\"}".as_bytes(), Some("application/json"));
    let expected =
        Decoded { text: "{\"a\":\"é\"}".into(), encoding: "utf-8", source: Source::Header, is_lossy: false };
    assert_eq!(decoded, expected);
}

#[test]
fn a_character_that_is_cut_at_the_end_is_left_out() {
    for name in ["utf-8", "shift_jis", "euc-jp", "gbk", "big5"] {
        let text = "日本語の文".repeat(20).replace('語', "本");
        let charset = Charset::for_label(name.as_bytes()).unwrap();
        let bytes = charset.encode(&text).0.into_owned();
        let decoded = decode(&bytes[..bytes.len() - 1], Some(&format!("text/plain; charset={name}")));
        let whole = &text[..text.len() - "文".len()];
        assert_eq!((decoded.text.as_str(), decoded.is_lossy), (whole, false), "{name}");
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_decode_to_something(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300), label in 0_usize..6) {
        let label = ["utf-8", "sjis", "iso-2022-jp", "utf-16", "windows-1252", "none"][label];
        let decoded = decode(&bytes, Some(&format!("text/html; charset={label}")));
        proptest::prop_assert!(decoded.text.len() <= bytes.len() * 3);
    }
}
