//! For the tests and the bench of this crate: confines like the real program does, and as the confined program
//! makes one attempt that its arguments name, and prints `done` or the name of the error.
#![expect(clippy::print_stdout, reason = "what it found is its output")]

#[cfg(target_os = "linux")]
mod attack;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().unwrap_or_default();
    if first == reyn_sandbox::SUPERVISE {
        reyn_sandbox::supervise();
    }
    #[cfg(target_os = "linux")]
    {
        let arguments: Vec<String> = arguments.collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match attack::attempt(&first, &arguments) {
            Ok(()) => println!("done"),
            Err(error) => println!("{:?}", nix::errno::Errno::from_raw(error.raw_os_error().unwrap_or(0))),
        }
    }
}
