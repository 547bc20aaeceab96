//! What a program wrote, as text that a model reads.

use reyn_core::limits::RESULT_BYTES_MAX;
use reyn_core::text::prefix;
use reyn_sandbox::Captured;
use reyn_text::encoding::{Encoding, detect};

/// One stream as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stream {
    pub text: String,
    /// How many bytes the program wrote.
    pub bytes_total: u64,
    /// Whether parts are left out.
    pub is_truncated: bool,
    /// The encoding, when it is not UTF-8.
    pub encoding: Option<&'static str>,
    /// Whether some bytes are no text and are shown as U+FFFD.
    pub is_damaged: bool,
}

/// Longest text of one stream, in bytes: two of them fit into a result.
const STREAM_BYTES_MAX: usize = RESULT_BYTES_MAX / 2;

/// Decodes a stream by what it looks like, and keeps its beginning and its end.
pub(crate) fn stream(captured: &Captured) -> Stream {
    let sample = &captured.head;
    let detected = detect(sample, !captured.is_truncated, None);
    let (encoding, is_sure) =
        detected.as_ref().map_or((Encoding::UTF_8, false), |one| (one.encoding, one.is_sure));
    let skip = detected.as_ref().map_or(0, |one| one.mark_len);
    let (head, head_damaged) =
        decoded(encoding, &sample[skip.min(sample.len())..], Cut::end(captured.is_truncated));
    let (tail, tail_damaged) = decoded(encoding, &captured.tail, Cut::start(captured.is_truncated));
    let left_out = captured.bytes_total.saturating_sub((sample.len() + captured.tail.len()) as u64);
    let (text, is_cut) = joined(&head, &tail, left_out);
    Stream {
        text,
        bytes_total: captured.bytes_total,
        is_truncated: captured.is_truncated || is_cut,
        encoding: (!encoding.is_utf8()).then(|| encoding.name()),
        is_damaged: head_damaged || tail_damaged || (!is_sure && !encoding.is_utf8()),
    }
}

/// Where a piece may end inside a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    No,
    Start,
    End,
}

impl Cut {
    const fn end(is_cut: bool) -> Self {
        if is_cut { Self::End } else { Self::No }
    }

    const fn start(is_cut: bool) -> Self {
        if is_cut { Self::Start } else { Self::No }
    }
}

/// Most bytes of a character.
const CHARACTER_BYTES_MAX: usize = 4;

fn decoded(encoding: Encoding, bytes: &[u8], cut: Cut) -> (String, bool) {
    let tries: Vec<&[u8]> = (0..CHARACTER_BYTES_MAX.min(bytes.len().max(1)))
        .filter_map(|skip| match cut {
            Cut::No => (skip == 0).then_some(bytes),
            Cut::Start => bytes.get(skip..),
            Cut::End => bytes.get(..bytes.len().saturating_sub(skip)),
        })
        .collect();
    let clean = tries.iter().map(|bytes| encoding.decode(bytes)).find(|text| text.undecodable_at.is_none());
    match clean {
        Some(decoded) => (decoded.text, false),
        None => (encoding.decode(bytes).text, true),
    }
}

/// Beginning and end with what is left out between them, within the bound.
fn joined(head: &str, tail: &str, left_out: u64) -> (String, bool) {
    if left_out == 0 && head.len() + tail.len() <= STREAM_BYTES_MAX {
        return (format!("{head}{tail}"), false);
    }
    let half = STREAM_BYTES_MAX / 2;
    let (whole_tail, begins) =
        if tail.is_empty() { (head, prefix(head, half)) } else { (tail, prefix(head, half)) };
    let mut from = whole_tail.len().saturating_sub(half);
    while !whole_tail.is_char_boundary(from) {
        from += 1;
    }
    let ends = &whole_tail[from..];
    let dropped = (head.len() + tail.len()).saturating_sub(begins.len() + ends.len()) as u64 + left_out;
    (format!("{begins}\n[… {dropped} bytes left out …]\n{ends}"), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> Captured {
        Captured { bytes_total: bytes.len() as u64, head: bytes.to_vec(), tail: vec![], is_truncated: false }
    }

    #[test]
    fn text_comes_back_as_it_was_written_whatever_its_encoding() {
        let (sjis, eucjp) = ("エラーが起きました。日本語の文章です。", "日本語の文章がここにあります。");
        let table = [
            (b"plain\n".to_vec(), "plain\n", None, false),
            ("日本語\n".as_bytes().to_vec(), "日本語\n", None, false),
            (Encoding::SHIFT_JIS.encode(sjis).unwrap(), sjis, Some("shift_jis"), false),
            (Encoding::EUC_JP.encode(eucjp).unwrap(), eucjp, Some("euc-jp"), false),
            (b"ok \xff\xfe\x00\x01 bin".to_vec(), "ok \u{fffd}\u{fffd}\0\u{1} bin", None, true),
        ];
        for (bytes, text, encoding, is_damaged) in table {
            let stream = stream(&whole(&bytes));
            assert_eq!((stream.text.as_str(), stream.encoding), (text, encoding));
            assert_eq!(stream.is_damaged, is_damaged, "{text}");
        }
    }

    #[test]
    fn of_a_long_stream_the_beginning_and_the_end_stay_and_no_character_is_cut() {
        let text = "あ".repeat(40_000);
        let shown = stream(&whole(text.as_bytes()));
        assert!(shown.is_truncated && shown.text.len() <= STREAM_BYTES_MAX + 60);
        assert!(
            shown.text.starts_with("ああ")
                && shown.text.ends_with("ああ")
                && !shown.text.contains('\u{fffd}')
        );
        let bytes = text.as_bytes();
        let cut = Captured {
            bytes_total: 1_000_000,
            head: bytes[..100].to_vec(),
            tail: bytes[1..102].to_vec(),
            is_truncated: true,
        };
        let shown = stream(&cut);
        assert_eq!(
            shown.text,
            format!("{}\n[… 999799 bytes left out …]\n{}", "あ".repeat(33), "あ".repeat(33))
        );
        assert!(!shown.is_damaged);
    }
}
