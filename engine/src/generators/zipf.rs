//! Zipfian numbers as YCSB draws them.

use super::rng::Rng;

/// How many items YCSB's scrambled zipfian draws from before hashing: 0 to
/// `ScrambledZipfianGenerator.ITEM_COUNT`, both included.
const SCRAMBLED_ITEMS: u64 = 10_000_000_001;
/// zeta(10^10, 0.99), as precomputed in YCSB (`ScrambledZipfianGenerator.ZETAN`).
const SCRAMBLED_ZETA: f64 = 26.469_028_201_783_02;

/// Zipfian ranks 0 .. n, rank 0 the most popular, by the method of Gray et al., "Quickly
/// generating billion-record synthetic databases", SIGMOD 1994, as YCSB's `ZipfianGenerator`
/// has it: P(rank r) is about 1 / ((r + 1)^theta zeta(n, theta)), exact for ranks 0 and 1.
#[derive(Debug, Clone)]
pub struct Zipfian {
    items: u64,
    theta: f64,
    alpha: f64,
    zeta: f64,
    zeta_two: f64,
    eta: f64,
}

impl Zipfian {
    /// Over `items` ranks (at least 1); `theta` in (0, 1).
    pub fn new(items: u64, theta: f64) -> Self {
        Zipfian::with_zeta(items, theta, zeta(items, theta))
    }

    /// Over the ranks that YCSB's scrambled zipfian hashes, with its precomputed zeta.
    pub fn to_be_scrambled(theta: f64) -> Self {
        let known = if theta == 0.99 { SCRAMBLED_ZETA } else { zeta(SCRAMBLED_ITEMS, theta) };
        Zipfian::with_zeta(SCRAMBLED_ITEMS, theta, known)
    }

    fn with_zeta(items: u64, theta: f64, zeta: f64) -> Self {
        let mut zipfian = Zipfian {
            items,
            theta,
            alpha: 1.0 / (1.0 - theta),
            zeta,
            zeta_two: 1.0 + 0.5_f64.powf(theta),
            eta: 0.0,
        };
        zipfian.update_eta();
        zipfian
    }

    /// Sets a larger number of items, adding the new terms of zeta. A smaller number is ignored, as
    /// YCSB ignores it.
    pub fn grow(&mut self, items: u64) {
        if items <= self.items {
            return;
        }
        for n in self.items + 1..=items {
            self.zeta += (n as f64).powf(-self.theta);
        }
        self.items = items;
        self.update_eta();
    }

    fn update_eta(&mut self) {
        let two_of_n = (2.0 / self.items as f64).powf(1.0 - self.theta);
        self.eta = (1.0 - two_of_n) / (1.0 - self.zeta_two / self.zeta);
    }

    /// A rank in [0, items).
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        let u = rng.unit();
        let uz = u * self.zeta;
        if uz < 1.0 {
            return 0;
        }
        if uz < self.zeta_two {
            return 1.min(self.items - 1);
        }
        let rank = self.items as f64 * (self.eta * u - self.eta + 1.0).powf(self.alpha);
        (rank as u64).min(self.items - 1)
    }
}

/// The generalized harmonic number: the sum over i from 1 to n of i^-theta.
///
/// The first thousand terms are added up; the rest is the Euler-Maclaurin formula, whose
/// error here is below 1e-13.
pub fn zeta(n: u64, theta: f64) -> f64 {
    const HEAD: u64 = 1_000;
    let term = |i: f64| i.powf(-theta);
    let head: f64 = (1..=n.min(HEAD)).rev().map(|i| term(i as f64)).sum();
    if n <= HEAD {
        return head;
    }
    let (a, b) = (HEAD as f64, n as f64);
    let integral = if theta == 1.0 {
        (b / a).ln()
    } else {
        (b.powf(1.0 - theta) - a.powf(1.0 - theta)) / (1.0 - theta)
    };
    let slope = |x: f64| -theta * x.powf(-theta - 1.0);
    head + integral + (term(b) - term(a)) / 2.0 + (slope(b) - slope(a)) / 12.0
}

/// YCSB's `Utils.fnvhash64`: 64-bit FNV-1a over the eight bytes of a number, lowest first, then
/// the absolute value.
pub fn fnv_hash(value: u64) -> u64 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 1_099_511_628_211;
    let hash = value
        .to_le_bytes()
        .iter()
        .fold(OFFSET_BASIS, |hash, &octet| (hash ^ u64::from(octet)).wrapping_mul(PRIME));
    (hash as i64).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeta_agrees_with_ycsbs_precomputed_value_and_with_plain_sums() {
        // YCSB added ten billion terms one by one; its rounding errors are of this order
        assert!((zeta(10_000_000_000, 0.99) - SCRAMBLED_ZETA).abs() < 1e-6);
        for (n, theta) in [(1, 0.99), (10, 0.5), (1_000, 0.99), (1_001, 0.99), (250_000, 0.8)] {
            let sum: f64 = (1..=n).rev().map(|i| (i as f64).powf(-theta)).sum();
            assert!((zeta(n, theta) - sum).abs() < 1e-10, "{n} {theta}");
        }
    }

    #[test]
    fn growing_step_by_step_is_the_same_as_starting_larger() {
        let mut grown = Zipfian::new(1_000, 0.99);
        grown.grow(1_500);
        grown.grow(4_000);
        let direct = Zipfian::new(4_000, 0.99);
        assert!((grown.zeta - direct.zeta).abs() < 1e-9);
        assert!((grown.eta - direct.eta).abs() < 1e-9);
    }

    #[test]
    fn the_first_two_ranks_have_their_exact_probabilities() {
        let zipfian = Zipfian::new(1_000, 0.99);
        let mut rng = Rng::for_stream(3, &[]);
        let draws = 400_000;
        let mut counts = vec![0_u32; 1_000];
        for _ in 0..draws {
            counts[zipfian.draw(&mut rng) as usize] += 1;
        }
        for (rank, &count) in counts[..2].iter().enumerate() {
            let p = ((rank + 1) as f64).powf(-0.99) / zeta(1_000, 0.99);
            let sigma = (f64::from(draws) * p * (1.0 - p)).sqrt();
            let off = (f64::from(count) - p * f64::from(draws)).abs();
            assert!(off < 5.0 * sigma, "rank {rank}: off by {off}, sigma {sigma}");
        }
    }

    #[test]
    fn fnv_hash_has_the_values_of_the_definition() {
        // FNV-1a in 128-bit arithmetic with an explicit modulus
        let by_definition = |value: u64| {
            let mut hash: u128 = 14_695_981_039_346_656_037;
            for octet in value.to_le_bytes() {
                hash = ((hash ^ u128::from(octet)) * 1_099_511_628_211) % (1_u128 << 64);
            }
            let signed = hash as u64 as i64;
            signed.unsigned_abs()
        };
        for value in [0, 1, 255, 256, 123_456_789, u64::MAX] {
            assert_eq!(fnv_hash(value), by_definition(value));
        }
        // eight zero bytes hash to 0xa8c7f832281a39c5, negative as a Java long: its sign is dropped
        assert_eq!(fnv_hash(0), 0xa8c7_f832_281a_39c5_u64.wrapping_neg());
    }
}
