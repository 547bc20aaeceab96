//! x
#![expect(clippy::unwrap_used, reason = "tests")]
use reyn_sandbox::*;
use std::time::Duration;
#[tokio::test]
async fn hello() {
    let helper = HelperProgram {
        program: env!("CARGO_BIN_EXE_sandbox-probe").into(),
        arguments: vec![SUPERVISE.into()],
    };
    for n in [NamespaceChoice::Auto, NamespaceChoice::Never] {
        let r = Sandbox::resolve(BackendChoice::Auto, helper.clone(), n).await;
        eprintln!("{:#?}", r.reason);
        for a in &r.axes {
            eprintln!("{:?}", a)
        }
        let mut policy = SandboxPolicy::nothing();
        policy.read_paths = system::read_paths();
        policy.write_paths = system::write_paths();
        policy.subprocess = true;
        let launch = Launch { program: "/bin/sh".into(), argv: vec!["sh".into(), "-c".into(), "cat; echo hi; id; cat /proc/self/status | grep -E 'Cap|Sec|NoNew'; ls -l /proc/self/fd; env; ls -la /tmp; ls /root; cat /proc/1/status | head -3; exit 3".into()],
      cwd: "/usr".into(), env: vec![("PATH".into(), "/usr/bin:/bin".into())], stdin: Some(b"in\n".to_vec()), timeout: Duration::from_secs(10), output_bytes_max: 100000 };
        let e = r.sandbox.run(&policy, launch, Default::default()).await;
        match e {
            Ok(e) => eprintln!(
                "{:?} {:?} {:?}\n{}\n{}",
                e.ending,
                e.took,
                e.denial,
                String::from_utf8_lossy(&e.stdout.head),
                String::from_utf8_lossy(&e.stderr.head)
            ),
            Err(e) => eprintln!("ERR {e}"),
        }
    }
}
