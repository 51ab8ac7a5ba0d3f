//! Latency histograms: HdrHistogram, 1 us to 5 minutes, 3 significant digits.

use std::collections::BTreeMap;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::read::ZlibDecoder;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use serde::Serialize;

use crate::error::EngineError;

pub type Histogram = hdrhistogram::Histogram<u64>;

/// The largest unpacked histogram, in bytes: many times what any program's takes.
const LARGEST: usize = 4 << 20;
/// The first bytes of a compressed histogram, and the length of its header.
const COMPRESSED: [u8; 4] = 0x1c84_9314_u32.to_be_bytes();
const COMPRESSED_HEADER: usize = 8;
/// The length of an uncompressed histogram's header, and where in it the length of the counts is.
const HEADER: usize = 40;
const LENGTH_AT: std::ops::Range<usize> = 4..8;

/// 5 minutes, in microseconds; a longer time is recorded as this one.
pub const HIGHEST_US: u64 = 300_000_000;

pub fn new() -> Histogram {
    Histogram::new_with_bounds(1, HIGHEST_US, 3).expect("the bounds are valid")
}

/// Records a time given in nanoseconds, rounded to the nearest microsecond.
pub fn record_ns(histogram: &mut Histogram, ns: u64) {
    histogram.saturating_record(((ns + 500) / 1_000).min(HIGHEST_US));
}

/// Latencies in microseconds; null if nothing was measured.
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
    let bytes = unpacked(bytes).map_err(wrong)?;
    Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| wrong(error.to_string()))
}

/// A histogram's bytes as they are without compression, the counts as long as it says: the reader
/// makes room for that length before it reads any of them.
fn unpacked(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let plain = if bytes.starts_with(&COMPRESSED) {
        let packed = bytes.get(COMPRESSED_HEADER..).unwrap_or_default();
        let mut plain = Vec::new();
        let most = LARGEST as u64 + 1;
        let read = ZlibDecoder::new(packed).take(most).read_to_end(&mut plain);
        read.map_err(|error| error.to_string())?;
        plain
    } else {
        bytes
    };
    if plain.len() > LARGEST {
        return Err(format!("it has more than {LARGEST} bytes"));
    }
    let length = plain.get(LENGTH_AT).map(|length| length.try_into().expect("4 bytes"));
    let length = length.map_or(0, |length| u32::from_be_bytes(length) as usize);
    if length > plain.len().saturating_sub(HEADER) {
        return Err("it is cut short".to_owned());
    }
    Ok(plain)
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
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use hdrhistogram::serialization::V2Serializer;

    use super::*;
    use crate::generators::rng::Rng;

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

    /// The header of a histogram without compression, whose counts are said to be so long.
    fn header(length: u32, digits: u32, high: u64) -> Vec<u8> {
        let cookie = 0x1c84_9313_u32;
        let mut bytes = Vec::new();
        for word in [cookie, length, 0, digits] {
            bytes.extend_from_slice(&word.to_be_bytes());
        }
        bytes.extend_from_slice(&1_u64.to_be_bytes());
        bytes.extend_from_slice(&high.to_be_bytes());
        bytes.extend_from_slice(&1_f64.to_be_bytes());
        bytes
    }

    fn packed(plain: &[u8]) -> Vec<u8> {
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
        packed.write_all(plain).expect("it is written to memory");
        let packed = packed.finish().expect("likewise");
        [&COMPRESSED[..], &(packed.len() as u32).to_be_bytes(), &packed].concat()
    }

    #[test]
    fn no_more_is_made_room_for_than_there_is() {
        let believed = header(u32::MAX, 3, HIGHEST_US);
        let bomb = [header(LARGEST as u32, 3, HIGHEST_US), vec![0; LARGEST]].concat();
        let cases = [
            (believed.clone(), "cut short"),
            (packed(&believed), "cut short"),
            (packed(&bomb), "more than"),
            (bomb, "more than"),
            (COMPRESSED.to_vec(), "no histogram"),
            (header(0, 9, HIGHEST_US), "no histogram"),
            (header(0, 3, 0), "no histogram"),
        ];
        for (bytes, said) in cases {
            let error = decode(&BASE64.encode(&bytes[..])).expect_err(said);
            assert!(error.message.contains(said), "{} is not {said}", error.message);
        }
        let whole = packed(&[header(1, 5, u64::MAX), vec![2]].concat());
        assert_eq!(decode(&BASE64.encode(whole)).expect("of other bounds").len(), 1);
    }

    #[test]
    fn whatever_a_histogram_says_it_is_read_or_refused() {
        let mut histogram = new();
        (1..5_000).for_each(|us| histogram.record(us * 7).expect("in range"));
        let mut plain = Vec::new();
        V2Serializer::new().serialize(&histogram, &mut plain).expect("to memory");
        let mut rng = Rng::for_stream(5, &[]);
        for _ in 0..500 {
            let mut changed = plain.clone();
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(changed.len().min(120) as u64) as usize;
                changed[at] = rng.below(256) as u8;
            }
            let _ = merge(&[BASE64.encode(&changed)]).map(|merged| Summary::of(&merged));
        }
    }

    #[test]
    fn nothing_measured_is_null_and_nonsense_is_an_error() {
        assert_eq!(Summary::of(&new()), Summary::default());
        for text in ["", "!", "aGVsbG8="] {
            assert_eq!(decode(text).expect_err(text).code, "histogram");
        }
    }
}
