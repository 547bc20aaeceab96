//! How much memory is free.

/// Memory that programs can still take without others being pushed out, where the system tells.
#[must_use]
pub fn free_memory_bytes() -> Option<u64> {
    std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| available_bytes(&text))
}

/// Reads `MemAvailable` out of `/proc/meminfo`.
fn available_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_and_anything_else_is_unknown() {
        assert_eq!(
            [
                available_bytes("MemTotal:  9 kB\nMemAvailable:   6291456 kB\nBuffers: 1 kB\n"),
                available_bytes("MemTotal:  9 kB\n"),
                available_bytes("MemAvailable: lots\n"),
            ],
            [Some(6 << 30), None, None]
        );
    }
}
