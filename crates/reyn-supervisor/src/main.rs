//! Confines and runs one program, then ends.
//!
//! The `reyn` program carries this one in itself. It could do the same by starting itself again, at the price of
//! its own size: a process of many megabytes that is loaded once and copied twice for every program that runs.

fn main() {
    reyn_sandbox::supervise();
}
