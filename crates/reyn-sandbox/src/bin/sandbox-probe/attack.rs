//! Attempts, each by the shortest way to the kernel.
#![expect(unsafe_code, reason = "an attacker makes bare system calls")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;

use nix::libc;
use nix::sys::signal::{SigHandler, Signal, signal};

/// How many things the greedy attempts take before they give up.
const MANY: usize = 20_000;

pub(crate) fn attempt(name: &str, arguments: &[&str]) -> io::Result<()> {
    match (name, arguments) {
        ("kernel", [call]) => kernel(call),
        ("process", [way]) => process(way),
        ("greedy", [what, much]) => greedy(what, much.parse().unwrap_or(0)),
        ("net", [way, at]) => net(way, at),
        ("signal", [pid]) => call(libc::SYS_kill, [number(pid), 0, 0, 0, 0, 0]).map(drop),
        ("ptrace", [pid]) => {
            const SEIZE: i64 = 0x4206;
            call(libc::SYS_ptrace, [SEIZE, number(pid), 0, 0, 0, 0]).map(drop)
        }
        ("agent", [lock]) => agent(lock),
        ("nested", [file]) => nested(file),
        ("hold", [lock]) => hold(lock),
        ("hold-stubborn", [lock]) => {
            ignore_terminate();
            hold(lock)
        }
        ("spin", []) => loop {
            std::hint::spin_loop();
        },
        ("descriptors", []) => descriptors(),
        ("echo-3", []) => {
            let mut control = File::from(rustix::io::dup(unsafe { std::os::fd::BorrowedFd::borrow_raw(3) })?);
            let mut text = [0; 64];
            let length = control.read(&mut text)?;
            control.write_all(&text[..length])
        }
        _ => file(name, arguments),
    }
}

