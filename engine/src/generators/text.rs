//! Random text.

use std::io::Write as _;

use super::rng::Rng;
use crate::spec::Alphabet;

const ALPHANUMERIC: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Appends `length` random bytes of an alphabet: the 95 printable ASCII characters, letters and
/// digits, or digits. Four characters are made of each random number, 16 bits each, which makes
/// each as likely as any other within 0.2 %.
pub fn write_text(rng: &mut Rng, length: usize, alphabet: Alphabet, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + length, 0);
    for chunk in out[start..].chunks_mut(4) {
        let mut random = rng.next_u64();
        for to in chunk {
            let bits = (random & 0xffff) as u32;
            random >>= 16;
            let scaled = |n: u32| ((bits * n) >> 16) as u8;
            *to = match alphabet {
                Alphabet::Printable => b' ' + scaled(95),
                Alphabet::Alphanumeric => ALPHANUMERIC[usize::from(scaled(62))],
                Alphabet::Digits => b'0' + scaled(10),
            };
        }
    }
}

/// Appends TPC-C's last name of a number from 0 to 999: a syllable for each of its three digits
/// (clause 4.3.2.3).
pub fn write_last_name(number: i64, out: &mut Vec<u8>) {
    const SYLLABLES: [&str; 10] =
        ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
    for place in [100, 10, 1] {
        out.extend_from_slice(SYLLABLES[(number / place).rem_euclid(10) as usize].as_bytes());
    }
}

/// Appends a number of units of the last digit as a decimal with so many digits after the point.
pub fn write_decimal(units: i64, scale: u32, out: &mut Vec<u8>) {
    let sign = if units < 0 { "-" } else { "" };
    let one = 10_u64.pow(scale.min(18));
    let (whole, part) = (units.unsigned_abs() / one, units.unsigned_abs() % one);
    let written = write!(out, "{sign}{whole}.{part:0width$}", width = scale as usize);
    written.expect("writing to memory does not fail");
}

/// Appends sysbench's template (`sb_rand_str`): each `#` a digit, each `@` a letter a to z.
pub fn write_pattern(rng: &mut Rng, pattern: &[u8], out: &mut Vec<u8>) {
    // each character takes 16 bits of a random number
    let (mut random, mut left) = (0, 0);
    out.extend(pattern.iter().map(|&byte| {
        let (low, n) = match byte {
            b'#' => (b'0', 10),
            b'@' => (b'a', 26),
            other => return other,
        };
        if left == 0 {
            (random, left) = (rng.next_u64(), 4);
        }
        let bits = (random & 0xffff) as u32;
        (random, left) = (random >> 16, left - 1);
        low + ((bits * n) >> 16) as u8
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_its_length_and_alphabet() {
        let mut rng = Rng::for_stream(1, &[]);
        let printable: Vec<u8> = (b' '..=b'~').collect();
        let of = |keep: fn(&u8) -> bool| printable.iter().copied().filter(keep).collect();
        let cases: [(Alphabet, Vec<u8>); 3] = [
            (Alphabet::Alphanumeric, of(u8::is_ascii_alphanumeric)),
            (Alphabet::Digits, of(u8::is_ascii_digit)),
            (Alphabet::Printable, printable.clone()),
        ];
        for (alphabet, expected) in cases {
            let mut out = b"before".to_vec();
            write_text(&mut rng, 10_001, alphabet, &mut out);
            assert_eq!(out.len(), 10_007);
            let seen: std::collections::BTreeSet<u8> = out[6..].iter().copied().collect();
            assert_eq!(seen.into_iter().collect::<Vec<u8>>(), expected);
        }
    }

    #[test]
    fn last_names_and_decimals_are_those_of_the_standard() {
        let name = |number| {
            let mut out = Vec::new();
            write_last_name(number, &mut out);
            String::from_utf8(out).unwrap()
        };
        // the example of clause 4.3.2.3
        assert_eq!(name(371), "PRICALLYOUGHT");
        assert_eq!(
            (name(0), name(40), name(999)),
            ("BARBARBAR".into(), "BARPRESBAR".into(), "EINGEINGEING".into())
        );
        let decimal = |units, scale| {
            let mut out = Vec::new();
            write_decimal(units, scale, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!((decimal(7, 4), decimal(-1005, 2)), ("0.0007".into(), "-10.05".into()));
    }

    #[test]
    fn a_pattern_keeps_what_is_neither_digit_nor_letter() {
        let mut rng = Rng::for_stream(1, &[]);
        let mut out = Vec::new();
        write_pattern(&mut rng, b"##-@@-x", &mut out);
        assert!(out[0].is_ascii_digit() && out[1].is_ascii_digit(), "{out:?}");
        assert!(out[3].is_ascii_lowercase() && out[4].is_ascii_lowercase(), "{out:?}");
        assert_eq!((out[2], &out[5..]), (b'-', &b"-x"[..]));
    }
}
