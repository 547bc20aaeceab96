//! Whether a text repeats what came from outside.

use std::collections::HashSet;

use serde_json::Value;

use crate::conversation::Entry;
use crate::limits::{REPEATED_BYTES_MIN, REPEATED_GRAM_BYTES};
use crate::tool::{Args, CallError, External, Outcome};

/// The tool that brought in a passage which these arguments repeat, if one did.
///
/// Only letters and digits are compared, so a passage is known again with its lines broken anew, in a list, in a
/// quotation, in other capitals. Every one of [`REPEATED_BYTES_MIN`] bytes counts; shorter ones are written by anybody.
#[must_use]
pub fn repeats_what_came(args: &Args, log: &[Entry]) -> Option<String> {
    let mut written = HashSet::new();
    for value in args.as_object()?.values() {
        each_string(value, &mut |text| marks(text, |mark| _ = written.insert(mark)));
    }
    if written.is_empty() {
        return None;
    }
    log.iter().filter_map(came).find_map(|(external, texts)| {
        let mut is_repeated = false;
        for text in texts {
            marks(text, |mark| is_repeated |= written.contains(&mark));
        }
        is_repeated.then(|| external.external_tool.clone())
    })
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
/// texts with a passage of [`REPEATED_BYTES_MIN`] bytes in common have one in common (winnowing).
fn marks(text: &str, mut told: impl FnMut(u64)) {
    const BASE: u64 = 0x0100_0000_01b3;
    const WINDOW: usize = REPEATED_BYTES_MIN - REPEATED_GRAM_BYTES + 1;
    let leaving = BASE.wrapping_pow(u32::try_from(REPEATED_GRAM_BYTES).unwrap_or(u32::MAX));
    let mut gram = [0_u8; REPEATED_GRAM_BYTES];
    let mut window = [u64::MAX; WINDOW];
    let (mut hash, mut count, mut last) = (0_u64, 0_usize, None);
    let mut letter = [0; 4];
    for c in text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase) {
        for byte in c.encode_utf8(&mut letter).bytes() {
            let place = &mut gram[count % REPEATED_GRAM_BYTES];
            hash = hash.wrapping_mul(BASE).wrapping_add(u64::from(byte) + 1).wrapping_sub(
                if count < REPEATED_GRAM_BYTES { 0 } else { (u64::from(*place) + 1).wrapping_mul(leaving) },
            );
            *place = byte;
            count += 1;
            if count < REPEATED_GRAM_BYTES {
                continue;
            }
            let at = count - REPEATED_GRAM_BYTES;
            window[at % WINDOW] = mixed(hash);
            if at + 1 >= WINDOW {
                let smallest = window.iter().copied().min();
                if smallest != last {
                    last = smallest;
                    smallest.into_iter().for_each(&mut told);
                }
            }
        }
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
            assert_eq!(repeats_what_came(&args, &log).as_deref(), expected, "{args:?}");
        }
    }
}
