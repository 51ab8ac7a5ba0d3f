//! Drawing a number below n by a distribution.

use super::rng::Rng;
use super::sysbench::{self, RejectionZipfian};
use super::zipf::{Zipfian, fnv_hash};
use crate::error::EngineError;
use crate::spec::Distribution;

/// The numbers that may be drawn.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// How many there were at the start.
    pub initial: u64,
    /// How many there are now: the initial ones and those added since. At least 1.
    pub now: u64,
}

/// A distribution that is ready to be drawn from. Some keep state from draw to draw.
#[derive(Debug, Clone)]
pub struct Chooser {
    sampler: Sampler,
}

#[derive(Debug, Clone)]
enum Sampler {
    Uniform,
    Sequential {
        next: u64,
        step: u64,
    },
    Zipfian(Zipfian),
    Scrambled {
        zipfian: Zipfian,
        items: u64,
    },
    Latest(Zipfian),
    Hotspot {
        hot_set: f64,
        hot_operations: f64,
    },
    Exponential {
        gamma: f64,
    },
    Gaussian {
        iterations: u32,
    },
    Special {
        iterations: u32,
        hot_set: u32,
        hot_operations: u32,
    },
    Pareto {
        power: f64,
    },
    Rejection(RejectionZipfian),
    /// TPC-C's NURand (clause 2.1.6) over the numbers from `low` on.
    Nurand {
        a: u64,
        c: u64,
        low: u64,
    },
}

/// One holder's part of a counter that several holders divide between them: the numbers `offset`,
/// `offset + step`, `offset + 2 step` ...
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub offset: u64,
    pub step: u64,
}

impl Share {
    pub const WHOLE: Share = Share { offset: 0, step: 1 };
}

impl Chooser {
    /// Over `initial` numbers. `expected`: how many keys inserts may add to them; None where the
    /// numbers are not keys but those of a fixed range. YCSB's `CoreWorkload` spreads its scrambled
    /// zipfian over the initial keys, the expected ones and one more, and draws again where a key
    /// has not been inserted yet. `low`: the number that the first one stands for.
    pub fn new(
        distribution: &Distribution,
        low: i64,
        initial: u64,
        expected: Option<u64>,
        share: Share,
    ) -> Result<Self, EngineError> {
        let n = initial.max(1);
        let sampler = match *distribution {
            Distribution::Uniform {} => Sampler::Uniform,
            Distribution::Sequential {} => {
                Sampler::Sequential { next: share.offset, step: share.step }
            }
            Distribution::Zipfian { constant, scrambled } => {
                within("zipfian: constant", constant, 0.0, 1.0)?;
                if scrambled {
                    let zipfian = Zipfian::to_be_scrambled(constant);
                    Sampler::Scrambled { zipfian, items: n + expected.map_or(0, |more| more + 1) }
                } else {
                    Sampler::Zipfian(Zipfian::new(n, constant))
                }
            }
            Distribution::Latest { constant } => {
                within("latest: constant", constant, 0.0, 1.0)?;
                Sampler::Latest(Zipfian::new((n - 1).max(1), constant))
            }
            Distribution::Hotspot { hot_set, hot_operations } => {
                fraction("hotspot: hot_set", hot_set)?;
                fraction("hotspot: hot_operations", hot_operations)?;
                Sampler::Hotspot { hot_set, hot_operations }
            }
            Distribution::Exponential { percentile, fraction } => {
                within("exponential: percentile", percentile, 0.0, 100.0)?;
                within("exponential: fraction", fraction, 0.0, f64::MAX)?;
                let gamma = -(1.0 - percentile / 100.0).ln() / (n as f64 * fraction);
                Sampler::Exponential { gamma }
            }
            Distribution::Gaussian { iterations } => {
                positive("gaussian: iterations", iterations)?;
                Sampler::Gaussian { iterations }
            }
            Distribution::Special { iterations, hot_set, hot_operations } => {
                positive("special: iterations", iterations)?;
                fraction("special: hot_set / 100", f64::from(hot_set) / 100.0)?;
                fraction("special: hot_operations / 100", f64::from(hot_operations) / 100.0)?;
                Sampler::Special { iterations, hot_set, hot_operations }
            }
            Distribution::Pareto { h } => {
                within("pareto: h", h, 0.0, 1.0)?;
                Sampler::Pareto { power: sysbench::pareto_power(h) }
            }
            Distribution::SysbenchZipfian { exponent } => {
                if !(0.0..=100.0).contains(&exponent) {
                    return Err(out_of_range("sysbench_zipfian: exponent", exponent, "0 to 100"));
                }
                Sampler::Rejection(RejectionZipfian::new(n, exponent))
            }
            Distribution::Nurand { a, c } => {
                if low < 0 || a >= 1 << 32 || c > a {
                    let message =
                        "nurand: allowed are numbers from 0 on, a below 2^32 and c up to a";
                    return Err(EngineError::spec(message));
                }
                Sampler::Nurand { a, c, low: low as u64 }
            }
        };
        Ok(Chooser { sampler })
    }

