//! What is detected and when it is sure, by tables; what always holds, by random text and bytes.

use super::*;
use proptest::prelude::*;

const JAPANESE: &str = "設定ファイルを読み込んでから、結果を表示します。エラーの場合は終了。\n";
const CHINESE: &str = "这个函数读取配置文件，然后把结果写到指定的目录中。如果文件不存在，就返回错误信息。\n";
const TAIWANESE: &str =
    "這個函式會讀取設定檔，然後把結果寫到指定的目錄中。如果檔案不存在，就傳回錯誤訊息。\n";
const KOREAN: &str =
    "이 함수는 설정 파일을 읽고 결과를 지정한 디렉터리에 저장합니다. 파일이 없으면 오류를 돌려줍니다.\n";
const RUSSIAN: &str = "Эта функция читает файл настроек и пишет результат в указанный каталог.\n";
const FRENCH: &str =
    "La fonction lit le fichier de paramètres, puis écrit le résultat à l'endroit demandé.\n";

fn all() -> impl Iterator<Item = Encoding> {
    NAMES.iter().map(|name| Encoding::by_label(name).unwrap())
}

#[test]
fn every_encoding_of_the_library_has_its_own_name() {
    for encoding in all() {
        assert_eq!(encoding.name(), encoding.0.name().to_ascii_lowercase());
        assert_eq!(format!("{encoding} {encoding:?}"), format!("{0} {0}", encoding.name()));
    }
}

#[test]
fn an_encoding_is_known_by_the_labels_of_the_web_and_of_editors() {
    for (label, expected) in [
        ("latin1", Some("windows-1252")),
        ("Latin-1", Some("windows-1252")),
        ("sjis", Some("shift_jis")),
        ("CP932", Some("shift_jis")),
        ("Shift-JIS", Some("shift_jis")),
        ("shift_jis-unix", Some("shift_jis")),
        ("euc_jp", Some("euc-jp")),
        ("utf8", Some("utf-8")),
        ("UTF-8", Some("utf-8")),
        ("utf-8-unix", Some("utf-8")),
        ("us-ascii", Some("utf-8")),
        ("utf-16", Some("utf-16le")),
        ("UTF-16LE", Some("utf-16le")),
        ("utf_16_be", Some("utf-16be")),
        ("gb2312", Some("gbk")),
        ("cp949", Some("euc-kr")),
        ("koi8_r", Some("koi8-r")),
        (" big5 ", Some("big5")),
        ("replacement", None),
        ("iso-2022-kr", None),
        ("x-user-defined", None),
        ("klingon", None),
        ("", None),
    ] {
        assert_eq!(Encoding::by_label(label).map(Encoding::name), expected, "{label}");
    }
    assert_eq!(Encoding::by_label(&"a".repeat(1 << 20)), None);
    for (alias, known) in ALIASES {
        assert!(Encoding::by_label(alias).is_some(), "{alias} is {known}");
    }
}

#[test]
fn a_label_that_promises_a_mark_or_an_ending_is_not_taken_for_less() {
    for (label, is_known) in [
        ("utf-8-sig", false),
        ("UTF_8_SIG", false),
        ("utf8-sig", false),
        ("utf8_sig", false),
        ("utf-8-with-signature", false),
        ("utf-8-with-signature-unix", false),
        ("utf-8-bom", false),
        ("utf8bom", false),
        ("utf-8-dos", false),
        ("utf-8-mac", false),
        ("shift_jis-dos", false),
        // What keeps its promise.
        ("utf-8", true),
        ("utf-8-unix", true),
        ("utf-16", true),
        ("x-mac-cyrillic", true),
    ] {
        assert_eq!(Encoding::by_label(label).is_some(), is_known, "{label}");
    }
}

