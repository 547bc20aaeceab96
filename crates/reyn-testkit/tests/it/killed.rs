//! Writers that are killed in the middle of their work.

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use reyn_core::permission::{FileAxis, Zones};
use reyn_testkit::counted_file::state;
use reyn_workspace::Workspace;

const KILLS: u32 = 500;
/// Kills at different points, after which it is looked whether the points lie well.
const BLOCK: u32 = 25;

/// Starts a writer and waits until it begins its first change.
fn start(folder: &Path, mode: &str) -> (Child, ChildStdout) {
    let mut writer = Command::new(env!("CARGO_BIN_EXE_write-loop"))
        .arg(folder)
        .arg(mode)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut begun = writer.stdout.take().unwrap();
    begun.read_exact(&mut [0]).unwrap();
    (writer, begun)
}

fn kill(mut writer: Child) {
    writer.kill().unwrap();
    writer.wait().unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

fn survives(mode: &str) {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().canonicalize().unwrap();
    let (even, odd) = (state(true), state(false));
    std::fs::write(folder.join("f"), &even).unwrap();
    let (mut changed, mut changed_in_block, mut last) = (0, 0, even.clone());
    // Long enough for a change, short enough to fall into it: found while going on.
    let mut longest = Duration::from_millis(4);
    for round in 0..KILLS {
        let (writer, begun) = start(&folder, mode);
        let since = Instant::now();
        while since.elapsed() < longest * (round % BLOCK) / BLOCK {
            std::hint::spin_loop();
        }
        kill(writer);
        drop(begun);
        let text = std::fs::read_to_string(folder.join("f")).unwrap();
        assert!(text == even || text == odd, "a third state after kill {round}: {} bytes", text.len());
        assert!(names(&folder).len() <= 2, "{:?}", names(&folder));
        changed_in_block += u32::from(text != last);
        last = text;
        if (round + 1) % BLOCK == 0 {
            changed += changed_in_block;
            match changed_in_block {
                0..=5 => longest *= 2,
                20.. => longest /= 2,
                6..=19 => {}
            }
            changed_in_block = 0;
        }
    }
    // Neither all before the change nor all after it: the kills fell inside.
    assert!((10..KILLS - 10).contains(&changed), "{changed} of {KILLS} changed the file");
    let workspace = Workspace::open(Zones::new(folder.clone(), vec![]), None).unwrap();
    workspace.recover(&workspace.resolve("f", FileAxis::Write).unwrap());
    assert_eq!(names(&folder), ["f"]);
}

#[test]
fn a_file_whose_writer_is_killed_is_the_old_or_the_new_one() {
    survives("write");
}

#[test]
fn a_file_whose_editor_is_killed_is_the_old_or_the_new_one() {
    survives("edit");
}
