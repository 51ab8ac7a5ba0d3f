//! The parser of MySQL's answers, against answers that were made by the protocol's rules.

mod support;

use plimsoll_engine::error::Violation;
use plimsoll_engine::generators::rng::Rng;
use plimsoll_engine::mysql::answer::{Agreed, Answer, Outcome};

use support::answers;
use support::mysql_packets::{self as packets, Rows};

/// Of today's MySQL.
const MYSQL: Agreed = Agreed { deprecate_eof: true, cache_metadata: false };
/// Of today's MariaDB.
const MARIADB: Agreed = Agreed { deprecate_eof: true, cache_metadata: true };

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
        let agreed = answers::agreed(seed);
        let mut answer = Answer::new(agreed);
        for _ in 0..3 {
            let (bytes, expected) = answers::draw(&mut rng, agreed);
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
        let agreed = answers::agreed(seed);
        let (bytes, _) = answers::draw(&mut rng, agreed);
        let short = &bytes[..rng.below(bytes.len() as u64) as usize];
        let pieces = answers::pieces(&mut rng, short);
        assert_eq!(feed(&mut Answer::new(agreed), &pieces), Ok(None), "seed {seed}");
    }
}

#[test]
fn damaged_answers_never_panic() {
    for seed in 0..3_000 {
        let mut rng = Rng::for_stream(seed, &[7]);
        let (mut bytes, _) = answers::draw(&mut rng, answers::agreed(seed));
        answers::damage(&mut rng, &mut bytes);
        let mut answer = Answer::new(answers::agreed(seed / 4));
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
        let shape = Rows { columns: 1, rows: 2, value, text: false, known: false };
        packets::result_set(&mut sequence, shape, MYSQL, 2, &mut bytes);
        let mut answer = Answer::new(MYSQL);
        let mut last = None;
        for piece in bytes.chunks(65_536) {
            last = answer.feed(piece).expect("it is well formed");
        }
        assert_eq!(last, Some(Outcome::Done { rows: 2 }));
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
        assert_eq!(Answer::new(MYSQL).feed(&bytes), Err(Violation(expected)));
    }
    let counts: [(&str, &[u8]); 4] = [
        ("no number of columns", &[3]),
        ("no number of columns", &[3, 2]),
        ("no number of columns", &[3, 1, 1]),
        ("an impossible number of columns", &[0xfc, 0, 0, 1]),
    ];
    for (expected, count) in counts {
        assert_eq!(Answer::new(MARIADB).feed(&framed(count)), Err(Violation(expected)));
    }
    assert_eq!(
        Answer::new(MYSQL).feed(&framed(&[3, 1])),
        Err(Violation("no number of columns")),
        "a byte that was not agreed on"
    );
}

#[test]
fn a_packet_above_a_gibibyte_is_refused_before_it_is_read() {
    let mut answer = Answer::new(MYSQL);
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
