//! Whether a text repeats what came from outside.

use std::collections::HashSet;

use serde_json::Value;

use crate::conversation::Entry;
use crate::limits::{REPEATED_BYTES_MIN, REPEATED_GRAM_BYTES};
use crate::tool::{Args, CallError, External, Outcome};

/// The passages that a call's arguments are made of, to be looked for in what came from outside.
///
/// Only letters and digits are compared, so a passage is known again with its lines broken anew, in a list, in a
/// quotation, in other capitals. Every one of [`REPEATED_BYTES_MIN`] bytes counts; shorter ones are written by anybody.
#[derive(Debug)]
pub struct Passages {
    marks: HashSet<u64>,
    /// Whether a mark with these first bits is among them: most marks of other texts are told apart by that.
    begins: Vec<bool>,
}

/// How many first bits of a mark [`Passages::begins`] is asked by.
const BEGIN_BITS: u32 = 16;

impl Passages {
    /// `None` where the arguments are too short to repeat anything.
    #[must_use]
    pub fn of(args: &Args) -> Option<Self> {
        let mut written = HashSet::new();
        for value in args.as_object()?.values() {
            each_string(value, &mut |text| {
                marks(text, |mark| {
                    written.insert(mark);
                    false
                });
            });
        }
        if written.is_empty() {
            return None;
        }
        let mut begins = vec![false; 1 << BEGIN_BITS];
        written.iter().for_each(|mark| begins[begin(*mark)] = true);
        Some(Self { marks: written, begins })
    }

    /// The tool that brought in a passage which they repeat, where this record did. Linear in the record's length.
    #[must_use]
    pub fn repeated_in(&self, entry: &Entry) -> Option<String> {
        let (external, texts) = came(entry)?;
        let is_known = |mark: u64| self.begins[begin(mark)] && self.marks.contains(&mark);
        let is_repeated = texts.into_iter().any(|text| marks(text, is_known));
        is_repeated.then(|| external.external_tool.clone())
    }
}

/// The first bits of a mark, as a number.
fn begin(mark: u64) -> usize {
    usize::try_from(mark >> (u64::BITS - BEGIN_BITS)).unwrap_or(0)
}

/// What a record brought in from outside, and its texts.
fn came(entry: &Entry) -> Option<(&External, Vec<&str>)> {
    let Entry::Finished { outcome, .. } = entry else { return None };
    match outcome {
        Outcome::Ok(output) => {
            let external = output.external.as_ref()?;
            let mut texts = vec![output.body.as_str()];
            output.fields.values().for_each(|value| each_string(value, &mut |text| texts.push(text)));
            Some((external, texts))
        }
        Outcome::Error(CallError { external, message, .. }) => Some((external.as_deref()?, vec![message])),
    }
}

/// Tells hashes that stand for a text: of each window of hashes of neighbouring stretches the smallest, so that two
/// texts with a passage of [`REPEATED_BYTES_MIN`] bytes in common have one in common (winnowing). Ends with whether
/// `is_enough` said so of one.
fn marks(text: &str, mut is_enough: impl FnMut(u64) -> bool) -> bool {
    let mut winnow = Winnow::default();
    let mut letter = [0; 4];
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            let byte = c.to_ascii_lowercase();
            if winnow.take(byte as u8).is_some_and(&mut is_enough) {
                return true;
            }
        } else if !c.is_ascii() && c.is_alphanumeric() {
            for lower in c.to_lowercase() {
                for byte in lower.encode_utf8(&mut letter).bytes() {
                    if winnow.take(byte).is_some_and(&mut is_enough) {
                        return true;
                    }
                }
            }
        }
    }
    false
}

/// How many stretches are a window.
const WINDOW: usize = REPEATED_BYTES_MIN - REPEATED_GRAM_BYTES + 1;

/// The hashes of the last stretches.
struct Winnow {
    /// The bytes of the last stretch, and its hash.
    gram: [u8; REPEATED_GRAM_BYTES],
    hash: u64,
    /// Where in `gram` the next byte goes.
    at: usize,
    /// Bytes that were taken.
    count: usize,
    /// The last hashes, and which of them is the smallest.
    window: [u64; WINDOW],
    slot: usize,
    smallest: usize,
    last: Option<u64>,
}

impl Default for Winnow {
    fn default() -> Self {
        let gram = [0; REPEATED_GRAM_BYTES];
        let window = [u64::MAX; WINDOW];
        Self { gram, hash: 0, at: 0, count: 0, window, slot: 0, smallest: 0, last: None }
    }
}