#[test]
fn what_would_not_come_back_is_refused() {
    for (encoding, text, expected) in [
        (Encoding::SHIFT_JIS, "a表", Ok(&b"a\x95\x5C"[..])),
        (Encoding::SHIFT_JIS, "a¥", Err('¥')),
        (Encoding::SHIFT_JIS, "1−2", Err('−')),
        (Encoding::SHIFT_JIS, "あ〜", Err('〜')),
        (Encoding::EUC_JP, "‾", Err('‾')),
        (Encoding::ISO_2022_JP, "日¥", Ok(&b"\x1B$BF|\x1B(J\\\x1B(B"[..])),
        (Encoding::ISO_2022_JP, "日ｱ", Err('ｱ')),
        (Encoding::ISO_2022_JP, "日\u{1B}", Err('\u{1B}')),
        (Encoding::WINDOWS_1252, "é日&#1;", Err('日')),
        (Encoding::WINDOWS_1252, "é€", Ok(&b"\xE9\x80"[..])),
        (Encoding::GBK, "中🦀", Err('🦀')),
        (Encoding::UTF_16LE, "a🦀", Ok(&b"a\0\x3E\xD8\x80\xDD"[..])),
        (Encoding::UTF_16BE, "a🦀", Ok(&b"\0a\xD8\x3E\xDD\x80"[..])),
        (Encoding::UTF_8, "é\u{FFFD}", Ok("é\u{FFFD}".as_bytes())),
    ] {
        let expected = expected.map(<[u8]>::to_vec).map_err(Unmappable);
        assert_eq!(encoding.encode(text), expected, "{encoding} {text}");
    }
}

#[test]
fn a_lookalike_is_named_only_where_it_helps() {
    for (encoding, character, expected) in [
        (Encoding::SHIFT_JIS, '〜', Some('～')),
        (Encoding::SHIFT_JIS, '−', Some('－')),
        (Encoding::SHIFT_JIS, '¥', Some('￥')),
        (Encoding::WINDOWS_1252, '￥', Some('¥')),
        (Encoding::SHIFT_JIS, '～', None),
        (Encoding::UTF_8, '〜', None),
        (Encoding::WINDOWS_1252, '〜', None),
        (Encoding::SHIFT_JIS, '🦀', None),
    ] {
        assert_eq!(encoding.lookalike(character), expected, "{encoding} {character}");
    }
}

#[test]
fn decoding_says_where_the_first_undecodable_byte_is() {
    for (encoding, bytes, text, undecodable_at) in [
        (Encoding::UTF_8, &b"ab\xFFc"[..], "ab\u{FFFD}c", Some(2)),
        (Encoding::UTF_8, b"ab\xE6\x97", "ab\u{FFFD}", Some(2)),
        (Encoding::UTF_8, "\u{FEFF}é\u{FFFD}".as_bytes(), "\u{FEFF}é\u{FFFD}", None),
        (Encoding::SHIFT_JIS, b"\x82\xA0\x82\n", "あ\u{FFFD}\n", Some(2)),
        (Encoding::EUC_JP, b"a\x8F\xB0\n", "a\u{FFFD}\n", Some(1)),
        (Encoding::GB18030, b"a\x810\x81b", "a\u{FFFD}0乥", Some(1)),
        (Encoding::UTF_16LE, b"a\0\x3E\xD8b\0c", "a\u{FFFD}b\u{FFFD}", Some(2)),
        (Encoding::ISO_2022_JP, b"a\x1B$BF|\xFF\x1B(Bb", "a日\u{FFFD}b", Some(6)),
        (Encoding::WINDOWS_1252, b"\x81\x90\xE9", "\u{81}\u{90}é", None),
    ] {
        let expected = Decoded { text: text.to_owned(), undecodable_at };
        assert_eq!(encoding.decode(bytes), expected, "{encoding} {bytes:?}");
    }
}

/// What [`detect`] says of a whole file, in short.
fn found(bytes: &[u8]) -> String {
    match detect(bytes, true, None) {
        Ok(Detected { encoding, mark_len, is_sure }) => {
            format!("{encoding} {mark_len} {}", if is_sure { "sure" } else { "unsure" })
        }
        Err(NotText::Binary) => "binary".to_owned(),
        Err(NotText::Utf32) => "utf-32".to_owned(),
    }
}

fn in_encoding(encoding: Encoding, text: &str) -> Vec<u8> {
    encoding.encode(text).unwrap()
}

