//! Edits: what they change, keep, refuse and offer.

use std::fmt::Write as _;

use super::*;
use crate::encoding::NotText;

const ONCE: bool = false;
const ALL: bool = true;

fn edit<'a>(old: &'a str, new: &'a str, replace_all: bool) -> Edit<'a> {
    Edit { old, new, replace_all, encoding: None }
}

fn declared(label: &str) -> Option<Encoding> {
    Some(Encoding::by_label(label).expect("a label of the tests"))
}

/// The file after the edit, or the message and the hint.
fn outcome(bytes: &[u8], edit: &Edit<'_>) -> Result<Vec<u8>, String> {
    match plan(bytes, edit) {
        Ok(plan) => Ok(plan.apply(bytes)),
        Err(error) => {
            let mut text = error.to_string();
            if let Some(hint) = error.hint() {
                let _ = write!(text, "\n=> {hint}");
            }
            Err(text)
        }
    }
}

type Row<'a> = (&'a str, &'a [u8], Edit<'a>, &'a [u8]);

#[test]
fn edits_change_what_they_name_and_nothing_else() {
    let named = |label: &str, edit: Edit<'static>| Edit { encoding: declared(label), ..edit };
    let table: &[Row<'_>] = &[
        ("a word", b"let x = 1;\n", edit("x", "y", ONCE), b"let y = 1;\n"),
        ("the whole file", b"a", edit("a", "b", ONCE), b"b"),
        ("deletion", b"a\nb\nc\n", edit("b\n", "", ONCE), b"a\nc\n"),
        ("deletion of all", b"aXbX", edit("X", "", ALL), b"ab"),
        ("all, left to right", b"aaaa-aaa", edit("aa", "b", ALL), b"bb-ba"),
        ("insertion before", b"b\n", edit("b\n", "a\nb\n", ONCE), b"a\nb\n"),
        ("insertion after", b"a\n", edit("a\n", "a\nb\n", ONCE), b"a\nb\n"),
        ("no ending at the end", b"a\nb", edit("b", "c", ONCE), b"a\nc"),
        ("latin-1 beside", b"x=1;\n// caf\xe9\n", edit("x=1", "x=2", ONCE), b"x=2;\n// caf\xe9\n"),
        ("latin-1 directly before a blank", b"caf\xe9 x\n", edit(" x", " y", ONCE), b"caf\xe9 y\n"),
        ("broken bytes beside", b"\xff\xfa\x80\nx\n", edit("x", "y", ONCE), b"\xff\xfa\x80\ny\n"),
        ("utf-8", "あ い\n".as_bytes(), edit("い", "う", ONCE), "あ う\n".as_bytes()),
        ("utf-8 after ascii only", b"a\n", edit("a", "ä", ONCE), "ä\n".as_bytes()),
        ("ascii after utf-8", "éx\n".as_bytes(), edit("x", "y", ONCE), "éy\n".as_bytes()),
        ("a mark stays", b"\xEF\xBB\xBFa\n", edit("a", "é", ONCE), b"\xEF\xBB\xBF\xC3\xA9\n"),
        ("a mark stays before ascii", b"\xEF\xBB\xBFa\n", edit("a", "b", ONCE), b"\xEF\xBB\xBFb\n"),
        ("utf-16 by its mark", b"\xFF\xFEa\0b\0", edit("b", "cd", ONCE), b"\xFF\xFEa\0c\0d\0"),
        ("utf-16be by its mark", b"\xFE\xFF\0a\0b", edit("a", "c", ONCE), b"\xFE\xFF\0c\0b"),
        // U+6100 and U+0061: `a` is there as bytes at an odd place too.
        (
            "utf-16 in whole units",
            b"\xFF\xFE\x00\x61\x00\x62a\0",
            edit("a", "c", ONCE),
            b"\xFF\xFE\x00\x61\x00\x62c\0",
        ),
        ("utf-16 declared", b"a\0b\0", named("utf-16le", edit("b", "é", ONCE)), b"a\0\xe9\0"),
        ("latin-1 declared", b"caf\xe9", named("latin1", edit("café", "thé", ONCE)), b"th\xe9"),
        ("gbk declared", b"\xb0\xa1\xb0\xa2\n", named("gbk", edit("阿", "啊", ONCE)), b"\xb0\xa1\xb0\xa1\n"),
        // 阿 is B0 A2; between A1 and A3 the bytes B0 A2 cross two characters.
        (
            "gbk at characters",
            b"\xa3\xb0\xa2\xa3\n\xb0\xa2",
            named("gbk", edit("阿", "啊", ONCE)),
            b"\xa3\xb0\xa2\xa3\n\xb0\xa1",
        ),
        // 表 is 95 5C in Shift_JIS: its second byte is no backslash.
        (
            "no half of a character",
            b"\x95\x5c \\n\n",
            named("shift_jis", edit("\\", "/", ONCE)),
            b"\x95\x5c /n\n",
        ),
        (
            "all but the half ones",
            b"\\\x95\x5c\\\n",
            named("shift_jis", edit("\\", "/", ALL)),
            b"/\x95\x5c/\n",
        ),
        // 81 30 81 30 is one character of gb18030.
        (
            "no digit of four bytes",
            b"\x81\x30\x81\x30 0",
            named("gb18030", edit("0", "1", ONCE)),
            b"\x81\x30\x81\x30 1",
        ),
        ("escapes of terminals", b"\x1b[1mx\x1b[0m\n", edit("x", "y", ONCE), b"\x1b[1my\x1b[0m\n"),
    ];
    for (name, bytes, edit, expected) in table {
        assert_eq!(outcome(bytes, edit), Ok(expected.to_vec()), "{name}");
    }
}

