//! What something costs: CPU time of this process and of the server, memory.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Milliseconds.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Cost {
    /// CPU of this process.
    pub(crate) own: f64,
    /// CPU of every PostgreSQL process of this machine.
    pub(crate) server: f64,
    pub(crate) wall: f64,
}

impl Cost {
    pub(crate) fn cpu(self) -> f64 {
        self.own + self.server
    }
}

/// What `work` costs. The server is looked at when there is one.
pub(crate) fn of<T>(has_server: bool, work: impl FnOnce() -> T) -> (T, Cost) {
    let server = || if has_server { server_ms() } else { 0.0 };
    let (before, start, own) = (server(), std::time::Instant::now(), own_ms());
    let done = work();
    let cost = Cost {
        own: own_ms() - own,
        wall: start.elapsed().as_secs_f64() * 1e3, // What a process that ends spent is in neither account for a moment.
        server: (server() - before).max(0.0),
    };
    (done, cost)
}

/// The cost in the middle by CPU.
pub(crate) fn median(mut costs: Vec<Cost>) -> Cost {
    costs.sort_by(|a, b| a.cpu().total_cmp(&b.cpu()));
    costs[costs.len() / 2]
}

fn own_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Of the processes that run the nanoseconds of the scheduler, of those that ended the ticks that their parent counts.
fn server_ms() -> f64 {
    /// Ticks of a second, on every Linux.
    const TICKS: f64 = 100.0;
    let of_process = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let (name, rest) = text.split_once(") ")?;
        if !name.ends_with("(postgres") {
            return None;
        }
        let ended = rest.split_whitespace().skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
        let runs = std::fs::read_to_string(entry.path().join("schedstat")).ok()?;
        let runs: f64 = runs.split_whitespace().next()?.parse().ok()?;
        Some(runs / 1e6 + ended.sum::<f64>() / TICKS * 1e3)
    };
    std::fs::read_dir("/proc").unwrap().filter_map(|entry| of_process(entry.ok()?)).sum()
}

/// Memory of this process.
pub(crate) fn resident_mib() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = pages.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096.0 / f64::from(1 << 20)
}
