//! Ways out. Each is tried without a sandbox first, where it must work: else its failure inside says nothing.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use reyn_sandbox::NamespaceChoice;

use crate::setup::{BOTH, Here, free, here, skip};

/// Makes an attempt without a sandbox and with one, in fresh workspaces; says whether it works without.
async fn refused(namespaces: NamespaceChoice, attempt: impl Fn(&Here) -> Vec<String>, errors: &[&str]) {
    let free = free().await;
    let arguments = attempt(&free);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let without = free.attempt(&arguments).await;
    let Some(here) = here(namespaces).await else { return };
    let arguments = attempt(&here);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if without != "done" {
        skip(&format!("{arguments:?} is refused without a sandbox too: {without}"));
    }
    let within = here.attempt(&arguments).await;
    assert!(errors.contains(&within.as_str()), "{namespaces:?} {arguments:?}: {within}, not {errors:?}");
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[tokio::test]
async fn files_outside_the_grants_are_out_of_reach() {
    for namespaces in BOTH {
        let denied = &["EACCES", "EROFS"][..];
        refused(namespaces, |here| words(&["read", &here.beside("file")]), denied).await;
        refused(namespaces, |here| words(&["list", &here.beside("")]), denied).await;
        refused(namespaces, |here| words(&["write", &here.beside("file")]), denied).await;
        refused(namespaces, |here| words(&["make", &here.beside("new")]), denied).await;
        refused(namespaces, |here| words(&["folder", &here.beside("new")]), denied).await;
        refused(namespaces, |here| words(&["unlink", &here.beside("file")]), denied).await;
        refused(namespaces, |here| words(&["truncate", &here.beside("file")]), denied).await;
        refused(namespaces, |here| words(&["symlink-write", &here.beside("file"), &here.at("link")]), denied)
            .await;
        let through = |here: &Here| words(&["write", &format!("/proc/self/root{}", here.beside("file"))]);
        refused(namespaces, through, denied).await;
        let upwards = |here: &Here| words(&["write", &here.at("../out/file")]);
        refused(namespaces, upwards, denied).await;
        let crossing = &["EXDEV", "EACCES", "EROFS"][..];
        refused(namespaces, |here| words(&["link-write", &here.beside("file"), &here.at("name")]), crossing)
            .await;
        refused(namespaces, |here| words(&["rename", &here.beside("file"), &here.at("name")]), crossing)
            .await;
        refused(namespaces, |here| words(&["rename", &here.at("file"), &here.beside("name")]), crossing)
            .await;
        refused(namespaces, |_| words(&["read", "/etc/shadow"]), denied).await;
        refused(namespaces, |here| words(&["device", &here.at("null")]), &["EPERM", "EROFS"]).await;
    }
}

#[tokio::test]
async fn a_grant_within_a_grant_is_an_entry_like_others() {
    for namespaces in BOTH {
        let Some(mut here) = here(namespaces).await else { continue };
        std::fs::create_dir(here.inside.join("inner")).unwrap();
        here.policy.write_paths.push(here.inside.join("inner"));
        assert_eq!(here.attempt(&["make", &here.at("inner/new")]).await, "done");
        assert_eq!(here.attempt(&["rename", &here.at("inner"), &here.at("moved")]).await, "done");
    }
}

#[tokio::test]
async fn modes_owners_and_times_outside_stay() {
    let path = |here: &Here| here.beside("file");
    for way in ["mode", "time", "attribute", "owner"] {
        refused(NamespaceChoice::Auto, |here| words(&[way, &path(here)]), &["EROFS", "EPERM"]).await;
        let Some(here) = here(NamespaceChoice::Auto).await else { return };
        assert_eq!(here.attempt(&[way, &here.at("file")]).await, "done", "{way}");
    }
    // A program of the system lies in a read path.
    let Some(here) = here(NamespaceChoice::Auto).await else { return };
    assert_eq!(here.attempt(&["mode", "/usr/bin/env"]).await, "EROFS");
}

#[tokio::test]
async fn what_is_granted_works() {
    for namespaces in BOTH {
        let Some(here) = here(namespaces).await else { continue };
        for arguments in [
            &["read", &here.at("file")][..],
            &["write", &here.at("file")],
            &["make", &here.at("new")],
            &["folder", &here.at("folder")],
            &["truncate", &here.at("new")],
            &["symlink-write", &here.at("file"), &here.at("link")],
            &["link", &here.at("file"), &here.at("name")],
            &["rename", &here.at("name"), &here.at("folder/name")],
            &["unlink", &here.at("folder/name")],
            &["write", "/dev/null"],
            &["process", "spawn"],
            &["process", "exec"],
            &["process", "thread"],
            &["net", "pair", ""],
        ] {
            assert_eq!(here.attempt(arguments).await, "done", "{namespaces:?} {arguments:?}");
        }
    }
}

#[tokio::test]
async fn the_kernel_gives_no_powers() {
    for namespaces in BOTH {
        for call in [
            "mount",
            "open_tree",
            "unshare",
            "setns",
            "clone-user",
            "chroot",
            "io_uring",
            "bpf",
            "keyctl",
            "add_key",
            "userfaultfd",
            "perf",
            "handle",
            "vm_read",
            "syslog",
            "personality",
        ] {
            if call == "mount" {
                // Without a sandbox it would change the host.
                let Some(here) = here(namespaces).await else { break };
                assert_eq!(here.attempt(&["kernel", call]).await, "EPERM");
                continue;
            }
            refused(namespaces, |_| words(&["kernel", call]), &["EPERM"]).await;
        }
        let Some(here) = here(namespaces).await else { continue };
        assert_eq!(here.attempt(&["kernel", "x32"]).await, "ENOSYS");
        assert_eq!(here.attempt(&["kernel", "newer"]).await, "ENOSYS");
    }
}

#[tokio::test]
async fn other_processes_are_out_of_reach() {
    for namespaces in BOTH {
        let own = std::process::id().to_string();
        refused(namespaces, |_| words(&["signal", &own]), &["ESRCH", "EPERM"]).await;
        refused(namespaces, |_| words(&["ptrace", &own]), &["EPERM"]).await;
        let environment = format!("/proc/{own}/environ");
        refused(namespaces, |_| words(&["read", &environment]), &["ENOENT", "EACCES"]).await;
        let memory = format!("/proc/{own}/mem");
        let Some(here) = here(namespaces).await else { continue };
        let within = here.attempt(&["read", &memory]).await;
        assert!(["ENOENT", "EACCES"].contains(&within.as_str()), "{within}");
        // The init of the run, or the host's.
        assert_eq!(here.attempt(&["read", "/proc/1/environ"]).await, "EACCES");
    }
}

#[tokio::test]
async fn without_the_network_there_is_no_socket() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap().to_string();
    let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = datagrams.local_addr().unwrap().to_string();
    let name = format!("reyn-sandbox-test-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _path = UnixListener::bind(&path).unwrap();
    let path = path.to_str().unwrap();
    for namespaces in BOTH {
        for (way, at) in [
            ("tcp", at.as_str()),
            ("listen", ""),
            ("udp", &to),
            ("abstract", &name),
            ("unix", path),
            ("netlink", "0"),
            ("raw", ""),
            ("packet", ""),
        ] {
            refused(namespaces, |_| words(&["net", way, at]), &["EPERM"]).await;
        }
        refused(namespaces, |here| words(&["net", "unix-listen", &here.at("socket")]), &["EPERM"]).await;
    }
    assert!(datagrams.set_nonblocking(true).is_ok());
}

#[tokio::test]
async fn with_the_network_only_plain_sockets_are_there() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap().to_string();
    let name = format!("reyn-sandbox-test-network-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    for namespaces in BOTH {
        let Some(mut here) = here(namespaces).await else { continue };
        here.policy.network = true;
        for (way, at, expected) in [
            ("tcp", at.as_str(), "done"),
            ("listen", "", "done"),
            ("unix-listen", &here.at("socket"), "done"),
            ("netlink", "0", "done"),
            ("netlink", "9", "EPERM"),
            ("abstract", &name, "EPERM"),
            ("raw", "", "EPERM"),
            ("packet", "", "EPERM"),
            ("vsock", "", "EPERM"),
        ] {
            assert_eq!(here.attempt(&["net", way, at]).await, expected, "{namespaces:?} {way} {at}");
        }
    }
}