    /// A number in [0, extent.now).
    #[inline]
    pub fn draw(&mut self, rng: &mut Rng, extent: Extent) -> u64 {
        let n = if extent.initial == 0 { extent.now } else { extent.initial };
        let drawn = match self.sampler {
            Sampler::Uniform => rng.below(n),
            _ => self.draw_unevenly(rng, extent, n),
        };
        drawn.min(extent.now - 1)
    }

    fn draw_unevenly(&mut self, rng: &mut Rng, extent: Extent, n: u64) -> u64 {
        match &mut self.sampler {
            Sampler::Uniform => rng.below(n),
            Sampler::Sequential { next, step } => {
                let drawn = *next % n;
                *next += *step;
                drawn
            }
            Sampler::Zipfian(zipfian) => zipfian.draw(rng),
            Sampler::Scrambled { zipfian, items } => {
                redraw(extent.now, || fnv_hash(zipfian.draw(rng)) % *items)
            }
            // YCSB draws how far to go back from the newest number, over one number less than there
            // are: number 0 is never drawn
            Sampler::Latest(zipfian) => {
                zipfian.grow(extent.now - 1);
                extent.now - 1 - zipfian.draw(rng).min(extent.now - 1)
            }
            Sampler::Hotspot { hot_set, hot_operations } => {
                let hot = (n as f64 * *hot_set) as u64;
                if (rng.unit() < *hot_operations && hot > 0) || hot == n {
                    rng.below(hot)
                } else {
                    hot + rng.below(n - hot)
                }
            }
            Sampler::Exponential { gamma } => {
                let back = || (-rng.unit_above_zero().ln() / *gamma) as u64;
                extent.now - 1 - redraw(extent.now, back)
            }
            Sampler::Gaussian { iterations } => sysbench::gaussian(rng, n, *iterations),
            Sampler::Special { iterations, hot_set, hot_operations } => {
                sysbench::special(rng, n, *iterations, *hot_set, *hot_operations)
            }
            Sampler::Pareto { power } => sysbench::pareto(rng, n, *power),
            Sampler::Rejection(zipfian) => zipfian.draw(rng),
            Sampler::Nurand { a, c, low } => ((rng.below(*a + 1) | (*low + rng.below(n))) + *c) % n,
        }
    }
}

/// Draws until the number is below the limit, as YCSB's `CoreWorkload.nextKeynum` does. After a
/// thousand tries in vain it returns the remainder of the last number by the limit, to end at all.
fn redraw(limit: u64, mut draw: impl FnMut() -> u64) -> u64 {
    let mut drawn = draw();
    for _ in 0..1_000 {
        if drawn < limit {
            return drawn;
        }
        drawn = draw();
    }
    drawn % limit
}

fn within(name: &str, value: f64, low: f64, high: f64) -> Result<(), EngineError> {
    if value > low && value < high {
        return Ok(());
    }
    Err(out_of_range(name, value, &format!("between {low} and {high}, both excluded")))
}

fn fraction(name: &str, value: f64) -> Result<(), EngineError> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(out_of_range(name, value, "0 to 1"))
}

fn positive(name: &str, value: u32) -> Result<(), EngineError> {
    if (1..=10_000).contains(&value) {
        return Ok(());
    }
    Err(out_of_range(name, f64::from(value), "1 to 10,000"))
}

fn out_of_range(name: &str, value: f64, allowed: &str) -> EngineError {
    EngineError::spec(format!("{name} is {value}: allowed is {allowed}"))
}