impl Winnow {
    /// Takes a byte; the hash that stands for the window which ends here, where that is another than before.
    fn take(&mut self, byte: u8) -> Option<u64> {
        const BASE: u64 = 0x0100_0000_01b3;
        const LEAVING: u64 = {
            let (mut power, mut times) = (1_u64, 0);
            while times < REPEATED_GRAM_BYTES {
                power = power.wrapping_mul(BASE);
                times += 1;
            }
            power
        };
        let is_full = self.count >= REPEATED_GRAM_BYTES;
        let left = if is_full { (u64::from(self.gram[self.at]) + 1).wrapping_mul(LEAVING) } else { 0 };
        self.hash = self.hash.wrapping_mul(BASE).wrapping_add(u64::from(byte) + 1).wrapping_sub(left);
        self.gram[self.at] = byte;
        self.at = if self.at + 1 == REPEATED_GRAM_BYTES { 0 } else { self.at + 1 };
        self.count += 1;
        if self.count < REPEATED_GRAM_BYTES {
            return None;
        }
        let slot = self.slot;
        self.slot = if slot + 1 == WINDOW { 0 } else { slot + 1 };
        self.window[slot] = mixed(self.hash);
        if slot == self.smallest {
            // The smallest one left, and every other is looked at for the next.
            self.smallest = (0..WINDOW).min_by_key(|slot| self.window[*slot]).unwrap_or(slot);
        } else if self.window[slot] <= self.window[self.smallest] {
            self.smallest = slot;
        }
        let smallest = self.window[self.smallest];
        if self.count < REPEATED_BYTES_MIN || self.last == Some(smallest) {
            return None;
        }
        self.last = Some(smallest);
        Some(smallest)
    }
}

/// A hash whose order says nothing about the text.
const fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

fn each_string<'a>(value: &'a Value, told: &mut dyn FnMut(&'a str)) {
    match value {
        Value::String(text) => told(text),
        Value::Array(items) => items.iter().for_each(|item| each_string(item, told)),
        Value::Object(map) => map.values().for_each(|item| each_string(item, told)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{ErrorKind, Output};
    use serde_json::json;

    const LINE: &str = "The maximum length of a larder entry is two hundred kilobytes, and no more.";

    fn finished(body: &str, results: Value, external: Option<External>) -> Entry {
        let mut output = Output::text("content", body).with("results", results);
        output.external = external;
        Entry::Finished { call_id: "1".into(), outcome: Outcome::Ok(output) }
    }

    #[test]
    fn a_passage_that_came_from_outside_is_known_again_however_it_is_set_and_others_are_not() {
        let from_web = || Some(External::by("web_fetch"));
        let page = finished(&format!("# Larder\n\n  {LINE}\n"), json!([]), from_web());
        let search = finished("", json!([{"snippet": LINE}]), Some(External::by("web_search")));
        let japanese = finished(
            "・項目の最大の長さは、二百キロバイトで、それより長いものは拒まれます。",
            json!([]),
            from_web(),
        );
        let failed = |external: Option<External>| {
            let error = CallError {
                external: external.map(Box::new),
                ..CallError::new(ErrorKind::HandlerError, format!("it says `{LINE}`"))
            };
            Entry::Finished { call_id: "1".into(), outcome: Outcome::Error(error) }
        };
        let own = finished(LINE, json!([]), None);
        let args =
            |text: &str| Args::parse(&json!({"path": "a", "edits": [{"new": text}]}).to_string(), false);
        let table = [
            (args(&format!("notes\n> x\n{LINE}")), vec![page.clone()], Some("web_fetch")),
            (args(&format!("- {LINE}")), vec![page.clone()], Some("web_fetch")),
            (args(&format!("//   {}", LINE.replace(" ", "\n// "))), vec![page.clone()], Some("web_fetch")),
            (args(&format!("# {}", LINE.to_uppercase())), vec![page.clone()], Some("web_fetch")),
            (args(&format!("{{\"note\":\"so: {LINE} Thus.\"}}")), vec![page.clone()], Some("web_fetch")),
            (args(&LINE[..50]), vec![page.clone()], None),
            (
                args("項目の最大の長さは二百キロバイトでそれより長いものは拒まれます"),
                vec![japanese],
                Some("web_fetch"),
            ),
            (args(LINE), vec![failed(None)], None),
            (args(LINE), vec![failed(Some(External::by("web_search")))], Some("web_search")),
            (args(LINE), vec![search], Some("web_search")),
            (args(LINE), vec![own], None),
            (args("# Larder"), vec![page.clone()], None),
            (args("words of my own that no page has, also when they are rather long"), vec![page], None),
            (args(LINE), vec![], None),
        ];
        for (args, log, expected) in table {
            let passages = Passages::of(&args);
            let found =
                passages.and_then(|passages| log.iter().find_map(|entry| passages.repeated_in(entry)));
            assert_eq!(found.as_deref(), expected, "{args:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_passage_is_known_again_wherever_it_stands(
            passage in "[a-z]{55,70}",
            before in "[a-z]{0,90}",
            behind in "[a-z]{0,90}",
            around in "[a-z]{0,90}",
        ) {
            let args = json!({"content": format!("{before}{passage}{behind}")});
            let passages = Passages::of(&Args::parse(&args.to_string(), false)).unwrap();
            let page = finished(&format!("{around}{passage}"), json!([]), Some(External::by("web_fetch")));
            proptest::prop_assert!(passages.repeated_in(&page).is_some());
        }
    }
}
