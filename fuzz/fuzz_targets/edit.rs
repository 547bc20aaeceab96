//! Edits of any bytes by any strings: no panic, nothing changed outside the splices, and one place only.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use reyn_text::diff::{Extent, of_plan};
use reyn_text::edit::{Edit, plan};
use reyn_text::encoding::Encoding;

#[derive(Debug, Arbitrary)]
struct Input {
    bytes: Vec<u8>,
    old: Old,
    new: String,
    replace_all: bool,
    encoding: Option<u8>,
}

/// What is looked for: anything, or a part of the file, which is there.
#[derive(Debug, Arbitrary)]
enum Old {
    Text(String),
    Part(u16, u8),
}

const ENCODINGS: [Encoding; 8] = [
    Encoding::UTF_8,
    Encoding::SHIFT_JIS,
    Encoding::EUC_JP,
    Encoding::GBK,
    Encoding::GB18030,
    Encoding::UTF_16LE,
    Encoding::UTF_16BE,
    Encoding::WINDOWS_1252,
];

fuzz_target!(|input: Input| {
    let encoding = input.encoding.map(|at| ENCODINGS[usize::from(at) % ENCODINGS.len()]);
    let old = match input.old {
        Old::Text(text) => text,
        Old::Part(at, len) => {
            let at = usize::from(at) % (input.bytes.len() + 1);
            let end = (at + usize::from(len)).min(input.bytes.len());
            encoding.unwrap_or(Encoding::UTF_8).decode(&input.bytes[at..end]).text
        }
    };
    let edit = Edit { old: &old, new: &input.new, replace_all: input.replace_all, encoding };
    let plan = match plan(&input.bytes, &edit) {
        Ok(plan) => plan,
        Err(error) => {
            let _ = (error.to_string(), error.hint());
            let hidden = error.without_content();
            let _ = (hidden.to_string(), hidden.hint());
            return;
        }
    };
    let edited = plan.apply(&input.bytes);
    let mut expected = vec![];
    let mut kept = 0;
    for splice in &plan.splices {
        assert!(kept <= splice.range.start && splice.range.start <= splice.range.end);
        expected.extend_from_slice(&input.bytes[kept..splice.range.start]);
        expected.extend_from_slice(&splice.with);
        kept = splice.range.end;
    }
    expected.extend_from_slice(&input.bytes[kept..]);
    assert_eq!(edited, expected);
    assert!(input.replace_all || plan.replacements == 1);
    let diff = of_plan(&input.bytes, &plan, "f", Extent::Excerpt);
    assert!(diff.text.len() <= 64 * 1024);
});
