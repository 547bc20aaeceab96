//! Entries that stay as they are although what is around them may be written.

use reyn_sandbox::{AxisName, LaunchError, NamespaceChoice, ProtectedPath};

use crate::setup::{BOTH, Here, here, text};

fn protect(here: &mut Here, name: &str, is_folder: bool) {
    let path = here.inside.join(name);
    here.policy.protected.push(ProtectedPath { path, is_folder });
}

async fn with_configuration(namespaces: NamespaceChoice) -> Option<Here> {
    let mut here = here(namespaces).await?;
    std::fs::create_dir_all(here.inside.join("sub/deep/rules")).unwrap();
    std::fs::write(here.inside.join("sub/deep/config"), "mine\n").unwrap();
    std::fs::write(here.inside.join("sub/deep/rules/one"), "mine\n").unwrap();
    std::fs::create_dir(here.inside.join("other")).unwrap();
    protect(&mut here, "sub/deep/config", false);
    protect(&mut here, "sub/deep/rules", true);
    Some(here)
}

#[tokio::test]
async fn a_protected_entry_can_be_read_and_nothing_else() {
    for namespaces in BOTH {
        let Some(here) = with_configuration(namespaces).await else { continue };
        let config = here.at("sub/deep/config");
        let one = here.at("sub/deep/rules/one");
        assert_eq!(here.attempt(&["read", &config]).await, "done");
        std::fs::write(here.inside.join("other/new"), "attack").unwrap();
        for arguments in [
            &["write", &config][..],
            &["truncate", &config],
            &["unlink", &config],
            &["rename", &here.at("other/new"), &config],
            &["rename", &config, &here.at("other/config")],
            &["link-write", &config, &here.at("other/name")],
            &["write", &one],
            &["unlink", &one],
            &["make", &here.at("sub/deep/rules/two")],
            &["rename", &here.at("sub/deep/rules"), &here.at("other/rules")],
            &["rename", &here.at("sub/deep"), &here.at("other/deep")],
            &["rename", &here.at("sub"), &here.at("other/sub")],
        ] {
            let within = here.attempt(arguments).await;
            assert!(
                ["EROFS", "EBUSY", "EXDEV", "EACCES", "EPERM"].contains(&within.as_str()),
                "{namespaces:?} {arguments:?}: {within}"
            );
        }
        assert_eq!(std::fs::read_to_string(&config).unwrap(), "mine\n");
        assert_eq!(here.attempt(&["write", &here.at("other/file")]).await, "done");
        assert_eq!(here.attempt(&["write", &here.at("file")]).await, "done");
    }
}

#[tokio::test]
async fn beside_a_protected_entry_things_are_made_or_the_loss_is_told() {
    for namespaces in BOTH {
        let Some(here) = with_configuration(namespaces).await else { continue };
        let lost: Vec<String> = here
            .found
            .sandbox
            .unenforced(&here.policy)
            .into_iter()
            .filter(|one| one.axis == AxisName::NewEntries)
            .map(|one| one.why)
            .collect();
        let made = here.attempt(&["make", &here.at("sub/deep/new")]).await;
        match namespaces {
            NamespaceChoice::Auto => assert_eq!((made.as_str(), lost.len()), ("done", 0)),
            NamespaceChoice::Never => {
                assert_eq!(made, "EACCES");
                let told: Vec<String> = ["", "/sub", "/sub/deep"]
                    .map(|folder| {
                        format!(
                            "no new entries directly in `{}{folder}`: mount namespaces are forbidden here",
                            text(&here.inside)
                        )
                    })
                    .into();
                assert_eq!(lost, told);
            }
        }
    }
}

