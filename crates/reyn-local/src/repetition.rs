//! Whether a model says the same again and again, as small ones do when they always take the likeliest word.

/// Longest stretch that is looked for, in tokens.
const STRETCH_MAX: usize = 160;
/// How much must have been said before, in tokens, for a repetition to count.
const REPEATED_MIN: usize = 48;

/// Whether the tokens end in a stretch that was said before, right before, and for long enough.
pub(crate) fn is_loop<T: PartialEq>(tokens: &[T]) -> bool {
    (1..=STRETCH_MAX).any(|stretch| {
        let repeated = stretch.max(REPEATED_MIN);
        let Some(from) = tokens.len().checked_sub(repeated).filter(|from| *from >= stretch) else {
            return false;
        };
        (from..tokens.len()).rev().all(|at| tokens[at] == tokens[at - stretch])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_that_comes_again_is_a_loop_and_a_short_or_distant_one_is_none() {
        let paragraph: Vec<u32> = (0..80).collect();
        let twice = [paragraph.clone(), paragraph.clone()].concat();
        let apart = [paragraph.clone(), vec![900], paragraph.clone()].concat();
        let table = [
            (twice.clone(), true),
            (twice[..159].to_vec(), false),
            ([twice, vec![7]].concat(), false),
            // The same text a little later is a copy with a stretch of its own.
            (apart.clone(), false),
            ([apart, vec![900]].concat(), true),
            (vec![5; 49], true),
            (vec![5; 48], false),
            ([1, 2, 3].repeat(17), true),
            ([1, 2, 3].repeat(10), false),
            (paragraph, false),
            (vec![], false),
        ];
        for (tokens, expected) in table {
            assert_eq!(is_loop(&tokens), expected, "{} tokens", tokens.len());
        }
    }
}
