//! Runs a process under a policy that the kernel keeps.
//!
//! Two promises: a process reaches nothing that its policy does not grant, as far as
//! [`Sandbox::unenforced`] does not say otherwise; and nothing that it started outlives its owner, also when the
//! owner is killed. The program that uses this crate must call [`supervise`] first thing in `main` when its first
//! argument is [`SUPERVISE`].

mod backend;
mod bytes_in_json;
mod captured;
mod child;
mod denial;
pub mod git;
mod helper_program;
mod launch;
#[cfg(target_os = "linux")]
mod linux;
mod noop;
mod plain;
mod policy;
pub mod program;
pub mod seatbelt;
pub mod shim;
pub mod system;

pub use backend::{
    Axis, AxisName, AxisState, BackendChoice, BackendKind, NamespaceChoice, Resolution, Sandbox,
    SandboxBackend, Unenforced,
};
pub use captured::Captured;
pub use child::{Child, DRAIN, Ending, Exited, GRACE};
pub use denial::Denial;
pub use helper_program::HelperProgram;
pub use launch::{Launch, LaunchError};
pub use policy::{Limits, PathList, ProtectedPath, SandboxPolicy};

/// The first argument of a program that is to confine another.
pub const SUPERVISE: &str = "__sandbox-exec";

/// Confines and runs what the owner says on descriptor 0, then ends this process. Never returns.
///
/// To be called before anything else in `main`, above all before a thread is started.
pub fn supervise() -> ! {
    #[cfg(target_os = "linux")]
    let code = {
        // What is started from memory has no name that says anything.
        let _ = rustix::thread::set_name(c"reyn-supervisor");
        linux::supervisor::main()
    };
    #[cfg(not(target_os = "linux"))]
    let code = 2;
    std::process::exit(code)
}