#[tokio::test]
async fn an_absent_protected_entry_cannot_be_made_and_leaves_nothing_behind() {
    for namespaces in BOTH {
        let Some(mut here) = here(namespaces).await else { continue };
        protect(&mut here, "absent", false);
        protect(&mut here, "folder", true);
        protect(&mut here, "far/away/absent", false);
        for arguments in [
            &["write", &here.at("absent")][..],
            &["replace", &here.at("absent")],
            &["unlink", &here.at("absent")],
            &["make", &here.at("folder/a")],
            &["rename", &here.at("file"), &here.at("absent")],
            &["folder", &here.at("far/away")],
        ] {
            let within = here.attempt(arguments).await;
            assert_ne!(within, "done", "{namespaces:?} {arguments:?}");
        }
        for name in ["absent", "folder", "far"] {
            assert!(here.inside.join(name).symlink_metadata().is_err(), "{namespaces:?} {name}");
        }
    }
}

#[tokio::test]
async fn runs_that_share_a_stand_in_do_not_open_it_to_each_other() {
    let Some(mut here) = here(NamespaceChoice::Auto).await else { return };
    protect(&mut here, "absent", false);
    let mut launch =
        here.launch("/bin/sh", &["-c", "echo ready; read line; echo a > absent && echo done; true"]);
    launch.timeout = crate::setup::PATIENCE;
    let mut child = here.found.sandbox.spawn(&here.policy, &launch, &[]).unwrap();
    let mut ready = [0; 6];
    tokio::io::AsyncReadExt::read_exact(child.stdout.as_mut().unwrap(), &mut ready).await.unwrap();
    // A second run begins and ends while the first goes on.
    assert_ne!(here.attempt(&["write", &here.at("absent")]).await, "done");
    assert!(here.inside.join("absent").exists());
    tokio::io::AsyncWriteExt::write_all(child.stdin.as_mut().unwrap(), b"go\n").await.unwrap();
    let mut rest = String::new();
    tokio::io::AsyncReadExt::read_to_string(child.stdout.as_mut().unwrap(), &mut rest).await.unwrap();
    child.wait().await.unwrap();
    assert_eq!(rest, "");
    assert!(!here.inside.join("absent").exists());
}

#[tokio::test]
async fn many_runs_at_once_share_stand_ins_and_leave_none() {
    let Some(mut here) = here(NamespaceChoice::Auto).await else { return };
    protect(&mut here, "absent", false);
    protect(&mut here, "folder", true);
    let line = "(echo a > absent) || (echo a > folder/a) || echo kept";
    let runs = (0..12).map(|at| {
        let line = format!("for round in 1 2 3; do {line}; done; echo {at} > own{at}");
        let launch = here.launch("/bin/sh", &["-c", &line]);
        here.run(launch)
    });
    // Each begins while others end.
    for exited in futures(runs).await {
        let exited = exited.unwrap();
        assert_eq!(crate::setup::said(&exited), "kept\nkept\nkept", "{exited:?}");
    }
    assert!(!here.inside.join("absent").exists() && !here.inside.join("folder").exists());
    assert_eq!(std::fs::read_dir(&here.inside).unwrap().count(), 1 + 12);
}

