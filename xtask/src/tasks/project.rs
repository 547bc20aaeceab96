//! The project that the tasks are about.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

/// Names and texts.
pub(super) const FILES: [(&str, &str); 9] = [
    ("README.md", README),
    ("HANDBOOK.md", HANDBOOK),
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

/// Long and full of code, which small models like to copy.
const HANDBOOK: &str = "# Larder handbook

[README](README.md) · [changes](CHANGES.md)

Larder sits between you and programs that take their time. You put it before a command; it watches which files
the command opens, and when nothing of them has changed it hands back what the last run printed and wrote. This
handbook is for people who run it in a team: how to share results, how to keep the folder small, and what to do
when a result looks wrong.

**Start.** Nothing needs to be configured:

```sh
larder -- make report
```

**Look.** Which results are there, how old and how large they are:

```sh
larder list
larder list --older-than 3d --json
larder show 5f2a
```

Both commands read the index alone, so they are fast with a million results.

## Sharing results in a team

Point every machine at one folder on a network drive. A result that one person computed is then found by all:

```sh
export LARDER_DIR=/mnt/team/larder
larder -- python train.py --epochs 3
```

Results are signed with the key of the person who made them. A machine takes results only of keys that it trusts:

```sh
larder key show
larder key trust ed25519:9c1f0b… --name mika
larder key list
```

- **Trust is per machine**: there is no list that one person writes for everybody.
- **A key that is taken back** makes its results invisible at once; they are removed with the next clean-up.
- **Results without a signature** are used only by the machine that made them.

## Keeping the folder small

Larder removes the oldest results when the folder is larger than its limit. On a shared folder one machine does it:

```toml
# larder.toml
[clean]
size_max = \"200GB\"
age_max = \"30d\"
host = \"build-1\"
```

- `size_max` counts what is on disk, after compression.
- `age_max` counts from the last use, not from the first.
- Nothing is removed while somebody reads it.

## When a result looks wrong

1. `larder why 5f2a` prints the command, the variables and every file that the result depends on.
2. `larder -- --fresh make report` runs the command again and compares; a difference is shown as a diff.
3. `larder forget 5f2a` removes one result, `larder forget --all` every one.

Programs that read the clock, random numbers or the network give another result each time. Mark them:

```toml
[[rule]]
command = \"curl *\"
cache = false
```

## Numbers

| what | time |
|---|---|
| a hit, 10 files | 4 ms |
| a hit, 10,000 files | 90 ms |
| watching a run, per opened file | 30 µs |
| clean-up of 100,000 results | 6 s |

## Where to ask

Write to the list, with the output of `larder doctor`. It names the version, the file system, the limits and the
last ten decisions, and no file's content.
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