#[test]
fn line_endings_stay_as_they_are() {
    let table: &[Row<'_>] = &[
        ("lf matches crlf", b"a\r\nb\r\nc\r\n", edit("a\nb\n", "a\nx\n", ONCE), b"a\r\nx\r\nc\r\n"),
        ("crlf matches lf", b"a\nb\nc\n", edit("a\r\nb\r\n", "a\r\nx\r\n", ONCE), b"a\nx\nc\n"),
        ("each on its own", b"a\r\nb\nc\r\n", edit("a\nb\nc\n", "a\nB\nc\n", ONCE), b"a\r\nB\nc\r\n"),
        ("equal lines keep theirs", b"a\nb\r\nc\nd\r\n", edit("a\nb\nc\nd", "a\nc\nd", ONCE), b"a\nc\nd\r\n"),
        (
            "an inserted line takes that of the one before",
            b"a\r\nb\n",
            edit("a\nb\n", "a\nx\nb\n", ONCE),
            b"a\r\nx\r\nb\n",
        ),
        ("at the beginning, of the one after", b"a\nb\r\n", edit("b\n", "x\nb\n", ONCE), b"a\nx\r\nb\r\n"),
        ("else of the line where it stands", b"a\nbc\r\nd\n", edit("b", "b\nx", ONCE), b"a\nb\r\nxc\r\nd\n"),
        ("else what most have", b"a\r\nb\r\nc\nd", edit("d", "d\ne", ONCE), b"a\r\nb\r\nc\nd\r\ne"),
        ("without any, that of `new`", b"a", edit("a", "a\r\nb\nc", ONCE), b"a\r\nb\nc"),
        ("a changed line keeps its own", b"a\r\nb\nc\n", edit("a\nb\n", "x\ny\n", ONCE), b"x\r\ny\nc\n"),
        ("changed lines keep theirs", b"a\r\nb\nc", edit("a\nb\nc", "x\ny\nz", ONCE), b"x\r\ny\nz"),
        ("each place that of its line", b"ab\r\nab\n", edit("a", "a\nx", ALL), b"a\r\nxb\r\na\nxb\n"),
        (
            "fewer than half are not most",
            b"a\r\nb\r\nc\nd\ne\nf",
            edit("f", "f\ng", ONCE),
            b"a\r\nb\r\nc\nd\ne\nf\ng",
        ),
        ("more lines than before", b"a\r\nb\r\n", edit("a\nb", "x\ny\nz", ONCE), b"x\r\ny\r\nz\r\n"),
        ("a deleted line goes with its ending", b"a\r\nb\r\nc", edit("b\n", "", ONCE), b"a\r\nc"),
        ("joined lines", b"a\r\nb\r\n", edit("a\nb", "ab", ONCE), b"ab\r\n"),
        ("a lone return is a character", b"a\rb\r\nc\n", edit("a\rb\nc", "a\rB\nc", ONCE), b"a\rB\r\nc\n"),
        (
            "each place of many",
            b"a\r\nb\na\nb\r\n",
            edit("a\nb", "a\nx\nb", ALL),
            b"a\r\nx\r\nb\na\nx\nb\r\n",
        ),
        ("only endings: to crlf", b"a\nb\n", edit("a\nb\n", "a\r\nb\r\n", ONCE), b"a\r\nb\r\n"),
        ("only endings: to lf", b"a\r\nb\r\n", edit("\r\n", "\n", ALL), b"a\nb\n"),
        ("only endings: no crlf is cut", b"a\r\nb\nc\r\n", edit("\n", "\r\n", ALL), b"a\r\nb\r\nc\r\n"),
        ("a feed at the beginning", b"a\r\nb\r\n", edit("\nb", "\nc", ONCE), b"a\r\nc\r\n"),
        ("an edit before a crlf", b"a\r\n\r\nb\r\n", edit("a\n\n", "a\n", ONCE), b"a\r\nb\r\n"),
    ];
    for (name, bytes, edit, expected) in table {
        assert_eq!(outcome(bytes, edit), Ok(expected.to_vec()), "{name}");
    }
}

