//! What a sandbox costs: CPU of a confined `/bin/true` above a bare one, paired, and the time to confine.
#![expect(clippy::print_stdout, reason = "numbers are its output")]

use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use reyn_sandbox::{
    BackendChoice, HelperProgram, Launch, Limits, NamespaceChoice, SUPERVISE, Sandbox, SandboxPolicy, system,
};

const ROUNDS: usize = 101;

fn cpu() -> Duration {
    [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN]
        .into_iter()
        .filter_map(|who| getrusage(who).ok())
        .flat_map(|usage| [usage.user_time(), usage.system_time()])
        .map(|time| {
            Duration::from_micros(u64::try_from(time.tv_sec() * 1_000_000 + time.tv_usec()).unwrap_or(0))
        })
        .sum()
}

fn median(mut values: Vec<i128>) -> i128 {
    values.sort_unstable();
    values[values.len() / 2]
}

fn micros(time: Duration) -> i128 {
    i128::try_from(time.as_micros()).unwrap_or(i128::MAX)
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let probe = env!("CARGO_BIN_EXE_sandbox-probe");
    // A whole program that starts itself again, or a small one that is carried; else what the tests use.
    let helper = match (std::env::var_os("REYN_HELPER"), std::env::var_os("REYN_CARRIED")) {
        (Some(program), _) => HelperProgram::new(program, vec![SUPERVISE.to_owned()]),
        (None, Some(program)) => HelperProgram::carried(std::fs::read(program).expect("it is there").leak()),
        (None, None) => HelperProgram::new(probe, vec![SUPERVISE.to_owned()]),
    };
    for namespaces in [NamespaceChoice::Auto, NamespaceChoice::Never] {
        let started = Instant::now();
        let found = runtime.block_on(Sandbox::resolve(BackendChoice::Auto, helper.clone(), namespaces));
        println!("{namespaces:?}: {} in {:?} {:?}", found.kind, started.elapsed(), found.reason);
        for network in [false, true] {
            let policy = SandboxPolicy {
                network,
                subprocess: true,
                read_paths: system::read_paths(),
                write_paths: system::write_paths(),
                limits: Limits { processes_max: Some(2000), ..Limits::default() },
                ..SandboxPolicy::nothing()
            };
            let launch = Launch {
                program: "/bin/true".into(),
                argv: vec!["true".into()],
                cwd: "/usr".into(),
                env: vec![],
                stdin: None,
                timeout: Duration::from_secs(10),
                output_bytes_max: 1000,
            };
            let (mut above, mut bare, mut wall, mut setup) = (vec![], vec![], vec![], vec![]);
            for _ in 0..ROUNDS {
                let before = cpu();
                std::process::Command::new("/bin/true").output().expect("true runs");
                let between = cpu();
                let started = Instant::now();
                let took = runtime.block_on(async {
                    let mut child = found.sandbox.spawn(&policy, &launch, &[]).expect("it starts");
                    child.wait().await.expect("it ends");
                    child.setup()
                });
                wall.push(micros(started.elapsed()));
                let after = cpu();
                bare.push(micros(between - before));
                above.push(micros(after - between) - micros(between - before));
                setup.extend(took.map(micros));
            }
            println!(
                "  network {network}: CPU {} us above a bare spawn of {} us; {} us of wall time; confining {} us",
                median(above),
                median(bare),
                median(wall),
                median(setup)
            );
        }
    }
}
