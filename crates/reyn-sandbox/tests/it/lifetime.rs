//! Nothing outlives its owner. A lock that a process and all it started hold tells when the last is dead.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use reyn_sandbox::{Ending, NamespaceChoice};
use tokio_util::sync::CancellationToken;

use crate::setup::{BOTH, Here, PROBE, free, here, is_free, until};

async fn all() -> Vec<Here> {
    [here(BOTH[0]).await, here(BOTH[1]).await, Some(free().await)].into_iter().flatten().collect()
}

#[tokio::test]
async fn time_ends_also_what_left_the_session() {
    for here in all().await {
        let lock = here.inside.join("file");
        let mut launch = here.launch(PROBE, &["hold", &here.at("file")]);
        launch.timeout = Duration::from_millis(400);
        let exited = here.run(launch).await.unwrap();
        assert_eq!(exited.ending, Ending::TimedOut);
        assert_eq!(exited.stdout.head, b"held\n");
        assert!(is_free(&lock), "a descendant lives");
    }
}

#[tokio::test]
async fn what_does_not_listen_is_killed_after_its_grace() {
    for here in all().await {
        let lock = here.inside.join("file");
        let cancel = CancellationToken::new();
        let launch = here.launch(PROBE, &["hold-stubborn", &here.at("file")]);
        let run = here.found.sandbox.run(&here.policy, launch, cancel.clone());
        let order = async {
            tokio::task::spawn_blocking({
                let lock = lock.clone();
                move || until("the lock", || !is_free(&lock))
            })
            .await
            .unwrap();
            cancel.cancel();
        };
        let (exited, ()) = tokio::join!(run, order);
        let exited = exited.unwrap();
        assert_eq!(exited.ending, Ending::Cancelled);
        assert!(exited.took >= reyn_sandbox::GRACE, "{:?}", exited.took);
        assert!(is_free(&lock), "a descendant lives");
    }
}

#[tokio::test]
async fn what_a_program_leaves_behind_dies_with_it() {
    for here in all().await {
        let line = format!("{PROBE} hold {} > first & until grep -q held first; do :; done", here.at("file"));
        let mut launch = here.launch("/bin/sh", &["-c", &line]);
        launch.timeout = Duration::from_secs(10);
        let mut policy = here.policy.clone();
        policy.read_paths.push(PROBE.into());
        let exited = here.found.sandbox.run(&policy, launch, CancellationToken::new()).await.unwrap();
        assert_eq!(exited.ending, Ending::Exited { code: 0 }, "{}", crate::setup::said(&exited));
        assert!(is_free(&here.inside.join("file")), "a descendant lives");
    }
}

#[tokio::test]
async fn a_dropped_child_is_killed() {
    for here in all().await {
        let lock = here.inside.join("file");
        let launch = here.launch(PROBE, &["hold-stubborn", &here.at("file")]);
        let child = here.found.sandbox.spawn(&here.policy, &launch, &[]).unwrap();
        tokio::task::spawn_blocking(move || {
            until("the lock", || !is_free(&lock));
            drop(child);
            until("the end of all", || is_free(&lock));
        })
        .await
        .unwrap();
    }
}

#[tokio::test]
async fn an_endless_loop_ends_with_its_time() {
    let Some(here) = here(NamespaceChoice::Auto).await else { return };
    let mut launch = here.launch(PROBE, &["spin"]);
    launch.timeout = Duration::from_millis(100);
    assert_eq!(here.run(launch).await.unwrap().ending, Ending::TimedOut);
}

/// An agent that is a process of its own, holding a confined process that holds the lock.
fn agent(here: &Here, namespaces: NamespaceChoice) -> std::process::Child {
    let mut command = Command::new(PROBE);
    command.args(["agent", &here.at("lock")]).stdout(Stdio::piped());
    if namespaces == NamespaceChoice::Never {
        command.env("NEVER", "1");
    }
    let mut agent = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(agent.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "held\n");
    assert!(!is_free(&here.inside.join("lock")));
    agent
}

#[tokio::test]
async fn a_killed_agent_takes_everything_with_it() {
    for namespaces in BOTH {
        let Some(here) = here(namespaces).await else { continue };
        // The way without namespaces needs the file to be there: beside a protected entry nothing is made.
        std::fs::write(here.inside.join("lock"), "").unwrap();
        let mut agent = agent(&here, namespaces);
        agent.kill().unwrap();
        agent.wait().unwrap();
        until("the end of all", || is_free(&here.inside.join("lock")));
        until("the end of the stand-in", || !here.inside.join("absent").exists());
    }
}

#[tokio::test]
async fn a_killed_supervisor_takes_everything_with_it() {
    let Some(here) = here(NamespaceChoice::Auto).await else { return };
    std::fs::write(here.inside.join("lock"), "").unwrap();
    let mut agent = agent(&here, NamespaceChoice::Auto);
    let children = format!("/proc/{0}/task/{0}/children", agent.id());
    let supervisor: i32 = std::fs::read_to_string(children).unwrap().trim().parse().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(supervisor), nix::sys::signal::Signal::SIGKILL)
        .unwrap();
    until("the end of all", || is_free(&here.inside.join("lock")));
    agent.wait().unwrap();
    // Its stand-in is left; the next run takes it over and removes it.
    assert!(here.inside.join("absent").exists());
    let mut policy = here.policy.clone();
    policy.protected =
        vec![reyn_sandbox::ProtectedPath { path: here.inside.join("absent"), is_folder: false }];
    let launch = here.launch("/bin/true", &[]);
    here.found.sandbox.run(&policy, launch, CancellationToken::new()).await.unwrap();
    assert!(!here.inside.join("absent").exists());
}
