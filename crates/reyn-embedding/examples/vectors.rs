//! The vectors of texts as a file: reads a JSON object a line, embeds its `title`, if it has one, and its `text`, and
//! writes numbers of four bytes, little-endian. `cargo run --release --example vectors -- WEIGHTS VOCABULARY`

use std::error::Error;
use std::io::{BufRead as _, Write as _};

use reyn_embedding::SentenceEncoder;
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args_os().skip(1);
    let (Some(weights), Some(vocabulary)) = (paths.next(), paths.next()) else {
        return Err("name the file of the weights and the one of the vocabulary".into());
    };
    let encoder = SentenceEncoder::load(weights.as_ref(), vocabulary.as_ref())?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let object: Value = serde_json::from_str(&line?)?;
        let text = object["text"].as_str().ok_or("a line has no `text`")?;
        let whole =
            object["title"].as_str().map_or_else(|| text.to_owned(), |title| format!("{title}\n{text}"));
        for number in encoder.encode(&whole) {
            out.write_all(&number.to_le_bytes())?;
        }
    }
    out.flush()?;
    Ok(())
}
