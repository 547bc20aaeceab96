//! Git works in a sandbox, and cannot be made to run what an agent wrote.

use std::path::Path;
use std::process::Command;

use reyn_sandbox::{NamespaceChoice, ProtectedPath, git, program};

use crate::setup::{Here, here, skip};

fn run(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

async fn repository() -> Option<Here> {
    let here = here(NamespaceChoice::Auto).await?;
    if program::find("git".as_ref(), &std::env::var_os("PATH").unwrap(), Path::new("/")).is_err() {
        skip("there is no git");
        return None;
    }
    run(&here.inside, &["init", "-q"]);
    run(&here.inside, &["commit", "-q", "--allow-empty", "-m", "first"]);
    Some(here)
}

const COMMIT: &str = "git add . && git -c user.name=a -c user.email=a@example.org commit -q -m second && \
                      git log --oneline | wc -l";

#[tokio::test]
async fn git_commits_and_its_hooks_and_configuration_stay() {
    let Some(mut here) = repository().await else { return };
    let found = git::paths(&here.inside);
    here.policy.protected = found.protected.clone();
    let config = std::fs::read_to_string(here.inside.join(".git/config")).unwrap();
    let (text, _) = here.shell(COMMIT).await;
    assert_eq!(text.trim(), "2");
    for arguments in [
        &["write", &here.at(".git/config")][..],
        &["replace", &here.at(".git/config")],
        &["write", &here.at(".git/config.worktree")],
        &["make", &here.at(".git/hooks/pre-commit")],
        &["write", &here.at(".git/info/attributes")],
        &["folder", &here.at(".git/modules/a")],
        &["rename", &here.at(".git"), &here.at("old")],
        &["rename", &here.at(".git/hooks"), &here.at(".git/old")],
        &["rename", &here.at(".git/info"), &here.at(".git/old")],
    ] {
        let within = here.attempt(arguments).await;
        assert_ne!(within, "done", "{arguments:?}");
    }
    let (_, exited) = here.shell("git config core.fsmonitor /tmp/evil").await;
    assert_ne!(exited.ending, reyn_sandbox::Ending::Exited { code: 0 });
    assert_eq!(std::fs::read_to_string(here.inside.join(".git/config")).unwrap(), config);
    for name in ["config.worktree", "modules", "info/attributes"] {
        assert!(!here.inside.join(".git").join(name).exists(), "{name}");
    }
    // What would lead Git to another configuration is removed afterwards.
    assert_eq!(here.attempt(&["write", &here.at(".git/commondir")]).await, "done");
    let common = here.inside.join(".git/commondir");
    assert_eq!(found.remove_new_common_folder().unwrap(), Some(common.clone()));
    assert_eq!(found.remove_new_common_folder().unwrap(), None);
    assert!(!common.exists());
}

#[tokio::test]
async fn git_commits_in_a_linked_worktree() {
    let Some(mut here) = repository().await else { return };
    let linked = here.outside.join("linked");
    run(&here.inside, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    std::fs::write(linked.join("new"), "text").unwrap();
    let found = git::paths(&linked);
    assert_eq!(found.refused, None);
    here.policy.write_paths.retain(|path| *path != here.inside);
    here.policy.write_paths.push(linked.clone());
    here.policy.write_paths.extend(found.write_paths.clone());
    here.policy.protected = found.protected;
    let mut launch = here.launch("/bin/sh", &["-c", COMMIT]);
    launch.cwd = linked.clone();
    let exited = here.run(launch).await.unwrap();
    let text = String::from_utf8_lossy(&exited.stdout.head).into_owned();
    assert_eq!(text.trim(), "2", "{}", String::from_utf8_lossy(&exited.stderr.head));
    let linked = linked.to_str().unwrap();
    for arguments in [
        &["write", &here.at(".git/config")][..],
        &["make", &here.at(".git/hooks/pre-commit")],
        &["write", &here.at(".git/worktrees/linked/commondir")],
        &["write", &here.at(".git/worktrees/linked/config.worktree")],
        &["write", &here.at("file")],
        &["replace", &format!("{linked}/.git")],
    ] {
        let mut launch = here.launch(crate::setup::PROBE, arguments);
        launch.cwd = linked.into();
        let within = crate::setup::said(&here.run(launch).await.unwrap());
        assert_ne!(within, "done", "{arguments:?}");
    }
}

#[tokio::test]
async fn git_takes_no_stand_in_and_no_covered_file_for_a_new_one() {
    let Some(mut here) = repository().await else { return };
    let exclude = here.inside.join(".git/info/exclude");
    std::fs::write(&exclude, "*.o").unwrap();
    for name in ["new", "a.o", "private"] {
        std::fs::write(here.inside.join(name), "text").unwrap();
    }
    here.policy.protected = git::paths(&here.inside).protected;
    let absent = |name: &str, is_folder| ProtectedPath { path: here.inside.join(name), is_folder };
    let added = [absent("reyn.yaml", false), absent("folder", true), absent("sub/a", false)];
    here.policy.protected.extend(added);
    here.policy.read_deny_paths = vec![here.inside.join("private")];
    let (text, exited) = here.shell("git add -A && git status --porcelain").await;
    assert_eq!(text, "A  file\nA  new\n", "{}", String::from_utf8_lossy(&exited.stderr.head));
    let (_, exited) = here.shell("echo x >> .git/info/exclude").await;
    assert_ne!(exited.ending, reyn_sandbox::Ending::Exited { code: 0 });
    assert_eq!(std::fs::read_to_string(&exclude).unwrap(), "*.o");
}