#[test]
fn long_texts_are_detected() {
    let code = |text: &str| format!("int main(void) {{\n    /* {text} */\n    return 0;\n}}\n");
    for (encoding, text, expected) in [
        (Encoding::UTF_8, JAPANESE, "utf-8 0 sure"),
        (Encoding::SHIFT_JIS, JAPANESE, "shift_jis 0 sure"),
        (Encoding::EUC_JP, JAPANESE, "euc-jp 0 sure"),
        (Encoding::ISO_2022_JP, JAPANESE, "iso-2022-jp 0 sure"),
        (Encoding::GBK, CHINESE, "gbk 0 sure"),
        (Encoding::BIG5, TAIWANESE, "big5 0 sure"),
        (Encoding::EUC_KR, KOREAN, "euc-kr 0 sure"),
        (Encoding::WINDOWS_1251, RUSSIAN, "windows-1251 0 unsure"),
        (Encoding::by_label("koi8-u").unwrap(), RUSSIAN, "koi8-u 0 unsure"),
        (Encoding::WINDOWS_1252, FRENCH, "windows-1252 0 unsure"),
        (Encoding::UTF_16LE, FRENCH, "utf-16le 0 sure"),
        (Encoding::UTF_16BE, FRENCH, "utf-16be 0 sure"),
        // Without a mark, text that is hardly ASCII cannot be told from numbers.
        (Encoding::UTF_16LE, JAPANESE, "binary"),
    ] {
        assert_eq!(found(&in_encoding(encoding, text)), expected, "{encoding}");
        if !encoding.is_utf16() {
            assert_eq!(found(&in_encoding(encoding, &code(text))), expected, "{encoding} in code");
            let rare = format!("{}{text}", "int unsigned_total;\n".repeat(100_000));
            assert_eq!(found(&in_encoding(encoding, &rare)), expected, "{encoding} after 2 MB of ASCII");
        }
    }
}

#[test]
fn short_texts_are_detected_and_sure_only_when_they_say_enough() {
    for (encoding, text, expected) in [
        (Encoding::SHIFT_JIS, "設定ファイルを読み込む", "shift_jis 0 sure"),
        (Encoding::SHIFT_JIS, "設定ファイル", "shift_jis 0 unsure"),
        (Encoding::SHIFT_JIS, "ｶﾅ", "koi8-u 0 unsure"),
        (Encoding::SHIFT_JIS, "ﾃｽﾄﾃﾞｰﾀﾉﾆｭｳﾘｮｸ", "big5 0 unsure"),
        (Encoding::SHIFT_JIS, "ﾃｽﾄのデータを入力してください", "shift_jis 0 sure"),
        (Encoding::EUC_JP, "設定ファイルを読み込む", "euc-jp 0 sure"),
        (Encoding::EUC_JP, "設定", "gbk 0 unsure"),
        (Encoding::ISO_2022_JP, "日", "iso-2022-jp 0 sure"),
        (Encoding::GBK, "读取配置文件", "gbk 0 unsure"),
        (Encoding::BIG5, "讀取設定檔", "big5 0 unsure"),
        (Encoding::EUC_KR, "설정 파일", "euc-kr 0 unsure"),
        (Encoding::WINDOWS_1252, "café", "windows-1252 0 unsure"),
        (Encoding::UTF_8, "é", "utf-8 0 sure"),
        (Encoding::UTF_16LE, "a", "utf-16le 0 sure"),
    ] {
        assert_eq!(found(&in_encoding(encoding, text)), expected, "{encoding} {text}");
    }
}