#[tokio::test]
async fn sockets_of_daemons_are_covered_while_the_network_is_on() {
    let Some(mut here) = here(NamespaceChoice::Auto).await else { return };
    here.policy.network = true;
    let folder = std::path::Path::new("/run/podman");
    if folder.exists() || std::fs::create_dir(folder).is_err() {
        return skip("`/run/podman` cannot be made for this test");
    }
    let path = folder.join("podman.sock");
    let listener = UnixListener::bind(&path);
    let free = free().await;
    let without = free.attempt(&["net", "unix", path.to_str().unwrap()]).await;
    let within = here.attempt(&["net", "unix", path.to_str().unwrap()]).await;
    drop(listener);
    std::fs::remove_dir_all(folder).unwrap();
    assert_eq!((without.as_str(), within.as_str()), ("done", "ENOENT"));
}

#[tokio::test]
async fn without_subprocesses_there_are_threads_and_one_program() {
    for namespaces in BOTH {
        let Some(mut here) = here(namespaces).await else { continue };
        for way in ["fork", "clone", "clone3", "spawn"] {
            assert_eq!(free().await.attempt(&["process", way]).await, "done", "{way}");
        }
        here.policy.subprocess = false;
        for (way, expected) in [
            ("fork", "EPERM"),
            ("clone", "EPERM"),
            ("clone3", "ENOSYS"),
            ("spawn", "EPERM"),
            ("thread", "done"),
            ("exec", "done"),
        ] {
            assert_eq!(here.attempt(&["process", way]).await, expected, "{namespaces:?} {way}");
        }
    }
}

#[tokio::test]
async fn temporary_files_are_private_and_gone_afterwards() {
    for namespaces in BOTH {
        let Some(here) = here(namespaces).await else { continue };
        let line = "echo secret > $TMPDIR/a && cat $TMPDIR/a && ls -d $TMPDIR && \
                    mkdir -p $TMPDIR/b/c && touch $TMPDIR/b/c/d && chmod 0 $TMPDIR/b/c $TMPDIR/b $TMPDIR";
        let (text, _) = here.shell(line).await;
        let folder = text.lines().nth(1).unwrap().to_owned();
        assert_eq!(text.lines().next(), Some("secret"));
        assert!(!std::path::Path::new(&folder).exists(), "{folder}");
    }
}

#[tokio::test]
async fn shared_memory_is_private() {
    let Some(here) = here(NamespaceChoice::Auto).await else { return };
    let name = format!("reyn-sandbox-test-{}", std::process::id());
    let (text, _) = here.shell(&format!("echo a > /dev/shm/{name} && cat /dev/shm/{name}")).await;
    assert_eq!(text, "a\n");
    assert!(!std::path::Path::new("/dev/shm").join(name).exists());
}

#[tokio::test]
async fn a_sandbox_works_inside_a_sandbox() {
    for namespaces in BOTH {
        let Some(here) = here(namespaces).await else { continue };
        assert_eq!(here.attempt(&["nested", &here.at("file")]).await, "landlock true ok EACCES\ndone");
    }
}
