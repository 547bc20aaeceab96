//! Input, output, arguments, environment, descriptors; and what cannot be started.

use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use reyn_sandbox::{Ending, Launch, LaunchError, PathList};

use crate::setup::{BOTH, PROBE, free, here, said};

#[tokio::test]
async fn a_gigabyte_of_output_is_counted_and_not_kept() {
    let Some(here) = here(reyn_sandbox::NamespaceChoice::Auto).await else { return };
    let before = resident_bytes();
    let mut launch = here.launch(PROBE, &["greedy", "output", "1000000000"]);
    launch.output_bytes_max = 10_000;
    let exited = here.run(launch).await.unwrap();
    assert_eq!(exited.ending, Ending::Exited { code: 0 });
    let out = exited.stdout;
    assert_eq!(
        (out.bytes_total, out.head.len(), out.tail.len(), out.is_truncated),
        (1_000_000_013, 5000, 5000, true)
    );
    assert!(out.tail.ends_with(b"xthe end\ndone\n"));
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown} bytes more than before");
}

fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[tokio::test]
async fn input_goes_in_and_both_outputs_come_out() {
    for here in [here(BOTH[0]).await, here(BOTH[1]).await, Some(free().await)].into_iter().flatten() {
        let mut launch = here.launch("/bin/sh", &["-c", "cat; echo err >&2; exit 7"]);
        let input = vec![b'a'; 3_000_000];
        launch.stdin = Some(input.clone());
        launch.output_bytes_max = 4_000_000;
        let exited = here.run(launch).await.unwrap();
        assert_eq!(exited.ending, Ending::Exited { code: 7 });
        assert!(exited.stdout.head == input);
        assert_eq!(exited.stderr.head, b"err\n");
        // A program that reads nothing is fed nothing, and ends well.
        let mut launch = here.launch("/bin/true", &[]);
        launch.stdin = Some(input);
        assert_eq!(here.run(launch).await.unwrap().ending, Ending::Exited { code: 0 });
        let (text, _) = here.shell("cat; echo end").await;
        assert_eq!(text, "end\n");
    }
}

#[tokio::test]
async fn arguments_and_environment_are_exactly_what_was_said() {
    for namespaces in BOTH {
        let Some(here) = here(namespaces).await else { continue };
        let odd = std::ffi::OsString::from_vec(b"a\xff b".to_vec());
        let mut launch = here.launch("/usr/bin/printf", &["%s|"]);
        launch.argv.extend([odd.clone(), "".into(), "$HOME".into()]);
        assert_eq!(here.run(launch).await.unwrap().stdout.head, b"a\xff b||$HOME|");
        let mut launch = here.launch("/usr/bin/env", &[]);
        launch.env = vec![("A".into(), odd), ("TMPDIR".into(), "/elsewhere".into())];
        let out = here.run(launch).await.unwrap().stdout.head;
        let lines: Vec<&[u8]> = out.split(|byte| *byte == b'\n').collect();
        assert_eq!(lines[0], b"A=a\xff b");
        assert!(lines[1].starts_with(b"TMPDIR=/tmp"), "{lines:?}");
        assert_eq!(lines.len(), 3);
    }
}

#[tokio::test]
async fn only_declared_descriptors_go_in() {
    let _open = std::fs::File::open("/etc/hosts").unwrap();
    for here in [here(BOTH[0]).await, here(BOTH[1]).await, Some(free().await)].into_iter().flatten() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let launch = here.launch(PROBE, &["descriptors"]);
        let extras = [theirs.into()];
        let mut child = here.found.sandbox.spawn(&here.policy, &launch, &extras).unwrap();
        let mut text = String::new();
        let out = child.stdout.as_mut().unwrap();
        tokio::io::AsyncReadExt::read_to_string(out, &mut text).await.unwrap();
        child.wait().await.unwrap();
        assert_eq!(text, "0 1 2 3\ndone\n");
        let launch = here.launch(PROBE, &["echo-3"]);
        let mut child = here.found.sandbox.spawn(&here.policy, &launch, &extras).unwrap();
        ours.write_all(b"over there").unwrap();
        assert_eq!(child.wait().await.unwrap(), Ending::Exited { code: 0 });
        let mut text = [0; 10];
        ours.read_exact(&mut text).unwrap();
        assert_eq!(&text, b"over there");
    }
}

