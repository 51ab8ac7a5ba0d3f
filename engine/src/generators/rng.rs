//! Random numbers: xoshiro256++ (Blackman and Vigna 2019), one stream per connection.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// A stream of random numbers whose sequence is fixed by what it was made from.
#[derive(Debug, Clone)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The stream of `path` below a seed: streams of different paths are independent.
    pub fn for_stream(seed: u64, path: &[u64]) -> Self {
        let state = path.iter().fold(mix(seed), |state, &part| mix(state ^ mix(part)));
        Rng(Xoshiro256PlusPlus::seed_from_u64(state))
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A number in (0, 1].
    pub fn unit_above_zero(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// A whole number in [0, n), by multiplication (Lemire 2019); the bias is below n / 2^64.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }
}

/// The finalizer of splitmix64 (Steele, Lea and Flood 2014).
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ_by_each_part_of_their_path() {
        let first = |seed, path: &[u64]| Rng::for_stream(seed, path).next_u64();
        assert_eq!(first(1, &[2, 3]), first(1, &[2, 3]));
        let all = [first(1, &[2, 3]), first(1, &[3, 2]), first(2, &[2, 3]), first(1, &[2])];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b), "{all:?}");
        }
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut rng = Rng::for_stream(7, &[]);
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            counts[rng.below(10) as usize] += 1;
        }
        // each count is binomial(100000, 0.1): sigma 95, so 5 sigma is 475
        assert!(counts.iter().all(|&n| n.abs_diff(10_000) < 475), "{counts:?}");
    }
}