#[test]
fn marks_binaries_declarations_and_damage_are_told_apart() {
    let sjis = |text: &str| in_encoding(Encoding::SHIFT_JIS, text);
    let joined = |parts: &[&[u8]]| parts.concat();
    for (bytes, expected) in [
        (b"".to_vec(), "utf-8 0 sure"),
        (b"plain\r\n".to_vec(), "utf-8 0 sure"),
        // Marks.
        (b"\xEF\xBB\xBF".to_vec(), "utf-8 3 sure"),
        (joined(&[b"\xEF\xBB\xBF", JAPANESE.as_bytes()]), "utf-8 3 sure"),
        (b"\xEF\xBB\xBFcaf\xE9".to_vec(), "utf-8 3 unsure"),
        (joined(&[b"\xFF\xFE", &in_encoding(Encoding::UTF_16LE, JAPANESE)]), "utf-16le 2 sure"),
        (joined(&[b"\xFE\xFF", &in_encoding(Encoding::UTF_16BE, JAPANESE)]), "utf-16be 2 sure"),
        (b"\xFF\xFEa\0b".to_vec(), "utf-16le 2 unsure"),
        (b"\xFF\xFE\x01\x02\0\0\x01".to_vec(), "binary"),
        (b"\xFF\xFE\0\0a\0\0\0".to_vec(), "utf-32"),
        (b"\0\0\xFE\xFF\0\0\0a".to_vec(), "utf-32"),
        // Binaries.
        (b"\x7FELF\x02\x01\x01\0\0\0".to_vec(), "binary"),
        (b"a\0".to_vec(), "utf-16le 0 sure"),
        (b"a\0b".to_vec(), "binary"),
        (b"one\0two\0".to_vec(), "binary"),
        (b"\x01\0\x02\0\x03\0".to_vec(), "binary"),
        (b"a\0\0\0b\0".to_vec(), "binary"),
        (b"a\0\x3E\xD8".to_vec(), "binary"),
        // Declarations in the text.
        (b"# coding: cp932\n".to_vec(), "shift_jis 0 sure"),
        (joined(&[b"# coding: cp932\n", &sjis("表")]), "shift_jis 0 sure"),
        (b"# coding: latin-1\n\xE9".to_vec(), "windows-1252 0 sure"),
        (joined(&[b"# coding: cp932\n", "表".as_bytes()]), "utf-8 0 sure"),
        (joined(&[b"# coding: cp932\n", &sjis("表示"), b"\xFF"]), "shift_jis 0 unsure"),
        (joined(&[b"# coding: utf-8\n", &sjis("表示")]), "ibm866 0 unsure"),
        // Escape sequences of a terminal, and of no terminal.
        (b"\x1B[31mred\x1B(B\x1B[m".to_vec(), "utf-8 0 sure"),
        (b"\x1B$B\n".to_vec(), "utf-8 0 sure"),
        // Damage: mostly UTF-8; halves of two encodings.
        (joined(&[JAPANESE.as_bytes(), b"\xFF\xE9"]), "utf-8 0 unsure"),
        (joined(&[JAPANESE.as_bytes(), &sjis(JAPANESE)]), "utf-8 0 unsure"),
        (joined(&[&sjis(JAPANESE), b"\xFF\n", &sjis(JAPANESE)]), "shift_jis 0 unsure"),
    ] {
        assert_eq!(found(&bytes), expected, "{}", bytes.escape_ascii());
    }
}

#[test]
fn the_callers_word_counts_except_against_a_mark() {
    let found = |bytes: &[u8], declared| detect(bytes, true, Some(declared)).unwrap();
    for (bytes, declared, encoding, mark_len, is_sure) in [
        (&b"caf\xE9"[..], Encoding::WINDOWS_1252, Encoding::WINDOWS_1252, 0, true),
        (b"caf\xE9", Encoding::WINDOWS_1251, Encoding::WINDOWS_1251, 0, true),
        (b"caf\xE9", Encoding::SHIFT_JIS, Encoding::SHIFT_JIS, 0, false),
        (b"caf\xE9", Encoding::UTF_8, Encoding::UTF_8, 0, false),
        (b"plain", Encoding::SHIFT_JIS, Encoding::SHIFT_JIS, 0, true),
        (b"", Encoding::UTF_16LE, Encoding::UTF_16LE, 0, true),
        (b"plains", Encoding::UTF_16LE, Encoding::UTF_16LE, 0, false),
        (b"\xA2\x30\xA4\x30", Encoding::UTF_16LE, Encoding::UTF_16LE, 0, true),
        (b"a\0b\0", Encoding::UTF_16LE, Encoding::UTF_16LE, 0, true),
        (b"a\0b\0", Encoding::SHIFT_JIS, Encoding::SHIFT_JIS, 0, false),
        (b"a\0b", Encoding::SHIFT_JIS, Encoding::SHIFT_JIS, 0, true),
        (b"\xEF\xBB\xBFa", Encoding::SHIFT_JIS, Encoding::UTF_8, 3, true),
        (b"\xFF\xFEa\0", Encoding::UTF_8, Encoding::UTF_16LE, 2, true),
    ] {
        let expected = Detected { encoding, mark_len, is_sure };
        assert_eq!(found(bytes, declared), expected, "{} as {declared}", bytes.escape_ascii());
    }
}

