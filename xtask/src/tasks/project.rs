//! The project that the tasks are about.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

/// Names and texts.
pub(super) const FILES: [(&str, &str); 8] = [
    ("README.md", README),
    ("Cargo.toml", CARGO),
    ("notes.md", "# Notes\n\n- ask Aiko about the cache\n- the release is on Friday\n\nThe end.\n"),
    ("old.txt", "nobody needs this\n"),
    ("src/main.rs", MAIN),
    ("src/time.rs", TIME),
    ("src/cache.rs", CACHE),
    ("tests/time.rs", TESTS),
];

const README: &str = "# Larder

Larder keeps what slow programs have computed, so that the next run of them is fast. It stores results in a
folder on disk, finds them again by the hash of the command, its arguments and the files it read, and gives
them back in a few milliseconds.

## Install

```sh
cargo install larder
```

Linux and macOS work. Windows is not supported yet: file locks behave in another way there.

## Use

Put `larder` before a command:

```sh
larder -- python train.py --epochs 3
```

The first run takes as long as it always did. The second prints what the first printed, and writes the files
that the first wrote, without running anything.

| option | what it does | default |
|---|---|---|
| `--max-age 2h` | run again when the result is older | 7d |
| `--dir PATH` | where results are kept | `~/.larder` |
| `--size-max 2GB` | oldest results go when the folder is larger | 10GB |
| `--no-network` | refuse commands that open a connection | off |

## How it works

1. Larder starts the command under `ptrace` and notes every file that it opens.
2. It hashes the command line, the environment variables that the command asked for, and those files.
3. It keeps standard output, standard error, the exit code and the files that were written, compressed with
   zstd, under that hash.

A result is never used when one of its files has changed. Two runs at the same time wait for each other.

## License

MIT. Copyright 2026 the Larder authors.
";

const CARGO: &str = "[package]
name = \"larder\"
version = \"0.4.2\"
edition = \"2024\"
license = \"MIT\"

[dependencies]
zstd = \"0.13\"
blake3 = \"1.8\"
";

const MAIN: &str = "mod cache;
mod time;

fn main() {
    let age = time::parse_duration(\"7d\").expect(\"a valid default\");
    let cache = cache::Cache::open(\"/tmp/larder\", age);
    println!(\"{} results\", cache.len());
}
";

const TIME: &str = "use std::time::Duration;

/// Reads `90s`, `5m`, `2h` or `7d`.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at(text.len().checked_sub(1)?);
    let number: u64 = number.parse().ok()?;
    let seconds = match unit {
        \"s\" => number,
        \"m\" => number * 60,
        \"h\" => number * 3600,
        \"d\" => number * 86400,
        _ => return None,
    };
    Some(Duration::from_secs(seconds))
}
";

const CACHE: &str = "use std::path::{Path, PathBuf};
use std::time::Duration;

pub struct Cache {
    folder: PathBuf,
    age_max: Duration,
}

impl Cache {
    pub fn open(folder: impl AsRef<Path>, age_max: Duration) -> Self {
        Self { folder: folder.as_ref().to_owned(), age_max }
    }

    pub fn len(&self) -> usize {
        std::fs::read_dir(&self.folder).map_or(0, Iterator::count)
    }
}
";

const TESTS: &str = "use larder::time::parse_duration;

#[test]
fn hours_are_read() {
    assert_eq!(parse_duration(\"2h\").unwrap().as_secs(), 7200);
}
";

/// Writes it into an empty folder.
pub(super) fn write(folder: &Path) -> Result<()> {
    for (name, text) in FILES {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

/// Whether the folder holds the project, these files aside.
pub(super) fn is_untouched(folder: &Path, aside: &[&str]) -> bool {
    let mut found = BTreeMap::new();
    collect(folder, "", &mut found);
    found.retain(|name, _| !aside.contains(&name.as_str()));
    let expected = FILES.iter().filter(|(name, _)| !aside.contains(name));
    found == expected.map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
}

fn collect(folder: &Path, prefix: &str, into: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        // The runtime's own.
        if name == ".reyn" {
            continue;
        }
        let path = entry.path();
        if path.is_dir() {
            collect(&path, &format!("{name}/"), into);
        } else {
            into.insert(name, std::fs::read(&path).unwrap_or_default());
        }
    }
}
