//! A partition's token, as Cassandra's `Murmur3Partitioner` gives it.
//!
//! It is the first half of MurmurHash3 x64 128 with seed 0, except that the bytes after the last
//! whole block of 16 are extended with their sign (`org.apache.cassandra.utils.MurmurHash`).

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// The token of a partition key. The least number stands for no token: its rows have the greatest.
pub fn of(key: &[u8]) -> i64 {
    let (mut h1, mut h2) = (0_u64, 0_u64);
    let (blocks, tail) = key.as_chunks::<16>();
    for block in blocks {
        let (low, high) = block.split_at(8);
        h1 ^= first(u64::from_le_bytes(low.try_into().expect("8 bytes")));
        h1 = h1.rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= second(u64::from_le_bytes(high.try_into().expect("8 bytes")));
        h2 = h2.rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let mut halves = [0_u64; 2];
    for (at, &byte) in tail.iter().enumerate() {
        halves[at / 8] ^= (i64::from(byte.cast_signed()) << (8 * (at % 8))).cast_unsigned();
    }
    h1 ^= first(halves[0]) ^ key.len() as u64;
    h2 ^= second(halves[1]) ^ key.len() as u64;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    match mixed(h1).wrapping_add(mixed(h2)).cast_signed() {
        i64::MIN => i64::MAX,
        token => token,
    }
}

/// Appends a part of a key of several columns, as their key is put together.
pub fn append_part(part: &[u8], key: &mut Vec<u8>) {
    key.extend_from_slice(&(part.len() as u16).to_be_bytes());
    key.extend_from_slice(part);
    key.push(0);
}

fn first(k: u64) -> u64 {
    k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn second(k: u64) -> u64 {
    k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

fn mixed(mut k: u64) -> u64 {
    k = (k ^ (k >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    k = (k ^ (k >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ (k >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the tests of DataStax's driver for Python (`tests/unit/test_metadata.py`).
    #[test]
    fn tokens_are_those_that_the_drivers_tests_have() {
        assert_eq!(of(b"123"), -7_468_325_962_851_647_638);
        assert_eq!(of(&b"\x00\xff\x10\xfa\x99".repeat(10)), 5_837_342_703_291_459_765);
        assert_eq!(of(&[0xfe; 8]), -8_927_430_733_708_461_935);
        assert_eq!(of(&[0x10; 8]), 1_446_172_840_243_228_796);
        assert_eq!(of(b"9223372036854775807"), 7_162_290_910_810_015_547);
    }

    #[test]
    fn a_part_of_a_key_has_its_length_before_it_and_a_zero_after_it() {
        let mut key = Vec::new();
        append_part(b"ab", &mut key);
        append_part(b"", &mut key);
        assert_eq!(key, b"\0\x02ab\0\0\0\0");
    }
}