fn file(name: &str, arguments: &[&str]) -> io::Result<()> {
    match (name, arguments) {
        ("read", [path]) => File::open(path)?.read(&mut [0; 16]).map(drop),
        ("list", [path]) => fs::read_dir(path).map(drop),
        ("write", [path]) => OpenOptions::new().create(true).append(true).open(path)?.write_all(b"attack\n"),
        ("make", [path]) => File::create_new(path).map(drop),
        ("folder", [path]) => fs::create_dir(path),
        ("truncate", [path]) => {
            let path = std::ffi::CString::new(*path)?;
            call(libc::SYS_truncate, [path.as_ptr() as i64, 0, 0, 0, 0, 0]).map(drop)
        }
        ("mode", [path]) => {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        }
        ("time", [path]) => {
            let now = rustix::fs::Timespec { tv_sec: 1, tv_nsec: 0 };
            let times = rustix::fs::Timestamps { last_access: now, last_modification: now };
            Ok(rustix::fs::utimensat(rustix::fs::CWD, *path, &times, rustix::fs::AtFlags::empty())?)
        }
        ("attribute", [path]) => {
            Ok(rustix::fs::setxattr(*path, "user.a", b"b", rustix::fs::XattrFlags::empty())?)
        }
        ("owner", [path]) => {
            let own = fs::metadata(path)?;
            std::os::unix::fs::chown(path, Some(own.uid()), Some(own.gid()))
        }
        ("link", [from, to]) => fs::hard_link(from, to),
        ("link-write", [from, to]) => {
            fs::hard_link(from, to)?;
            attempt("write", &[to])
        }
        ("symlink-write", [to, at]) => {
            std::os::unix::fs::symlink(to, at)?;
            attempt("write", &[at])
        }
        ("rename", [from, to]) => fs::rename(from, to),
        ("replace", [path]) => {
            let new = format!("{path}.new");
            fs::write(&new, "attack")?;
            fs::rename(&new, path)
        }
        ("unlink", [path]) => fs::remove_file(path),
        ("device", [path]) => {
            let path = std::ffi::CString::new(*path)?;
            let null_device = 0x103;
            let mode = i64::from(libc::S_IFCHR | 0o600);
            let at = i64::from(libc::AT_FDCWD);
            call(libc::SYS_mknodat, [at, path.as_ptr() as i64, mode, null_device, 0, 0]).map(drop)
        }
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn kernel(name: &str) -> io::Result<()> {
    let mut space = [0_u8; 256];
    match name {
        // An array map of one entry: type, key size, value size, entries.
        "bpf" => space[..16].copy_from_slice(&[2, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0]),
        "perf" => (space[0], space[4]) = (1, 112),
        "handle" => space[0] = 128,
        _ => {}
    }
    let buffer = space.as_mut_ptr() as i64;
    let root = c"/".as_ptr() as i64;
    let result = match name {
        "mount" => {
            let tmpfs = c"tmpfs".as_ptr() as i64;
            call(libc::SYS_mount, [tmpfs, c"/usr".as_ptr() as i64, tmpfs, 0, 0, 0])
        }
        "open_tree" => call(libc::SYS_open_tree, [i64::from(libc::AT_FDCWD), root, 1, 0, 0, 0]),
        "unshare" => call(libc::SYS_unshare, [i64::from(libc::CLONE_NEWUSER), 0, 0, 0, 0, 0]),
        "setns" => {
            let own = File::open("/proc/self/ns/uts")?;
            call(libc::SYS_setns, [i64::from(own.as_raw_fd()), 0, 0, 0, 0, 0])
        }
        "clone-user" => clone(libc::CLONE_NEWUSER),
        "chroot" => call(libc::SYS_chroot, [root, 0, 0, 0, 0, 0]),
        "io_uring" => call(libc::SYS_io_uring_setup, [4, buffer, 0, 0, 0, 0]),
        "bpf" => call(libc::SYS_bpf, [0, buffer, 72, 0, 0, 0]),
        "keyctl" => call(libc::SYS_keyctl, [0, -3, 1, 0, 0, 0]),
        "add_key" => {
            let user = c"user".as_ptr() as i64;
            call(libc::SYS_add_key, [user, c"reyn-probe".as_ptr() as i64, buffer, 4, -2, 0])
        }
        "userfaultfd" => call(libc::SYS_userfaultfd, [1, 0, 0, 0, 0, 0]),
        "perf" => call(libc::SYS_perf_event_open, [buffer, 0, -1, -1, 0, 0]),
        "handle" => {
            let at = i64::from(libc::AT_FDCWD);
            let mut mount = 0_i32;
            let mount = &raw mut mount as i64;
            call(libc::SYS_name_to_handle_at, [at, root, buffer, mount, 0, 0])
        }
        "vm_read" => {
            let target = [7_u8; 8];
            let here = libc::iovec { iov_base: buffer as *mut libc::c_void, iov_len: 8 };
            let there = libc::iovec { iov_base: target.as_ptr().cast_mut().cast(), iov_len: 8 };
            let pid = i64::from(std::process::id());
            call(libc::SYS_process_vm_readv, [pid, &raw const here as i64, 1, &raw const there as i64, 1, 0])
        }
        "syslog" => call(libc::SYS_syslog, [10, 0, 0, 0, 0, 0]),
        "personality" => call(libc::SYS_personality, [0x0040_0000, 0, 0, 0, 0, 0]),
        // A call of the x32 interface; kernels without it say that it does not exist.
        "x32" => call(0x4000_0000 + 39, [0; 6]),
        "newer" => call(467, [-1, 0, 0, 0, 0, 0]),
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    };
    result.map(drop)
}

fn process(way: &str) -> io::Result<()> {
    match way {
        #[cfg(target_arch = "x86_64")]
        "fork" => call(libc::SYS_fork, [0; 6]).map(end_child),
        "clone" => clone(0).map(drop),
        "clone3" => {
            let mut wish = [0_u64; 11];
            wish[4] = u64::from(libc::SIGCHLD.cast_unsigned());
            call(libc::SYS_clone3, [wish.as_mut_ptr() as i64, 88, 0, 0, 0, 0]).map(end_child)
        }
        // What std does: `posix_spawn`, which is `vfork` or `clone3` or `clone`.
        "spawn" => std::process::Command::new("/bin/true").status().map(drop),
        "exec" => {
            use std::os::unix::process::CommandExt;
            Err(std::process::Command::new("/bin/echo").arg("done").exec())
        }
        "thread" => std::thread::Builder::new()
            .spawn(|| {})?
            .join()
            .map_err(|_| io::Error::from_raw_os_error(libc::EFAULT)),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn end_child(pid: i64) {
    if pid == 0 {
        unsafe { libc::_exit(0) };
    }
}

fn clone(flags: libc::c_int) -> io::Result<i64> {
    let pid = call(libc::SYS_clone, [i64::from(flags | libc::SIGCHLD), 0, 0, 0, 0, 0])?;
    end_child(pid);
    Ok(pid)
}

fn net(way: &str, at: &str) -> io::Result<()> {
    let socket = |family, kind, protocol| {
        call(libc::SYS_socket, [i64::from(family), i64::from(kind), i64::from(protocol), 0, 0, 0]).map(drop)
    };
    match way {
        "tcp" => std::net::TcpStream::connect(at).map(drop),
        "listen" => std::net::TcpListener::bind("127.0.0.1:0").map(drop),
        "udp" => std::net::UdpSocket::bind("127.0.0.1:0")?.send_to(b"a", at).map(drop),
        "unix" => UnixStream::connect(at).map(drop),
        "unix-listen" => std::os::unix::net::UnixListener::bind(at).map(drop),
        "abstract" => UnixStream::connect_addr(&SocketAddr::from_abstract_name(at)?).map(drop),
        "pair" => {
            let (mut a, mut b) = UnixStream::pair()?;
            a.write_all(b"a")?;
            b.read_exact(&mut [0])
        }
        "netlink" => socket(libc::AF_NETLINK, libc::SOCK_RAW, at.parse().unwrap_or(0)),
        "raw" => socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP),
        "packet" => socket(libc::AF_PACKET, libc::SOCK_DGRAM, 0),
        "vsock" => socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn greedy(what: &str, much: usize) -> io::Result<()> {
    match what {
        "output" => {
            let piece = vec![b'x'; 1 << 20];
            let mut out = io::stdout().lock();
            let mut left = much;
            while left > 0 {
                let length = left.min(piece.len());
                out.write_all(&piece[..length])?;
                left -= length;
            }
            out.write_all(b"the end\n")
        }
        "memory" => {
            let mut held: Vec<u8> = vec![];
            held.try_reserve_exact(much).map_err(|_| io::Error::from_raw_os_error(libc::ENOMEM))?;
            held.resize(1 << 20, 1);
            std::hint::black_box(&held);
            Ok(())
        }
        "files" => {
            let held: io::Result<Vec<File>> = (0..much.min(MANY)).map(|_| File::open("/dev/null")).collect();
            held.map(drop)
        }
        "length" => File::create("long")?.write_all(&vec![0; much]),
        "processes" => {
            let mut children = 0;
            for _ in 0..much.min(MANY) {
                let pid = call(libc::SYS_clone, [i64::from(libc::SIGCHLD), 0, 0, 0, 0, 0]);
                match pid {
                    Ok(0) => wait_forever(),
                    Ok(_) => children += 1,
                    Err(error) => {
                        let _ = writeln!(io::stdout(), "{children}");
                        return Err(error);
                    }
                }
            }
            Ok(())
        }
        "bomb" => loop {
            let _ = call(libc::SYS_clone, [i64::from(libc::SIGCHLD), 0, 0, 0, 0, 0]);
        },
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// Locks a file for as long as this process or one that it started lives, one of them out of its session.
fn hold(path: &str) -> io::Result<()> {
    let lock = OpenOptions::new().create(true).append(true).open(path)?;
    lock.lock()?;
    if call(libc::SYS_clone, [i64::from(libc::SIGCHLD), 0, 0, 0, 0, 0])? == 0 {
        let _ = rustix::process::setsid();
        ignore_terminate();
        if call(libc::SYS_clone, [i64::from(libc::SIGCHLD), 0, 0, 0, 0, 0])? == 0 {
            let _ = rustix::process::setsid();
            wait_forever();
        }
        unsafe { libc::_exit(0) };
    }
    writeln!(io::stdout(), "held")?;
    wait_forever()
}

fn ignore_terminate() {
    let _ = unsafe { signal(Signal::SIGTERM, SigHandler::SigIgn) };
}

fn wait_forever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

fn descriptors() -> io::Result<()> {
    let mut open: Vec<String> = fs::read_dir("/proc/self/fd")?
        .flatten()
        .filter(|entry| fs::read_link(entry.path()).is_ok_and(|to| !to.ends_with("fd")))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    open.sort();
    writeln!(io::stdout(), "{}", open.join(" "))
}

/// Acts as the owner of a confined process that holds a lock, until somebody kills it.
fn agent(lock: &str) -> io::Result<()> {
    use reyn_sandbox::{
        BackendChoice, HelperProgram, Launch, NamespaceChoice, Sandbox, SandboxPolicy, system,
    };
    let namespaces =
        if std::env::var_os("NEVER").is_some() { NamespaceChoice::Never } else { NamespaceChoice::Auto };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let found =
            Sandbox::resolve(BackendChoice::Landlock, HelperProgram::this_program(), namespaces).await;
        let folder = std::path::Path::new(lock).parent().unwrap_or(std::path::Path::new("/")).to_owned();
        let program = std::env::current_exe()?;
        let policy = SandboxPolicy {
            subprocess: true,
            read_paths: system::read_paths(),
            write_paths: vec![folder.clone()],
            protected: vec![reyn_sandbox::ProtectedPath { path: folder.join("absent"), is_folder: false }],
            ..SandboxPolicy::nothing()
        };
        let launch = Launch {
            argv: vec!["probe".into(), "hold-stubborn".into(), lock.into()],
            program,
            cwd: folder,
            env: vec![],
            stdin: None,
            timeout: Duration::from_secs(60),
            output_bytes_max: 1000,
        };
        let mut child = found.sandbox.spawn(&policy, &launch, &[]).map_err(io::Error::other)?;
        let mut text = [0; 5];
        if let Some(stdout) = &mut child.stdout {
            tokio::io::AsyncReadExt::read_exact(stdout, &mut text).await?;
        }
        writeln!(io::stdout(), "{}", String::from_utf8_lossy(&text))?;
        child.wait().await.map_err(io::Error::other)?;
        Ok(())
    })
}

/// Runs a program in a sandbox of this process's own, and lets it try a file that only this process may write.
fn nested(file: &str) -> io::Result<()> {
    use reyn_sandbox::{
        BackendChoice, HelperProgram, Launch, NamespaceChoice, Sandbox, SandboxPolicy, system,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let found =
            Sandbox::resolve(BackendChoice::Landlock, HelperProgram::this_program(), NamespaceChoice::Auto)
                .await;
        let policy = SandboxPolicy { read_paths: system::read_paths(), ..SandboxPolicy::nothing() };
        let launch = |arguments: &[&str]| Launch {
            program: std::env::current_exe().unwrap_or_default(),
            argv: arguments.iter().map(Into::into).collect(),
            cwd: "/usr".into(),
            env: vec![],
            stdin: None,
            timeout: Duration::from_secs(10),
            output_bytes_max: 1000,
        };
        let mut said = vec![];
        for arguments in [["", "read", "/etc/hosts"], ["", "write", file]] {
            let run = found.sandbox.run(&policy, launch(&arguments), Default::default());
            let exited = run.await.map_err(io::Error::other)?;
            said.push(String::from_utf8_lossy(&exited.stdout.head).trim().replace("done", "ok"));
        }
        writeln!(io::stdout(), "{} {} {}", found.kind, found.is_nested, said.join(" "))
    })
}

fn number(text: &str) -> i64 {
    text.parse().unwrap_or(-1)
}

fn call(number: libc::c_long, arguments: [i64; 6]) -> io::Result<i64> {
    let [a, b, c, d, e, f] = arguments;
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
