//! Where the last lines of a file begin, found from its end.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use tokio_util::sync::CancellationToken;

use crate::bounds::TAIL_BLOCK_BYTES;

/// Where the last `lines` lines begin, in bytes from the beginning; not before `least`. `unit` is 2 for
/// UTF-16, whose line ends are two bytes at an even place. `None` when cancelled.
pub(crate) fn start_of_last_lines(
    file: &File,
    lines: u64,
    unit: usize,
    least: u64,
    cancel: &CancellationToken,
) -> std::io::Result<Option<u64>> {
    let len = file.metadata()?.len();
    let mut end = len;
    let mut left = lines;
    let mut block = vec![0; TAIL_BLOCK_BYTES];
    let is_last = |at: u64| at + unit as u64 >= len;
    while end > least {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let start = block_start(end, least);
        let block = &mut block[..usize::try_from(end - start).unwrap_or(0)];
        file.read_exact_at(block, start)?;
        for at in line_ends(block, start, unit) {
            let place = start + at as u64;
            // The end of the last line ends no line before it.
            if is_last(place) {
                continue;
            }
            left -= 1;
            if left == 0 {
                return Ok(Some(place + unit as u64));
            }
        }
        end = start;
    }
    Ok(Some(least))
}

/// Where the block that ends at `end` starts: on a multiple of the block's size, so that units stay whole.
fn block_start(end: u64, least: u64) -> u64 {
    let size = TAIL_BLOCK_BYTES as u64;
    ((end - 1) / size * size).max(least)
}

/// Where line ends stand in a block, the last first.
fn line_ends(block: &[u8], start: u64, unit: usize) -> impl Iterator<Item = usize> {
    memchr::memrchr_iter(b'\n', block).filter_map(move |at| {
        if unit == 1 {
            return Some(at);
        }
        // A unit of two bytes with the value of a line end, in either byte order.
        let first = if (start + at as u64).is_multiple_of(2) { at } else { at.checked_sub(1)? };
        let other = if first == at { *block.get(at + 1)? } else { block[first] };
        (other == 0).then_some(first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn start(content: &[u8], lines: u64, unit: usize, least: u64) -> u64 {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        start_of_last_lines(&file, lines, unit, least, &CancellationToken::new()).unwrap().unwrap()
    }

    fn utf16(text: &str, is_little: bool) -> Vec<u8> {
        let units = text.encode_utf16();
        units.flat_map(|unit| if is_little { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect()
    }

    #[test]
    fn the_last_lines_begin_after_the_line_end_before_them() {
        for (content, lines, at) in [
            ("a\nb\nc\n", 1, 4),
            ("a\nb\nc", 1, 4),
            ("a\nb\nc\n", 2, 2),
            ("a\nb\nc\n", 3, 0),
            ("a\nb\nc\n", 99, 0),
            ("", 1, 0),
            ("\n", 1, 0),
            ("\n\n", 1, 1),
            ("a\r\nb\r\n", 1, 3),
        ] {
            assert_eq!(start(content.as_bytes(), lines, 1, 0), at, "{content:?} {lines}");
        }
    }

    #[test]
    fn blocks_do_not_show() {
        let line = format!("{}\n", "x".repeat(999));
        let content = line.repeat(300);
        for lines in [1, 65, 66, 131, 132, 299, 300] {
            assert_eq!(start(content.as_bytes(), lines, 1, 0), 1000 * (300 - lines), "{lines}");
        }
    }

    #[test]
    fn line_ends_of_utf_16_are_whole_units() {
        // U+0A0A and U+0A00 hold the byte of a line end and are none.
        let text = "\u{0A0A}\u{0A00}a\nb\u{0A0A}\n";
        for is_little in [true, false] {
            let content = utf16(text, is_little);
            assert_eq!(start(&content, 1, 2, 0), 8, "little: {is_little}");
            let long = utf16(&"日本語\n".repeat(60_000), is_little);
            assert_eq!(start(&long, 50_000, 2, 0), 8 * 10_000);
        }
    }
}