#[test]
fn every_encoding_keeps_every_ending_once_and_for_all() {
    let encodings = [
        ("utf-8", "前の行 é", "次の行"),
        ("gbk", "上一行", "下一行"),
        ("shift_jis", "表の行", "次のソ"),
        ("utf-16le", "前の行", "次の行"),
    ];
    let endings: [(&str, [&str; 4]); 3] =
        [("lf", ["\n"; 4]), ("crlf", ["\r\n"; 4]), ("mixed", ["\r\n", "\n", "\r\n", "\n"])];
    for (label, above, below) in encodings {
        for (ending, [a, b, c, d]) in endings {
            for (old, new) in [("key = 1\nend", "key = 2\nnew\nend"), ("key = 1\nend", "键 = 2\nnew\nend")] {
                if label == "shift_jis" && new.contains('键') {
                    continue;
                }
                let encoding = declared(label);
                let bytes = |text: &str| encoding.expect("declared").encode(text).expect("in the encoding");
                let name = format!("{label} {ending} {new:?}");
                let once = bytes(&format!("{above}{a}key = 1{b}end{c}{below}{d}"));
                let expected = bytes(&format!(
                    "{above}{a}{}{b}new{b}end{c}{below}{d}",
                    new.split('\n').next().expect("a first line")
                ));
                let wish = Edit { old, new, replace_all: ONCE, encoding };
                assert_eq!(outcome(&once, &wish), Ok(expected.clone()), "once {name}");
                let twice = [once.clone(), once.clone()].concat();
                let wish = Edit { replace_all: ALL, ..wish };
                assert_eq!(outcome(&twice, &wish), Ok([expected.clone(), expected].concat()), "all {name}");
                let several = outcome(&twice, &Edit { replace_all: ONCE, ..wish });
                assert!(several.is_err_and(|text| text.contains("2 times, in lines 2 and 6")), "{name}");
            }
        }
    }
}

