//! Latency histograms: HdrHistogram, 1 us to 5 minutes, 3 significant digits.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use serde::Serialize;

use crate::error::EngineError;

pub type Histogram = hdrhistogram::Histogram<u64>;

/// 5 minutes, in microseconds; a longer time is recorded as this one.
pub const HIGHEST_US: u64 = 300_000_000;

pub fn new() -> Histogram {
    Histogram::new_with_bounds(1, HIGHEST_US, 3).expect("the bounds are valid")
}

/// Records a time given in nanoseconds, rounded to the nearest microsecond.
pub fn record_ns(histogram: &mut Histogram, ns: u64) {
    histogram.saturating_record(((ns + 500) / 1_000).min(HIGHEST_US));
}

/// Latencies in microseconds; null where nothing was measured.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    pub mean: Option<f64>,
    pub p50: Option<u64>,
    pub p95: Option<u64>,
    pub p99: Option<u64>,
    pub p999: Option<u64>,
    pub max: Option<u64>,
}

impl Summary {
    pub fn of(histogram: &Histogram) -> Self {
        if histogram.is_empty() {
            return Summary::default();
        }
        let at = |quantile| Some(histogram.value_at_quantile(quantile).min(histogram.max()));
        Summary {
            mean: Some(histogram.mean()),
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
            max: Some(histogram.max()),
        }
    }
}

/// Counts by latency, coarsely: 8 buckets to a power of two (each 9 % wide). The key is a bucket's
/// upper bound in microseconds, the whole number at or above 2^(k/8); only where there are any.
pub fn buckets(histogram: &Histogram) -> BTreeMap<u64, u64> {
    let mut buckets = BTreeMap::new();
    for value in histogram.iter_recorded() {
        // the middle of the latencies that the histogram counts as the same
        let us = histogram.median_equivalent(value.value_iterated_to()).max(1);
        let octave = |k: i32| (f64::from(k) / 8.0).exp2().ceil() as u64;
        let near = ((us as f64).log2() * 8.0) as i32;
        let k = (near - 1..).find(|&k| k >= 0 && octave(k) >= us).unwrap_or(near);
        *buckets.entry(octave(k)).or_default() += value.count_since_last_iteration();
    }
    buckets
}

/// The V2 format, compressed, in base64.
pub fn encode(histogram: &Histogram) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("a histogram of these bounds fits the format");
    BASE64.encode(bytes)
}

/// Reads what [`encode`] wrote, or any HdrHistogram library (V2, compressed or not).
pub fn decode(text: &str) -> Result<Histogram, EngineError> {
    let wrong = |error: String| EngineError::new("histogram", format!("no histogram: {error}"));
    let bytes = BASE64.decode(text.trim()).map_err(|error| wrong(error.to_string()))?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| wrong(error.to_string()))
}

/// Adds histograms up without loss.
pub fn merge(texts: &[String]) -> Result<Histogram, EngineError> {
    let mut merged = new();
    for text in texts {
        let histogram = decode(text)?;
        merged.add(&histogram).map_err(|_| {
            EngineError::new("histogram", "a histogram holds times above 5 minutes")
        })?;
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_round_to_the_nearest_microsecond() {
        let mut histogram = new();
        for (ns, us) in [(499, 0), (500, 1), (1_499, 1), (1_500, 2), (301_000_000_000, HIGHEST_US)]
        {
            histogram.reset();
            record_ns(&mut histogram, ns);
            assert_eq!(histogram.max(), histogram.highest_equivalent(us), "{ns} ns");
        }
    }

    #[test]
    fn buckets_are_an_eighth_of_an_octave_wide() {
        let mut histogram = new();
        let cases =
            [(1, 1), (2, 2), (3, 3), (100, 108), (128, 128), (1_000, 1_024), (9_999, 10_624)];
        for (us, _) in cases {
            histogram.record(us).expect("in range");
        }
        let expected: BTreeMap<u64, u64> = cases.iter().map(|&(_, upper)| (upper, 1)).collect();
        assert_eq!(buckets(&histogram), expected);
    }

    #[test]
    fn merging_loses_nothing() {
        let (mut a, mut b, mut both) = (new(), new(), new());
        for value in (1..2_000_000).step_by(997) {
            let half = if value % 2 == 0 { &mut a } else { &mut b };
            half.record(value).expect("in range");
            both.record(value).expect("in range");
        }
        let merged = merge(&[encode(&a), encode(&b)]).expect("both are histograms");
        assert_eq!(merged, both);
        assert_eq!(Summary::of(&merged), Summary::of(&both));
    }

    #[test]
    fn nothing_measured_is_null_and_nonsense_is_an_error() {
        assert_eq!(Summary::of(&new()), Summary::default());
        for text in ["", "!", "aGVsbG8="] {
            assert_eq!(decode(text).expect_err(text).code, "histogram");
        }
    }
}