#[test]
fn a_beginning_may_end_inside_a_character() {
    let long = |encoding: Encoding, text: &str| in_encoding(encoding, &text.repeat(3));
    for (encoding, bytes) in [
        (Encoding::UTF_8, "ab日本".as_bytes().to_vec()),
        (Encoding::SHIFT_JIS, long(Encoding::SHIFT_JIS, JAPANESE)),
        (Encoding::EUC_JP, long(Encoding::EUC_JP, JAPANESE)),
        (Encoding::GBK, long(Encoding::GBK, CHINESE)),
        (Encoding::UTF_16BE, in_encoding(Encoding::UTF_16BE, "some text")),
    ] {
        for cut in 0..4 {
            let beginning = &bytes[..bytes.len() - cut];
            let expected = Detected { encoding, mark_len: 0, is_sure: true };
            assert_eq!(detect(beginning, false, None), Ok(expected), "{encoding} without {cut} bytes");
        }
    }
    assert_eq!(found("ab日本".as_bytes().split_last().unwrap().1), "windows-1252 0 unsure");
}

#[test]
fn a_character_starts_where_its_first_byte_is() {
    for (encoding, line, starts) in [
        (Encoding::UTF_8, "aé日🦀".as_bytes(), &[0, 1, 3, 6, 10][..]),
        (Encoding::UTF_8, b"\xA9\xE6\x97a\xE6", &[0, 1, 3, 4, 5]),
        (Encoding::WINDOWS_1252, b"a\xE9b", &[0, 1, 2, 3]),
        (Encoding::SHIFT_JIS, b"\x95\x5C\x83\x5C\xB1a\x95", &[0, 2, 4, 5, 6, 7]),
        (Encoding::SHIFT_JIS, b"\x85@", &[0, 1, 2]),
        (Encoding::EUC_JP, b"\xA4\xA2\x8F\xB0\xA1\x8E\xB1a", &[0, 2, 5, 7, 8]),
        (Encoding::GBK, b"\xD6\xD0\x81\x40a", &[0, 2, 4, 5]),
        (Encoding::GB18030, b"\xD6\xD0\x810\x810\xD6\xD00", &[0, 2, 6, 8, 9]),
        (Encoding::BIG5, b"\xA4\x40\xA4\xA4@", &[0, 2, 4, 5]),
        (Encoding::EUC_KR, b"\xB0\xA1\x81\x41A", &[0, 2, 4, 5]),
        (Encoding::UTF_16LE, b"a\0\x3E\xD8\x80\xDDb\0", &[0, 2, 6, 8]),
        (Encoding::UTF_16BE, b"\0a\xD8\x3E\xDD\x80\xDD\x80", &[0, 2, 6, 8]),
        (Encoding::UTF_16LE, b"a\0b", &[0, 2]),
        (Encoding::ISO_2022_JP, b"a\x1B$BF|K\\\x1B(Bb", &[0, 1, 4, 6, 8, 11, 12]),
    ] {
        let found: Vec<usize> = (0..line.len() + 3).filter(|at| encoding.is_char_start(line, *at)).collect();
        assert_eq!(found, starts, "{encoding} {}", line.escape_ascii());
    }
}