#[test]
fn an_edit_that_has_no_single_reading_says_why() {
    let named = |label: &str, edit: Edit<'static>| Edit { encoding: declared(label), ..edit };
    const SEVERAL: &str =
        "\n=> add lines before or after to `old_string` until it names one place, or set `replace_all`";
    const NAME_IT: &str = "\n=> give the file's encoding as `encoding`";
    let table: Vec<(&str, &[u8], Edit<'_>, String)> = vec![
        ("empty", b"a\nb\na\n", edit("", "b", ONCE), "`old_string` is empty, so it names no place\n=> to add to the end of the file, give how it ends, \"b\\na\", as `old_string` and the same with the new text after it as `new_string`; `write_file` creates a file or replaces all of it".into()),
        ("empty, in a file that ends in nothing told apart", b"\n\n", edit("", "b", ONCE), "`old_string` is empty, so it names no place\n=> to add to the end of the file, read its last lines, give them as `old_string` and the same with the new text after it as `new_string`; `write_file` creates a file or replaces all of it".into()),
        ("the same", b"a", edit("a", "a", ONCE), "nothing would change: `old_string` and `new_string` are the same\n=> give in `new_string` what shall stand there".into()),
        ("two", b"a\nb\na\n", edit("a", "b", ONCE), format!("`old_string` is in the file 2 times, in lines 1 and 3{SEVERAL}")),
        ("two that overlap", b"aaa", edit("aa", "b", ONCE), format!("`old_string` is in the file 2 times, in line 1{SEVERAL}")),
        ("two in a line", b"\naa", edit("a", "b", ONCE), format!("`old_string` is in the file 2 times, in line 2{SEVERAL}")),
        ("twelve", b"a\na\na\na\na\na\na\na\na\na\na\na\n", edit("a", "b", ONCE), format!("`old_string` is in the file 12 times, in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more{SEVERAL}")),
        ("binary", b"a\0\x01\x02\xff\xfe\0", edit("a", "b", ONCE), "the file is not text: it holds NUL bytes and is not UTF-16\n=> if it is text nevertheless, give the file's encoding as `encoding`".into()),
        ("iso-2022-jp", b"\x1b$B$\"\x1b(B a\n", edit("a", "b", ONCE), format!("the file is in `iso-2022-jp`, where a byte's meaning depends on those before it, so no part of it can be replaced on its own\n=> replace all of it by `write_file`; if it is in another encoding, {}", &NAME_IT[4..])),
        ("not utf-8", b"a\n\xff b\n", named("utf-8", edit("b", "é", ONCE)), "line 2 is not `utf-8`: byte `\\xff` at offset 2 cannot be decoded\n=> if it is in another encoding, give the file's encoding as `encoding`; strings of ASCII alone can be replaced as it is".into()),
        ("not what is declared", b"a b", named("utf-16le", edit("a", "b", ONCE)), "the file does not look like `utf-16le`, which was given as its encoding\n=> leave `encoding` out, or give the right one".into()),
        ("utf-16, which is not what is declared", b"a\0b\0", named("utf-8", edit("a", "b", ONCE)), "the file does not look like `utf-8`, which was given as its encoding\n=> leave `encoding` out, or give the right one".into()),
        ("lacks a character and has one like it", b"\x95\x5c", named("shift_jis", edit("表", "〜", ONCE)), "`new_string` has `〜` (U+301C), which the file's encoding `shift_jis` lacks\n=> the encoding has `～` (U+FF5E) for it".into()),
        ("lacks a character", b"caf\xe9", named("windows-1252", edit("caf", "😀", ONCE)), "`new_string` has `😀` (U+1F600), which the file's encoding `windows-1252` lacks\n=> write it in other characters, or as an escape that the file's language has".into()),
        ("a half character in a guess", b"\x95\x5c", edit("\\", "/", ONCE), format!("what matches `old_string` in line 1 may be the second half of a character: the file's encoding is only guessed to be `GUESS`{NAME_IT}")),
        ("not there", b"a\n", edit("xyz", "b", ONCE), "`old_string` is not in the file, and no line is like any of it\n=> read the file and copy `old_string` from it".into()),
        ("old lacks a character", b"caf\xe9 a", named("windows-1252", edit("😀", "x", ONCE)), "`old_string` is not in the file: it has `😀` (U+1F600), which the file's encoding `windows-1252` lacks, and no line is like any of it\n=> read the file and copy `old_string` from it".into()),
        ("a mark stays", b"\xEF\xBB\xBFa", edit("\u{FEFF}a", "b", ONCE), "`old_string` is not in the file; apart from zero-width characters it is there once, in line 1:\na\n=> if that place is meant, give exactly this text as `old_string`".into()),
        ("too short to be there already", b"a\nv = 1\n", edit("v = 0", "v", ONCE), "`old_string` is not in the file; the nearest lines are:\n2: v = 1\n=> if one of these places is meant, give exactly what stands there as `old_string`, without the line numbers".into()),
        ("there already", b"a\nbbb = 12\n", edit("bbb = 10", "bbb = 12", ONCE), "`old_string` is not in the file; `new_string` is there already, once, in line 2\n=> look whether the edit was made before".into()),
    ];
    for (name, bytes, edit, expected) in table {
        let text = outcome(bytes, &edit).expect_err(name);
        let guess = encoding::detect(bytes, true, None).map_or("", |found| found.encoding.name());
        assert_eq!(text, expected.replace("GUESS", guess), "{name}");
    }
}

#[test]
fn characters_outside_ascii_ask_for_an_encoding_that_is_sure() {
    // Too short to be told from other encodings.
    let bytes = b"caf\xe9\n";
    let guessed = plan(bytes, &edit("caf", "thé", ONCE));
    assert!(matches!(guessed, Err(EditError::Guessed(_))), "{guessed:?}");
    let wish = Edit { encoding: declared("latin1"), ..edit("caf", "thé", ONCE) };
    assert_eq!(outcome(bytes, &wish), Ok(b"th\xe9\xe9\n".to_vec()));
}

#[test]
fn what_is_like_the_string_is_offered_and_not_applied() {
    let file = "x\nsay “hi” – now\nsee\u{A0}it  there\nvalue = １２\ncafe\u{301}\nzero\u{200B}width\n";
    let table = [
        ("say \"hi\" – now", "quotes it is there once, in line 2 (with U+201C, U+201D):\nsay “hi” – now"),
        (
            "say \"hi\" - now",
            "quotes and dashes it is there once, in line 2 (with U+201C, U+201D, U+2013):\nsay “hi” – now",
        ),
        ("see it there", "blanks it is there once, in line 3 (with U+00A0):\nsee\u{A0}it  there"),
        (
            "value = 12",
            "full-width characters it is there once, in line 4 (with U+FF11, U+FF12):\nvalue = １２",
        ),
        ("café", "composed characters it is there once, in line 5 (with U+0301):\ncafe\u{301}"),
        ("zerowidth", "zero-width characters it is there once, in line 6 (with U+200B):\nzero\u{200B}width"),
        (
            "  5: cafe\u{301}\n  6: zero\u{200B}width\n",
            "line numbers it is there once, in lines 5-6:\ncafe\u{301}\nzero\u{200B}width\n",
        ),
        (
            "1\tx\n2\tsay \"hi\" – now",
            "quotes and line numbers it is there once, in lines 1-2 (with U+201C, U+201D):\nx\nsay “hi” – now",
        ),
    ];
    for (old, expected) in table {
        let text = outcome(file.as_bytes(), &edit(old, "new", ONCE)).expect_err(old);
        let expected = format!(
            "`old_string` is not in the file; apart from {expected}\n=> if that place is meant, give exactly this text as `old_string`"
        );
        assert_eq!(text, expected, "{old}");
        let (_, offered) = expected.split_once(":\n").expect("an offer");
        let offered = offered.split("\n=>").next().expect("a text");
        assert!(outcome(file.as_bytes(), &edit(offered, "new", ONCE)).is_ok(), "{old}: the offer works");
    }
}

