//! Random answers of a MySQL server, and bytes of any server broken, for the parsers' tests and for
//! the fuzzer.

use plimsoll_engine::generators::rng::Rng;
use plimsoll_engine::mysql::answer::{Agreed, Outcome};

use super::mysql_packets::{self as packets, Rows};

const MORE_RESULTS: u16 = 0x0008;

/// What a seed's client and server have agreed on: each combination in turn.
pub fn agreed(seed: u64) -> Agreed {
    Agreed { deprecate_eof: seed & 1 == 0, cache_metadata: seed & 2 == 0 }
}

/// A random answer, and how it ends.
pub fn draw(rng: &mut Rng, agreed: Agreed) -> (Vec<u8>, Outcome) {
    let (mut out, mut sequence) = (Vec::new(), 1);
    let mut rows = 0;
    let results = 1 + rng.below(3);
    for result in 0..results {
        let status = if result + 1 < results { 2 | MORE_RESULTS } else { 2 };
        match rng.below(8) {
            0 => {
                let code = 1_000 + rng.below(3_000) as u16;
                packets::error(&mut sequence, code, "it went wrong", &mut out);
                return (out, Outcome::Failed { code, message: "it went wrong".to_owned() });
            }
            1 | 2 => {
                let affected = rng.below(100_000);
                rows += affected;
                packets::ok(&mut sequence, affected, status, &mut out);
            }
            _ => {
                let shape = shape(rng);
                rows += shape.rows as u64;
                packets::result_set(&mut sequence, shape, agreed, status, &mut out);
            }
        }
    }
    (out, Outcome::Done { rows })
}

fn shape(rng: &mut Rng) -> Rows {
    let columns = 1 + rng.below(8) as usize;
    let value = [0, 1, 100, 250, 251][rng.below(5) as usize];
    Rows { columns, rows: rng.below(6) as usize, value, text: false, known: rng.below(2) == 0 }
}

/// Breaks an answer: changes, cuts, repeats or inserts bytes, or inserts another answer.
pub fn damage(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..=rng.below(4) {
        let at = rng.below(bytes.len() as u64 + 1) as usize;
        match rng.below(7) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, rng.next_u64() as u8),
            2 => {
                let end = (at + rng.below(64) as usize).min(bytes.len());
                bytes.drain(at..end);
            }
            3 => {
                let (other, _) = draw(rng, agreed(at as u64));
                bytes.splice(at..at, other);
            }
            4 => {
                let end = (at + rng.below(64) as usize).min(bytes.len());
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte =
                        [0, 0xfa, 0xfb, 0xfe, 0xff, rng.next_u64() as u8][rng.below(6) as usize];
                }
            }
        }
    }
}

/// The bytes cut at random places, as they may arrive.
pub fn pieces<'a>(rng: &mut Rng, mut bytes: &'a [u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let longest = [3, 20, 300, 70_000][rng.below(4) as usize];
    while !bytes.is_empty() {
        let (piece, rest) = bytes.split_at((1 + rng.below(longest) as usize).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}