async fn futures<F: Future>(runs: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut runs: Vec<_> = runs.map(|run| (Box::pin(run), None)).collect();
    std::future::poll_fn(|context| {
        let mut is_done = true;
        for (run, output) in runs.iter_mut().filter(|(_, output)| output.is_none()) {
            match run.as_mut().poll(context) {
                std::task::Poll::Ready(ready) => *output = Some(ready),
                std::task::Poll::Pending => is_done = false,
            }
        }
        if is_done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    runs.into_iter().filter_map(|(_, output)| output).collect()
}

#[tokio::test]
async fn a_protected_link_and_what_it_leads_to_stay() {
    for namespaces in BOTH {
        let Some(mut here) = here(namespaces).await else { continue };
        std::fs::create_dir(here.inside.join("real")).unwrap();
        std::fs::write(here.inside.join("real/config"), "mine\n").unwrap();
        std::os::unix::fs::symlink("real/config", here.inside.join("link")).unwrap();
        std::os::unix::fs::symlink("real/nowhere", here.inside.join("dangling")).unwrap();
        protect(&mut here, "link", false);
        protect(&mut here, "dangling", false);
        assert_eq!(here.attempt(&["read", &here.at("link")]).await, "done");
        for arguments in [
            &["write", &here.at("link")][..],
            &["write", &here.at("real/config")],
            &["unlink", &here.at("link")],
            &["rename", &here.at("file"), &here.at("link")],
            &["rename", &here.at("real"), &here.at("elsewhere")],
            &["write", &here.at("dangling")],
            &["write", &here.at("real/nowhere")],
            &["unlink", &here.at("dangling")],
        ] {
            let within = here.attempt(arguments).await;
            assert_ne!(within, "done", "{namespaces:?} {arguments:?}");
        }
        assert_eq!(std::fs::read_to_string(here.inside.join("real/config")).unwrap(), "mine\n");
        assert!(here.inside.join("link").symlink_metadata().unwrap().is_symlink());
        assert!(here.inside.join("dangling").symlink_metadata().unwrap().is_symlink());
        assert!(!here.inside.join("real/nowhere").exists());
    }
}

#[tokio::test]
async fn a_protected_file_with_a_second_name_is_refused() {
    for namespaces in BOTH {
        let Some(mut here) = here(namespaces).await else { continue };
        std::fs::hard_link(here.inside.join("file"), here.inside.join("second")).unwrap();
        protect(&mut here, "file", false);
        let error = here.run(here.launch("/bin/true", &[])).await.unwrap_err();
        let LaunchError::ProtectedHasLinks { path, links } = error else { panic!("{error}") };
        assert_eq!((path, links), (here.inside.join("file"), 2));
        here.policy.protected.clear();
        std::fs::create_dir(here.inside.join("hooks")).unwrap();
        std::fs::hard_link(here.inside.join("file"), here.inside.join("hooks/run")).unwrap();
        protect(&mut here, "hooks", true);
        let error = here.run(here.launch("/bin/true", &[])).await.unwrap_err();
        let LaunchError::ProtectedHasLinks { path, links } = error else { panic!("{error}") };
        assert_eq!((path, links), (here.inside.join("hooks/run"), 3));
    }
}

#[tokio::test]
async fn a_denied_read_gives_nothing_away() {
    for namespaces in BOTH {
        let Some(mut here) = here(namespaces).await else { continue };
        std::fs::create_dir(here.inside.join("secrets")).unwrap();
        std::fs::write(here.inside.join("secrets/key"), "secret\n").unwrap();
        std::fs::write(here.inside.join("token"), "secret\n").unwrap();
        here.policy.read_deny_paths = vec![here.inside.join("secrets"), here.inside.join("token")];
        let (said, _) = here
            .shell("cat secrets/key token; cat < token; cp -r . /dev/shm/copy; cat /dev/shm/copy/token; true")
            .await;
        assert!(!said.contains("secret\n"), "{namespaces:?} {said}");
        assert_ne!(here.attempt(&["rename", &here.at("secrets"), &here.at("open")]).await, "done");
        assert_ne!(here.attempt(&["write", &here.at("token")]).await, "done");
        assert_eq!(here.attempt(&["read", &here.at("file")]).await, "done");
        assert_eq!(std::fs::read_to_string(here.inside.join("token")).unwrap(), "secret\n");
    }
}

#[tokio::test]
async fn too_many_entries_beside_a_protected_one_are_an_error_that_says_so() {
    let Some(mut here) = here(NamespaceChoice::Never).await else { return };
    protect(&mut here, "file", false);
    for at in 0..4200 {
        std::fs::create_dir(here.inside.join(format!("folder{at}"))).unwrap();
    }
    let error = here.run(here.launch("/bin/true", &[])).await.unwrap_err();
    assert!(matches!(error, LaunchError::TooManyEntries { max: 4096, .. }), "{error}");
}
