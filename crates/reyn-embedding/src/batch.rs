//! Work shared out to threads in order: what comes back does not depend on how many there are.

use std::sync::atomic::{AtomicUsize, Ordering};

const THREADS_MAX: usize = 64;
/// Items that a thread takes at a time: few enough to keep all busy, enough to be worth a product of matrices.
const TAKEN_MAX: usize = 32;

/// Makes a result for every item, in order, on up to `threads` threads; `of` gets a few neighbours at a time.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    of: impl Fn(&[T]) -> Vec<R> + Sync,
) -> Vec<R> {
    let threads = threads.clamp(1, THREADS_MAX);
    if threads == 1 || items.len() == 1 {
        return items.chunks(TAKEN_MAX).flat_map(of).collect();
    }
    let shares: Vec<&[T]> = items.chunks((items.len() / (threads * 4)).clamp(1, TAKEN_MAX)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = vec![];
        while let Some((at, share)) = take(&next, &shares) {
            done.push((at, of(share)));
        }
        done
    };
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(shares.len())).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().flat_map(|(_, results)| results).collect()
}

fn take<'a, T>(next: &AtomicUsize, shares: &[&'a [T]]) -> Option<(usize, &'a [T])> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    shares.get(at).map(|share| (at, *share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_threads_gives_the_same_in_the_same_order() {
        for count in [0, 1, 2, 5, 33, 1000] {
            let items: Vec<usize> = (0..count).collect();
            let doubled: Vec<usize> = items.iter().map(|item| item * 2).collect();
            for threads in [0, 1, 2, 3, 100] {
                let done = in_parallel(&items, threads, |items| items.iter().map(|item| item * 2).collect());
                assert_eq!(done, doubled, "{count} items, {threads} threads");
            }
        }
    }
}
