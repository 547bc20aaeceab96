//! Panics while a screen is drawn: kept, and told once the terminal is itself again.
//!
//! A panic of a tool's code is caught and the chat goes on, so nothing is written over the screen and the terminal stays
//! as the screen needs it. Whoever ends the screen tells what was kept.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::sync::{Mutex, Once, PoisonError};

use reyn_core::text::prefix;

/// Panics that are kept; what comes after these tells nothing new.
const KEPT_MAX: usize = 8;
/// Bytes of the words of one.
const WORDS_BYTES_MAX: usize = 16 << 10;

/// What was kept; `None` while panics are told at once.
static KEPT: Mutex<Option<Vec<String>>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// From here on panics are kept.
pub(crate) fn keep() {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !is_kept(&info.to_string()) {
                before(info);
            }
        }));
    });
}

/// What was kept. From here on panics are told at once again.
pub(crate) fn taken() -> Vec<String> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
}

fn is_kept(words: &str) -> bool {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(kept) = kept.as_mut() else { return false };
    if kept.len() < KEPT_MAX {
        let thread = std::thread::current();
        let mut told = format!("thread `{}` {words}", thread.name().unwrap_or("without a name"));
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            told.push_str(&format!("\n{trace}"));
        }
        kept.push(prefix(&told, WORDS_BYTES_MAX).to_owned());
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caught_panic_is_kept_while_a_screen_is_drawn_and_told_afterwards() {
        keep();
        let fails =
            || std::thread::Builder::new().name("a tool".to_owned()).spawn(|| panic!("it broke")).unwrap();
        for _ in 0..KEPT_MAX + 1 {
            assert!(fails().join().is_err());
        }
        let told = taken();
        assert_eq!(told.len(), KEPT_MAX);
        assert!(told[0].starts_with("thread `a tool` panicked at "), "{}", told[0]);
        assert!(told[0].contains("it broke"), "{}", told[0]);
        assert!(!is_kept("what comes later"));
        assert_eq!(taken(), [] as [&str; 0]);
    }
}