#[tokio::test]
async fn what_cannot_be_started_is_an_error_that_names_it() {
    for namespaces in BOTH {
        let Some(mut here) = here(namespaces).await else { continue };
        let good = here.launch("/bin/true", &[]);
        let mut cases = vec![];
        let changes: [fn(&mut Launch); 9] = [
            |launch| launch.argv.clear(),
            |launch| launch.argv.push("a\0b".into()),
            |launch| launch.env.push(("A=B".into(), "".into())),
            |launch| launch.timeout = Duration::ZERO,
            |launch| launch.cwd = "/nowhere".into(),
            |launch| launch.cwd = "/etc/hosts".into(),
            |launch| launch.program = "/bin/nothing".into(),
            |launch| launch.program = launch.cwd.join("file"),
            |launch| launch.program = "true".into(),
        ];
        for change in changes {
            let mut launch = good.clone();
            change(&mut launch);
            let error = here.run(launch).await.unwrap_err().to_string();
            cases.push(error.replace(here.inside.to_str().unwrap(), "W"));
        }
        assert_eq!(
            cases,
            [
                "`argv` is empty; its first entry names the program",
                "`argv[1]` holds a NUL character; remove it",
                "`A=B` cannot name an environment variable; use a name without `=` and NUL",
                "a timeout of 0 lets nothing run; give at least 1 second",
                "cannot start in `/nowhere`: No such file or directory (os error 2)",
                "cannot start in `/etc/hosts`: it is no folder",
                "cannot run `/bin/nothing`: No such file or directory (os error 2)",
                "cannot run `W/file`: Permission denied (os error 13)",
                "`true` is no absolute path; look the program up on PATH first",
            ]
        );
        here.policy.read_paths.push("/nowhere".into());
        let error = here.run(good.clone()).await.unwrap_err();
        assert!(matches!(&error, LaunchError::PathUnusable { list: PathList::Read, .. }), "{error}");
        here.policy.read_paths.pop();
        here.policy.write_paths.push("/nowhere".into());
        let error = here.run(good.clone()).await.unwrap_err();
        assert!(matches!(&error, LaunchError::PathUnusable { list: PathList::Write, .. }), "{error}");
    }
}

#[tokio::test]
async fn a_policy_that_contradicts_itself_is_refused() {
    let Some(here) = here(BOTH[0]).await else { return };
    let good = here.launch("/bin/true", &[]);
    let mut under = here.policy.clone();
    under.protected.push(reyn_sandbox::ProtectedPath { path: here.inside.clone(), is_folder: true });
    let mut denied = here.policy.clone();
    denied.read_deny_paths.push(here.inside.clone());
    let mut zero = here.policy.clone();
    zero.limits.memory_bytes = Some(0);
    let mut relative = here.policy.clone();
    relative.read_paths.push("usr".into());
    let mut told = vec![];
    for policy in [under, denied, zero, relative] {
        let error = here.found.sandbox.run(&policy, good.clone(), Default::default()).await.unwrap_err();
        told.push(error.to_string().replace(here.inside.to_str().unwrap(), "W"));
    }
    assert_eq!(
        told,
        [
            "`W` may be written, but `W` is protected; take one of them out",
            "`W` may be written, but reading `W` is denied; take one of them out",
            "`memory_bytes` is 0, which lets nothing run; leave it out or raise it",
            "`usr` in `read_paths` is no absolute path without `..`",
        ]
    );
}

#[tokio::test]
async fn a_helper_that_is_none_is_an_error_that_says_so() {
    let helper = |program: &str| reyn_sandbox::HelperProgram::new(program, vec![]);
    for (program, end) in [("/nowhere", "No such file"), ("/bin/true", "it ended without a word")] {
        let found = reyn_sandbox::Sandbox::resolve(
            reyn_sandbox::BackendChoice::Noop,
            helper(program),
            reyn_sandbox::NamespaceChoice::Auto,
        )
        .await;
        let here = free().await;
        let launch = here.launch("/bin/true", &[]);
        let error = found.sandbox.run(&here.policy, launch, Default::default()).await.unwrap_err();
        assert!(error.to_string().contains(end), "{error}");
        assert!(matches!(error, LaunchError::HelperMissing { .. }));
    }
}

#[tokio::test]
async fn a_helper_that_is_carried_is_started_from_memory_and_one_that_is_no_program_from_its_file() {
    let probe: &[u8] = std::fs::read(crate::setup::PROBE).unwrap().leak();
    let cases: [(&[u8], &str); 2] = [(probe, "/nowhere"), (b"no program", crate::setup::PROBE)];
    for (carried, program) in cases {
        let mut helper = reyn_sandbox::HelperProgram::carried(carried);
        helper.program = program.into();
        let found = reyn_sandbox::Sandbox::resolve(
            reyn_sandbox::BackendChoice::Noop,
            helper,
            reyn_sandbox::NamespaceChoice::Auto,
        )
        .await;
        let here = free().await;
        for _ in 0..2 {
            let launch = here.launch("/bin/echo", &["hello"]);
            let exited = found.sandbox.run(&here.policy, launch, Default::default()).await.unwrap();
            assert_eq!(said(&exited), "hello", "{program}");
        }
    }
}

#[tokio::test]
async fn a_signal_is_told_from_a_code() {
    for here in [here(BOTH[0]).await, here(BOTH[1]).await, Some(free().await)].into_iter().flatten() {
        let (_, exited) = here.shell("kill -9 $$").await;
        assert_eq!(exited.ending, Ending::Signalled { signal: 9 }, "{}", said(&exited));
    }
}
