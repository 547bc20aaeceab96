//! What a sandbox seems to have refused, read from what a failed process said.

use crate::captured::Captured;
use crate::child::Ending;

/// A refusal that a process tripped over. A guess from its words: told to help, never decided on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// It could not start a process.
    Subprocess,
    /// It could not reach the network.
    Network,
    /// It could not write where it is protected.
    Write,
    /// It could not reach a file.
    File,
    /// It wrote a file longer than it may.
    FileSize,
}

/// The kernel's signal for a file that grew too long.
const SIGXFSZ: i32 = 25;

/// Signs of a refusal; the first that is found counts.
const SIGNS: [(&str, Denial); 11] = [
    ("fork: Operation not permitted", Denial::Subprocess),
    ("fork: Resource temporarily unavailable", Denial::Subprocess),
    ("Cannot fork", Denial::Subprocess),
    ("fork failed: Operation not permitted", Denial::Subprocess),
    ("Can't assign requested address", Denial::Network),
    ("Could not resolve host", Denial::Network),
    ("Temporary failure in name resolution", Denial::Network),
    ("socket: Operation not permitted", Denial::Network),
    ("Read-only file system", Denial::Write),
    ("File too large", Denial::FileSize),
    ("Permission denied", Denial::File),
];

pub(crate) fn of(ending: Ending, stderr: &Captured) -> Option<Denial> {
    match ending {
        Ending::Exited { code: 0 } | Ending::TimedOut | Ending::Cancelled => return None,
        Ending::Signalled { signal: SIGXFSZ } => return Some(Denial::FileSize),
        Ending::Signalled { .. } | Ending::Exited { .. } => {}
    }
    let said = |sign: &str| {
        [&stderr.head, &stderr.tail]
            .iter()
            .any(|text| text.windows(sign.len()).any(|piece| piece == sign.as_bytes()))
    };
    SIGNS.iter().find(|(sign, _)| said(sign)).map(|(_, denial)| *denial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_failure_is_explained() {
        let stderr = Captured { head: b"sh: 1: Cannot fork\n".to_vec(), ..Captured::default() };
        assert_eq!(of(Ending::Exited { code: 2 }, &stderr), Some(Denial::Subprocess));
        assert_eq!(of(Ending::Exited { code: 0 }, &stderr), None);
        assert_eq!(of(Ending::Exited { code: 1 }, &Captured::default()), None);
        assert_eq!(of(Ending::Signalled { signal: SIGXFSZ }, &Captured::default()), Some(Denial::FileSize));
    }
}
