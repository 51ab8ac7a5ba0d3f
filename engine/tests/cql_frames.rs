//! CQL's frames and types, as a server sends them: well formed, cut, or not what it may say.

mod support;

use plimsoll_engine::cql::codes;
use plimsoll_engine::cql::frames::{PREFIX, Reader};
use plimsoll_engine::error::Violation;
use plimsoll_engine::generators::rng::Rng;

use support::answers;
use support::cql_frames::{self, INT};

/// Reads whole frames from pieces: stream, opcode and the body's start.
fn read_all(pieces: &[&[u8]]) -> Result<Vec<(i16, u8, Vec<u8>)>, Violation> {
    let mut reader = Reader::default();
    let mut frames = Vec::new();
    for piece in pieces {
        let mut input = *piece;
        while let Some(frame) = reader.next(&mut input)? {
            frames.push((frame.stream, frame.opcode, frame.body().to_vec()));
        }
        assert!(input.is_empty());
    }
    Ok(frames)
}

#[test]
fn frames_read_the_same_however_they_are_cut() {
    for seed in 0..400 {
        let mut rng = Rng::for_stream(seed, &[]);
        let mut bytes = Vec::new();
        let mut expected = Vec::new();
        for _ in 0..rng.below(6) + 1 {
            let (stream, opcode) = (rng.below(30_000) as i16, rng.below(17) as u8);
            let length = [0, 4, 300, PREFIX as u64, 3_000][rng.below(5) as usize];
            let body: Vec<u8> = (0..length).map(|_| rng.below(256) as u8).collect();
            bytes.extend(cql_frames::frame(stream, opcode, &body));
            expected.push((stream, opcode, body));
        }
        let frames = read_all(&answers::pieces(&mut rng, &bytes)).expect("they are well formed");
        assert_eq!(frames.len(), expected.len());
        for ((stream, opcode, start), (its_stream, its_opcode, body)) in
            frames.iter().zip(&expected)
        {
            assert_eq!((stream, opcode), (its_stream, its_opcode));
            assert!(body.starts_with(start) && start.len() >= body.len().min(PREFIX));
        }
    }
}

#[test]
fn what_stands_before_a_body_is_passed_over() {
    let mut bytes = cql_frames::error(3, 0x1100, "too slow");
    let warnings = b"\0\x02\0\x03abc\0\x01d";
    bytes[1] = 0x02 | 0x08; // a tracing id, then warnings
    bytes.splice(9..9, [&[9; 16][..], warnings].concat());
    let length = (bytes.len() - 9) as u32;
    bytes[5..9].copy_from_slice(&length.to_be_bytes());
    let (_, _, body) = read_all(&[&bytes]).expect("well formed").remove(0);
    assert_eq!(codes::error(&body), (0x1100, "too slow".to_owned()));
}

#[test]
fn what_no_server_may_say_is_a_violation() {
    let changed = |at: usize, byte: u8| {
        let mut bytes = cql_frames::void(0);
        bytes[at] = byte;
        bytes
    };
    let version = Violation("not a response in version 4 of CQL's protocol");
    let cases = [
        (changed(0, 0x04), version),
        (changed(0, 0x85), version),
        (changed(1, 0x01), Violation("a compressed response, which nobody asked for")),
        (changed(5, 0x11), Violation("a response above 256 MiB")),
        (b"HTTP/1.1 400 Bad Request".to_vec(), version),
    ];
    for (bytes, expected) in cases {
        assert_eq!(read_all(&[&bytes]), Err(expected));
    }
}

#[test]
fn types_are_read_at_any_depth_and_no_deeper() {
    let read = |types: &[u16], more: &[u8]| {
        let mut bytes = cql_frames::prepared(0, b"id", types);
        bytes.extend_from_slice(more);
        plimsoll_engine::cql::prepared::read(&bytes[9..])
    };
    assert_eq!(read(&[INT, 0x0d], &[]).expect("sound").types.len(), 2);
    let nested = |depth: usize| [[0, 0x20].repeat(depth), vec![0, 9]].concat();
    assert!(read(&[0x20], &nested(3)).is_ok());
    assert!(read(&[0x20], &nested(5_000)).is_err(), "a list of lists without end");
}