/// Text with characters of all the languages, and of none.
fn texts() -> impl Strategy<Value = String> {
    let pool: Vec<char> =
        [JAPANESE, CHINESE, TAIWANESE, KOREAN, RUSSIAN, FRENCH, "¥‾〜−①髙ｶﾞ\u{E5E5}🦀\u{1B}"]
            .concat()
            .chars()
            .collect();
    let character =
        prop_oneof![proptest::sample::select(pool), any::<char>(), proptest::char::range(' ', '~')];
    proptest::collection::vec(character, 0..12).prop_map(String::from_iter)
}

fn encodings() -> impl Strategy<Value = Encoding> {
    proptest::sample::select(all().collect::<Vec<_>>())
}

/// Bytes among which leads, trails, digits and escape sequences are frequent.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<u8>().prop_map(|byte| vec![byte]),
        proptest::sample::select(
            b"\x81\x82\x8E\x8F\xA1\xA4\xB0\xC6\xE6\xF0\xFE\xFF0@A~\x7F\n \0\xD8".to_vec()
        )
        .prop_map(|byte| vec![byte]),
        proptest::sample::select(vec!["\x1B$B", "\x1B(B", "\x1B(I", "日", "é", "<meta charset=gbk>"])
            .prop_map(|text| text.as_bytes().to_vec()),
    ];
    proptest::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_can_be_encoded_comes_back(encoding in encodings(), text in texts()) {
        match encoding.encode(&text) {
            Ok(bytes) => prop_assert_eq!(encoding.decode(&bytes), Decoded { text, undecodable_at: None }),
            Err(Unmappable(character)) => {
                prop_assert!(text.contains(character));
                prop_assert!(!encoding.is_utf8() && !encoding.is_utf16());
            }
        }
    }

    #[test]
    fn characters_start_where_the_encoder_put_them(encoding in encodings(), text in texts()) {
        prop_assume!(!encoding.is_stateful());
        let parts: Vec<Vec<u8>> =
            text.chars().filter_map(|character| encoding.encode(character.encode_utf8(&mut [0; 4])).ok()).collect();
        let line = parts.concat();
        let mut starts = vec![0];
        for part in &parts {
            starts.push(starts[starts.len() - 1] + part.len());
        }
        let found: Vec<usize> = (0..=line.len()).filter(|at| encoding.is_char_start(&line, *at)).collect();
        prop_assert_eq!(found, starts);
    }

    #[test]
    fn cutting_where_a_character_starts_changes_no_text(encoding in encodings(), line in bytes()) {
        let Decoded { text: whole, undecodable_at } = encoding.decode(&line);
        // Half a pair of units, or of a four-byte character, is another error at the end than in the middle.
        let halves = [Encoding::GBK, Encoding::GB18030, Encoding::UTF_16LE, Encoding::UTF_16BE];
        prop_assume!(!encoding.is_stateful() && (undecodable_at.is_none() || !halves.contains(&encoding)));
        let mut starts = 0;
        for at in 0..=line.len() {
            if encoding.is_char_start(&line, at) {
                let (before, after) = line.split_at(at);
                prop_assert_eq!(encoding.decode(before).text + &encoding.decode(after).text, &*whole, "at {}", at);
                starts += 1;
            }
        }
        prop_assert!(starts + 1 >= whole.chars().count(), "{} starts for {:?}", starts, whole);
    }

    #[test]
    fn what_is_sure_decodes(bytes in bytes(), declared in proptest::option::of(encodings())) {
        let _ = detect(&bytes, false, declared);
        if let Ok(Detected { encoding, mark_len, is_sure: true }) = detect(&bytes, true, declared) {
            prop_assert_eq!(encoding.decode(&bytes[mark_len..]).undecodable_at, None);
        }
    }

    #[test]
    fn every_undecodable_byte_is_found(encoding in encodings(), bytes in bytes()) {
        let Decoded { text, undecodable_at } = encoding.decode(&bytes);
        // Only UTF-8, UTF-16 and GB 18030 have U+FFFD itself.
        if undecodable_at.is_some() {
            prop_assert!(text.contains(char::REPLACEMENT_CHARACTER));
        }
        let at = undecodable_at.unwrap_or(bytes.len());
        prop_assert_eq!(encoding.undecodable_at(&bytes[..at], false), None);
    }
}
