//! Confines like the real program does; for the tests and the bench of this crate.

fn main() {
    if std::env::args_os().nth(1).is_some_and(|first| first == reyn_sandbox::SUPERVISE) {
        reyn_sandbox::supervise();
    }
}
