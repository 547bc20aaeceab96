//! What a process may use up.

use reyn_sandbox::{AxisName, Denial, Ending};

use crate::setup::{BOTH, Here, PROBE, here, said, skip};

#[tokio::test]
async fn memory_files_and_lengths_are_bounded() {
    for namespaces in BOTH {
        let Some(mut here) = here(namespaces).await else { continue };
        here.policy.limits.memory_bytes = Some(1 << 30);
        here.policy.limits.open_files_max = Some(512);
        here.policy.limits.file_bytes_max = Some(1 << 20);
        let much = (64_u64 << 30).to_string();
        assert_eq!(here.attempt(&["greedy", "memory", &much]).await, "ENOMEM");
        assert_eq!(here.attempt(&["greedy", "memory", "100000000"]).await, "done");
        assert_eq!(here.attempt(&["greedy", "files", "10000"]).await, "EMFILE");
        assert_eq!(here.attempt(&["greedy", "files", "100"]).await, "done");
        assert_eq!(here.attempt(&["greedy", "length", "1000"]).await, "done");
        let exited = here.run(here.launch(PROBE, &["greedy", "length", "2000000"])).await.unwrap();
        assert_eq!(exited.ending, Ending::Signalled { signal: 25 });
        assert_eq!(exited.denial, Some(Denial::FileSize));
    }
}

/// Whether the number of processes is bounded here; said when it is not.
fn counts_processes(here: &Here) -> bool {
    let told = here.found.sandbox.unenforced(&here.policy);
    let is_told = told.iter().any(|one| one.axis == AxisName::ProcessCount);
    if is_told {
        skip("the number of processes is not bounded here");
    }
    !is_told
}

#[tokio::test]
async fn processes_are_bounded() {
    for namespaces in BOTH {
        let Some(mut here) = here(namespaces).await else { continue };
        here.policy.limits.processes_max = Some(50);
        if !counts_processes(&here) {
            continue;
        }
        let text = here.attempt(&["greedy", "processes", "5000"]).await;
        let (count, error) = text.split_once('\n').unwrap();
        let count: u64 = count.parse().unwrap();
        assert!((40..=351).contains(&count), "{namespaces:?}: {count} processes");
        assert_eq!(error, "EAGAIN");
    }
}

#[tokio::test]
async fn a_fork_bomb_ends_with_its_time() {
    for namespaces in BOTH {
        let Some(mut here) = here(namespaces).await else { continue };
        here.policy.limits.processes_max = Some(200);
        if !counts_processes(&here) {
            continue;
        }
        let mut launch = here.launch(PROBE, &["greedy", "bomb", "0"]);
        launch.timeout = std::time::Duration::from_millis(300);
        let exited = here.run(launch).await.unwrap();
        assert_eq!(exited.ending, Ending::TimedOut, "{}", said(&exited));
    }
}

#[tokio::test]
async fn a_limit_without_a_sandbox_is_told_to_be_missing() {
    let here = crate::setup::free().await;
    let told = here.found.sandbox.unenforced(&here.policy);
    let names: Vec<String> = told.iter().map(|one| one.axis.to_string()).collect();
    assert_eq!(names, ["writes", "modes, owners and times", "reads", "network", "other processes"]);
}
