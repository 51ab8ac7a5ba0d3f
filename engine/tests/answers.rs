//! The parser of MySQL's answers, against answers that were made by the protocol's rules.

mod support;

use plimsoll_engine::error::Violation;
use plimsoll_engine::generators::rng::Rng;
use plimsoll_engine::mysql::answer::{Answer, Outcome};

use support::answers;
use support::mysql_packets::{self as packets, Rows};

fn feed(answer: &mut Answer, pieces: &[&[u8]]) -> Result<Option<Outcome>, Violation> {
    for (index, piece) in pieces.iter().enumerate() {
        if let Some(outcome) = answer.feed(piece)? {
            assert_eq!(index + 1, pieces.len(), "an answer ended before its last piece");
            return Ok(Some(outcome));
        }
    }
    Ok(None)
}

#[test]
fn an_answer_reads_the_same_however_it_is_cut() {
    for seed in 0..400 {
        let mut rng = Rng::for_stream(seed, &[]);
        let deprecate_eof = seed % 2 == 0;
        let mut answer = Answer::new(deprecate_eof);
        for _ in 0..3 {
            let (bytes, expected) = answers::draw(&mut rng, deprecate_eof);
            answer.reset();
            let pieces = answers::pieces(&mut rng, &bytes);
            assert_eq!(feed(&mut answer, &pieces), Ok(Some(expected)), "seed {seed}");
        }
    }
}

#[test]
fn an_answer_that_is_cut_short_never_ends() {
    for seed in 0..300 {
        let mut rng = Rng::for_stream(seed, &[]);
        let (bytes, _) = answers::draw(&mut rng, true);
        let short = &bytes[..rng.below(bytes.len() as u64) as usize];
        let pieces = answers::pieces(&mut rng, short);
        assert_eq!(feed(&mut Answer::new(true), &pieces), Ok(None), "seed {seed}");
    }
}

#[test]
fn damaged_answers_never_panic() {
    for seed in 0..3_000 {
        let mut rng = Rng::for_stream(seed, &[7]);
        let (mut bytes, _) = answers::draw(&mut rng, true);
        answers::damage(&mut rng, &mut bytes);
        let mut answer = Answer::new(seed % 2 == 0);
        for piece in answers::pieces(&mut rng, &bytes) {
            if !matches!(answer.feed(piece), Ok(None)) {
                break;
            }
        }
    }
}

#[test]
fn rows_of_many_frames_are_walked_without_being_kept() {
    // one row of 40 MiB: three frames; one of exactly two full frames, which an empty one ends
    for value in [40 << 20, 2 * 0xff_ffff - 8] {
        let (mut bytes, mut sequence) = (Vec::new(), 1);
        let shape = Rows { columns: 1, rows: 2, value, text: false };
        packets::result_set(&mut sequence, shape, true, 2, &mut bytes);
        let mut answer = Answer::new(true);
        let mut last = None;
        for piece in bytes.chunks(65_536) {
            last = answer.feed(piece).expect("it is well formed");
        }
        assert_eq!(last, Some(Outcome::Done { affected_rows: 0, rows: 2 }));
    }
}

#[test]
fn what_no_server_may_say_is_a_violation() {
    let ok = |sequence: u8| {
        let (mut out, mut sequence) = (Vec::new(), sequence);
        packets::ok(&mut sequence, 0, 2, &mut out);
        out
    };
    let framed = |payload: &[u8]| {
        let mut out = Vec::new();
        packets::packet(&mut 1, payload, &mut out);
        out
    };
    let cases: [(&str, Vec<u8>); 9] = [
        ("packets out of order", ok(2)),
        ("bytes after the answer", [ok(1), ok(2)].concat()),
        ("an empty packet", framed(&[])),
        ("the server asks for a file", framed(&[0xfb, b'x'])),
        ("an impossible number of columns", framed(&[0xfd, 0xff, 0xff, 0xff])),
        ("a short OK packet", framed(&[0, 0, 0, 2])),
        ("a short error packet", framed(&[0xff, 1])),
        ("a number cut short", framed(&[0xfc, 1])),
        ("neither a row nor the end of the rows", {
            let (mut out, mut sequence) = (Vec::new(), 1);
            packets::packet(&mut sequence, &[1], &mut out);
            packets::packet(&mut sequence, b"column", &mut out);
            packets::packet(&mut sequence, &[7, 7], &mut out);
            out
        }),
    ];
    for (expected, bytes) in cases {
        assert_eq!(Answer::new(true).feed(&bytes), Err(Violation(expected)));
    }
}

#[test]
fn a_packet_above_a_gibibyte_is_refused_before_it_is_read() {
    let mut answer = Answer::new(true);
    let mut out = Vec::new();
    packets::packet(&mut 1, &[1], &mut out);
    answer.feed(&out).expect("a column count");
    let frame = vec![0; 0xff_ffff];
    let mut sequence = 2_u8;
    let refused = (0..100).find_map(|_| {
        let header = [0xff, 0xff, 0xff, sequence];
        sequence = sequence.wrapping_add(1);
        answer.feed(&header).and_then(|_| answer.feed(&frame)).err()
    });
    assert_eq!(refused, Some(Violation("a packet above 1 GiB")));
}