#[test]
fn several_places_that_are_alike_are_listed() {
    let text = outcome("“a”\nb\n„a“\n".as_bytes(), &edit("\"a\"", "x", ONCE)).expect_err("not there");
    assert_eq!(
        text,
        "`old_string` is not in the file; apart from quotes it is there several times, in lines 1 and 3\n\
         => read these lines and give exactly what stands there as `old_string`"
    );
}

#[test]
fn the_nearest_lines_are_shown() {
    let file = "fn one() {}\n\nfn total_of(items: &[Item]) -> u64 {\n    items.iter().sum()\n}\n";
    let wish = edit("fn total_of(items: &Vec<Item>) -> u64 {\n    items.sum()", "x", ONCE);
    let text = outcome(file.as_bytes(), &wish).expect_err("not there");
    assert_eq!(
        text,
        "`old_string` is not in the file; the nearest lines are:\n\
         3: fn total_of(items: &[Item]) -> u64 {\n\
         4:     items.iter().sum()\n\
         => if one of these places is meant, give exactly what stands there as `old_string`, without the line numbers"
    );
}

#[test]
fn an_error_without_content_shows_nothing_of_the_file() {
    let files: [(&[u8], Edit<'_>); 4] = [
        (b"let secret = 'hunter2';\n", edit("let secret = 'hunter3'; ", "x", ONCE)),
        ("let secret = “hunter2”;\n".as_bytes(), edit("let secret = \"hunter2\";", "x", ONCE)),
        (b"secret \xf3\n", Edit { encoding: declared("utf-8"), ..edit("é", "x", ONCE) }),
        ("“secret”“secret”".as_bytes(), edit("\"secret\"", "x", ONCE)),
    ];
    let mut shown = vec![];
    for (bytes, edit) in files {
        let error = plan(bytes, &edit).expect_err("no match");
        shown.push(error.without_content().to_string());
    }
    assert_eq!(
        shown,
        [
            "`old_string` is not in the file",
            "`old_string` is not in the file",
            "line 1 is not `utf-8`: the byte at offset 7 cannot be decoded",
            "`old_string` is not in the file",
        ]
    );
}

#[test]
fn an_offer_is_cut_when_it_is_long() {
    let line = "“long” ".repeat(500);
    let error = plan(line.as_bytes(), &edit(&line.replace(['“', '”'], "\""), "x", ONCE));
    let Err(EditError::NotFound(not_found)) = error else { panic!("{error:?}") };
    let Help::Alike(alike) = &not_found.help else { panic!("{not_found:?}") };
    assert_eq!(alike.text.as_ref().map(|text| text.chars().count()), Some(2_000));
    assert!(alike.is_cut);
}

#[test]
fn characters_in_unusual_bytes_are_said_to_be_that() {
    // NEC's ≒ is 87 90, the usual one 81 E0; both decode to the same character.
    let wish = Edit { encoding: declared("shift_jis"), ..edit("a≒b", "c", ONCE) };
    let text = outcome(b"a\x87\x90b", &wish).expect_err("other bytes");
    assert_eq!(
        text,
        "`old_string` is not in the file in the bytes that are usual for it: line 1 has some of its \
         characters in others\n=> leave such characters out of `old_string`"
    );
    assert_eq!(outcome(b"a\x81\xe0b", &wish), Ok(b"c".to_vec()));
}

#[test]
fn several_places_in_unusual_bytes_are_said_to_be_that() {
    let wish = Edit { encoding: declared("shift_jis"), ..edit("a≒b", "c", ONCE) };
    let text = outcome(b"a\x87\x90b\nx\na\x87\x90b", &wish).expect_err("other bytes");
    assert_eq!(
        text,
        "`old_string` is not in the file in the bytes that are usual for it: lines 1 and 3 have some of its \
         characters in others\n=> leave such characters out of `old_string`"
    );
}

#[test]
fn a_character_in_two_byte_forms_is_never_replaced_in_one_of_them() {
    let refused = |lines| {
        Err(format!(
            "`old_string` is in {lines} in bytes that are not usual for it: `shift_jis` has a character of it in \
             two byte forms, and both are in this file; nothing was changed\n\
             => leave such characters out of `old_string`, or replace all of the file by `write_file`"
        ))
    };
    // NEC's 髙 is EE E0, IBM's is FB FC; the usual one is FB FC. ≒ is 87 90 and 81 E0.
    type Row<'a> = (&'a str, &'a [u8], &'a str, bool, Result<&'a [u8], String>);
    let table: &[Row<'_>] = &[
        ("one of two that look the same", b"\xEE\xE0\xFB\xFC", "髙", ONCE, refused("line 1")),
        ("all of them", b"\xEE\xE0\xFB\xFC", "髙", ALL, refused("line 1")),
        (
            "in other lines, over an ending",
            b"\x81\xE0a\r\nb\n\x87\x90a\nb\x87\x90a\nb",
            "≒a\nb",
            ALL,
            refused("lines 3 and 4"),
        ),
        ("left to right from another place", b"\xEE\xE0\xFB\xFC\xFB\xFC", "髙髙", ALL, refused("line 1")),
        ("elsewhere it does no harm", b"\x87\x90 \x81\xE0b", "≒b", ONCE, Ok(b"\x87\x90 X")),
        ("as part of what stays", b"\x87\x90b \x81\xE0", "b", ONCE, Ok(b"\x87\x90X \x81\xE0")),
        ("one form", b"\xFB\xFC\xFB\xFC", "髙", ALL, Ok(b"XX")),
        ("one form and one place", b"\xFB\xFC", "髙", ONCE, Ok(b"X")),
    ];
    for (name, bytes, old, all, expected) in table {
        let wish = Edit { encoding: declared("shift_jis"), ..edit(old, "X", *all) };
        assert_eq!(outcome(bytes, &wish), expected.clone().map(<[u8]>::to_vec), "{name}");
    }
}

#[test]
fn a_wave_dash_offers_the_full_width_tilde() {
    let utf8 = outcome("x～y\n".as_bytes(), &edit("x〜y", "z", ONCE)).expect_err("the other one");
    assert_eq!(
        utf8,
        "`old_string` is not in the file; apart from full-width characters it is there once, in line 1 (with \
         U+FF5E):\nx～y\n=> if that place is meant, give exactly this text as `old_string`"
    );
    for label in ["shift_jis", "gbk", "euc-kr", "euc-jp", "utf-16le"] {
        let encoding = declared(label);
        for (there, wished) in [("x～y", "x〜y"), ("x〜y", "x～y")] {
            let Ok(bytes) = encoding.expect("declared").encode(there) else { continue };
            let wish = Edit { encoding, ..edit(wished, "z", ONCE) };
            let text = outcome(&bytes, &wish).expect_err("the other one");
            assert!(text.contains("it is there once, in line 1 (with U+"), "{label} {text}");
            assert!(text.contains(there), "{label} {text}");
        }
    }
}

#[test]
fn control_characters_are_shown_by_their_numbers() {
    let named = |label: &str, old, new| Edit { encoding: declared(label), ..edit(old, new, ONCE) };
    let table: Vec<(&str, &[u8], Edit<'_>, &str)> = vec![
        (
            "lacked",
            b"caf\xe9\n",
            named("windows-1252", "caf", "\u{86}"),
            "`new_string` has U+0086, which the file's encoding `windows-1252` lacks\n=> write it in other characters, or as an escape that the file's language has",
        ),
        (
            "lacked and looked for",
            b"a\n",
            named("windows-1252", "\u{86}", "b"),
            "`old_string` is not in the file: it has U+0086, which the file's encoding `windows-1252` lacks, and no line is like any of it\n=> read the file and copy `old_string` from it",
        ),
        (
            "without width",
            b"a\n",
            named("windows-1252", "a", "\u{200B}"),
            "`new_string` has U+200B, which the file's encoding `windows-1252` lacks\n=> write it in other characters, or as an escape that the file's language has",
        ),
        (
            "offered",
            "\t“a\u{85}\u{1b}[0m”\n".as_bytes(),
            edit("\t\"a\u{85}\u{1b}[0m\"", "b", ONCE),
            "`old_string` is not in the file; apart from quotes it is there once, in line 1 (with U+201C, U+201D):\n\t“a<U+0085><U+001B>[0m”\n=> if that place is meant, give exactly this text as `old_string`, with control characters themselves where their numbers are shown",
        ),
        (
            "near",
            "fn total(\u{85}items)\r\n".as_bytes(),
            edit("fn total(items) {", "b", ONCE),
            "`old_string` is not in the file; the nearest lines are:\n1: fn total(<U+0085>items)\n=> if one of these places is meant, give exactly what stands there as `old_string`, without the line numbers, with control characters themselves where their numbers are shown",
        ),
    ];
    for (name, bytes, edit, expected) in table {
        assert_eq!(outcome(bytes, &edit), Err(expected.to_owned()), "{name}");
    }
}

#[test]
fn splices_are_small_and_know_their_lines() {
    let bytes = b"one\r\ntwo\r\nthree\r\nfour\r\n";
    let found =
        plan(bytes, &edit("one\ntwo\nthree\nfour", "one\ntoo\nthree\nfive", ONCE)).expect("one reading");
    let splice = |range: Range<usize>, with: &[u8], line| Splice { range, with: with.to_vec(), line };
    let splices = vec![splice(6..7, b"o", 2), splice(18..21, b"ive", 4)];
    assert_eq!(found, Plan { encoding: None, splices, replacements: 1 });
}

#[test]
fn the_encoding_is_told_when_it_was_looked_for() {
    let encoding = |bytes: &[u8], old, new| plan(bytes, &edit(old, new, ONCE)).expect("one reading").encoding;
    assert_eq!(encoding(b"a", "a", "b"), None);
    assert_eq!(encoding(b"a", "a", "é"), Some(Encoding::UTF_8));
    assert_eq!(encoding(b"\xFF\xFEa\0", "a", "b"), Some(Encoding::UTF_16LE));
}

#[test]
fn strings_that_repeat_themselves_end_soon() {
    let file = "a".repeat(1 << 20);
    let long = "a".repeat(1 << 19);
    let several = plan(file.as_bytes(), &edit(&long, "b", ONCE));
    assert!(matches!(several, Err(EditError::Several { is_cut: true, .. })), "{several:?}");
    let all = plan(file.as_bytes(), &edit(&long, "b", ALL)).expect("left to right");
    assert_eq!(all.apply(file.as_bytes()), b"bb");
    let lines = "a\n".repeat(1 << 19);
    let several = plan(lines.as_bytes(), &edit(&"a\r\n".repeat(1 << 18), "b", ONCE));
    assert!(matches!(several, Err(EditError::Several { .. })), "{several:?}");
    // In Shift_JIS the string is there at each second byte, and never as characters.
    let halves = b"\x95\x5c".repeat(1 << 19);
    let wish = format!("\\{}", "表".repeat(1 << 17));
    let wish = Edit { encoding: declared("shift_jis"), ..edit(&wish, "b", ONCE) };
    let none = plan(&halves, &wish);
    assert!(matches!(none, Err(EditError::TooMany { .. } | EditError::NotFound(_))), "{none:?}");
}

#[test]
fn an_edit_adds_at_most_its_bound() {
    let file = "a".repeat(1000);
    let large = "b".repeat(1 << 20);
    let error = plan(file.as_bytes(), &edit("a", &large, ALL));
    assert_eq!(error, Err(EditError::TooLarge { growth_bytes_max: GROWTH_BYTES_MAX }));
    let once = plan(b"a", &edit("a", &large, ALL)).expect("small enough");
    assert_eq!(once.apply(b"a"), large.as_bytes());
    assert_eq!(plan(b"\xFF\xFE\0\0a\0\0\0", &edit("a", "b", ONCE)), Err(EditError::NotText(NotText::Utf32)));
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    /// The plan backwards.
    fn undone(plan: &Plan, before: &[u8], after: &[u8]) -> Vec<u8> {
        let mut result = vec![];
        let (mut read, mut shift) = (0, 0_i64);
        for splice in &plan.splices {
            let start = usize::try_from(i64::try_from(splice.range.start).unwrap() + shift).unwrap();
            result.extend_from_slice(&after[read..start]);
            result.extend_from_slice(&before[splice.range.clone()]);
            read = start + splice.with.len();
            shift += i64::try_from(splice.with.len()).unwrap() - i64::try_from(splice.range.len()).unwrap();
        }
        result.extend_from_slice(&after[read..]);
        result
    }

    fn label() -> impl Strategy<Value = Option<Encoding>> {
        prop::sample::select(vec![
            None,
            declared("utf-8"),
            declared("gbk"),
            declared("gb18030"),
            declared("shift_jis"),
            declared("utf-16le"),
            declared("utf-16be"),
            declared("windows-1252"),
            declared("iso-2022-jp"),
        ])
    }

    /// Bytes and strings of few kinds, so that matches are likely.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            4 => prop::sample::select(b"ab\n\r\\0".to_vec()),
            2 => prop::sample::select(vec![0x95, 0x5c, 0x81, 0x30, 0xe3, 0x81, 0x82, 0, 0xfe, 0xff, 0x1b]),
            1 => any::<u8>(),
        ];
        prop::collection::vec(byte, 0..60)
    }

    fn text(most: usize) -> impl Strategy<Value = String> {
        let character = prop_oneof![
            6 => prop::sample::select(vec!['a', 'b', '\n', '\r', '\\', '0', ' ']),
            2 => prop::sample::select(vec!['あ', '表', 'é', '“', '😀']),
            1 => any::<char>(),
        ];
        prop::collection::vec(character, 0..most).prop_map(String::from_iter)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn utf_8_with_lf_is_replaced_as_strings_are(
            file in "[ab é表\n]{0,30}",
            old in "[ab é表\n]{1,4}",
            new in "[ab é表\n]{0,4}",
            all in any::<bool>(),
        ) {
            let made = plan(file.as_bytes(), &edit(&old, &new, all));
            let readings = (0..file.len()).filter(|at| file.as_bytes()[*at..].starts_with(old.as_bytes())).count();
            if old != new && (readings == 1 || (all && readings > 0)) {
                let made = made.expect("a reading");
                let count = if all { usize::MAX } else { 1 };
                let expected = file.replacen(&old, &new, count);
                prop_assert_eq!(String::from_utf8(made.apply(file.as_bytes())).unwrap(), expected);
                prop_assert_eq!(made.replacements, file.matches(&old).count());
            } else {
                prop_assert!(made.is_err());
            }
        }

        #[test]
        fn a_crlf_file_is_edited_as_an_lf_file(
            file in "[ab é\n]{0,30}",
            old in "[ab é\n]{1,4}",
            new in "[ab é\n]{0,4}",
            all in any::<bool>(),
        ) {
            let crlf = file.replace('\n', "\r\n");
            let lf = plan(file.as_bytes(), &edit(&old, &new, all));
            let made = plan(crlf.as_bytes(), &edit(&old, &new, all));
            prop_assert_eq!(lf.is_ok(), made.is_ok());
            if let (Ok(lf), Ok(made), true) = (lf, made, file.contains('\n')) {
                let expected = String::from_utf8(lf.apply(file.as_bytes())).unwrap().replace('\n', "\r\n");
                prop_assert_eq!(String::from_utf8(made.apply(crlf.as_bytes())).unwrap(), expected);
            }
        }

        #[test]
        fn bytes_outside_the_splices_stay_and_an_edit_can_be_undone(
            bytes in bytes(), old in text(4), new in text(6), all in any::<bool>(), encoding in label(),
        ) {
            let edit = Edit { old: &old, new: &new, replace_all: all, encoding };
            match plan(&bytes, &edit) {
                Ok(made) => {
                    let after = made.apply(&bytes);
                    prop_assert_eq!(undone(&made, &bytes, &after), bytes);
                    prop_assert!(all || made.replacements == 1);
                    prop_assert!(!made.splices.is_empty());
                    prop_assert!(made.splices.windows(2).all(|two| two[0].range.end <= two[1].range.start));
                }
                Err(error) => {
                    prop_assert!(!error.to_string().is_empty());
                    let _ = (error.hint(), error.without_content().to_string());
                }
            }
        }

        #[test]
        fn text_in_two_byte_forms_is_replaced_as_strings_are_or_not_at_all(
            parts in prop::collection::vec(
                prop::sample::select(vec![&b"a"[..], b"\n", b"\r\n", b"\xEE\xE0", b"\xFB\xFC", b"\x87\x90", b"\x81\xE0"]),
                1..12,
            ),
            old in "[a髙≒\n]{1,3}",
            all in any::<bool>(),
        ) {
            let bytes = parts.concat();
            let text = Encoding::SHIFT_JIS.decode(&bytes).text;
            let wish = Edit { encoding: Some(Encoding::SHIFT_JIS), ..edit(&old, "X", all) };
            if let Ok(made) = plan(&bytes, &wish) {
                let after = Encoding::SHIFT_JIS.decode(&made.apply(&bytes)).text.replace("\r\n", "\n");
                prop_assert_eq!(after, text.replace("\r\n", "\n").replace(&old, "X"));
            }
        }

        #[test]
        fn text_of_an_encoding_is_replaced_as_strings_are(
            file in "[ab表啊阿0\n]{0,20}",
            old in "[ab表啊阿0\n]{1,3}",
            new in "[ab表啊阿0\n]{0,3}",
            label in prop::sample::select(vec!["gbk", "gb18030", "shift_jis", "big5", "utf-16le", "utf-16be"]),
        ) {
            let encoding = declared(label);
            let wish = Edit { old: &old, new: &new, replace_all: true, encoding };
            let Ok(bytes) = encoding.unwrap().encode(&file) else { return Ok(()) };
            if label.starts_with("utf-16") && bytes.is_ascii() {
                return Ok(());
            }
            let is_there = file.contains(&old) && old != new && encoding.unwrap().encode(&new).is_ok();
            match plan(&bytes, &wish) {
                Ok(made) => {
                    prop_assert!(is_there);
                    let after = encoding.unwrap().decode(&made.apply(&bytes)).text;
                    prop_assert_eq!(after, file.replace(&old, &new));
                }
                Err(error) => prop_assert!(!is_there, "{}", error),
            }
        }
    }
}
