//! The parser of PostgreSQL's answers, against answers that were made by the protocol's rules.

mod support;

use plimsoll_engine::error::Failure;
use plimsoll_engine::generators::rng::Rng;
use plimsoll_engine::postgres::answer::{Answer, Outcome};

use support::answers::{damage, pieces};
use support::postgres_messages as messages;

fn awaiting(answer: &mut Answer, commands: u32) {
    answer.await_next();
    (0..commands).for_each(|_| answer.expect_command());
}

fn feed(answer: &mut Answer, pieces: &[&[u8]]) -> Result<Option<Outcome>, Box<Failure>> {
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
        let mut answer = Answer::of_inserts();
        for _ in 0..3 {
            let (commands, bytes, expected) = messages::draw(&mut rng);
            awaiting(&mut answer, commands);
            let pieces = pieces(&mut rng, &bytes);
            assert_eq!(feed(&mut answer, &pieces), Ok(Some(expected)), "seed {seed}");
        }
    }
}

#[test]
fn an_answer_that_is_cut_short_never_ends() {
    for seed in 0..300 {
        let mut rng = Rng::for_stream(seed, &[]);
        let (commands, bytes, _) = messages::draw(&mut rng);
        let short = &bytes[..rng.below(bytes.len() as u64) as usize];
        let mut answer = Answer::default();
        awaiting(&mut answer, commands);
        let pieces = pieces(&mut rng, short);
        assert_eq!(feed(&mut answer, &pieces), Ok(None), "seed {seed}");
    }
}

#[test]
fn damaged_answers_never_panic() {
    for seed in 0..3_000 {
        let mut rng = Rng::for_stream(seed, &[7]);
        let (commands, mut bytes, _) = messages::draw(&mut rng);
        damage(&mut rng, &mut bytes);
        let mut answer = Answer::default();
        awaiting(&mut answer, commands);
        for piece in pieces(&mut rng, &bytes) {
            if !matches!(answer.feed(piece), Ok(None)) {
                break;
            }
        }
    }
}

#[test]
fn a_notice_that_arrives_in_pieces_between_two_answers_is_no_part_of_either() {
    let mut answer = Answer::default();
    let (notice, done) = (messages::notice(), messages::complete("SELECT 0"));
    awaiting(&mut answer, 1);
    let first = [&done[..], &messages::ready(b'I'), &notice[..7]].concat();
    let outcome = Some(Outcome::Done { rows: 0 });
    assert_eq!(answer.feed(&first), Ok(outcome.clone()));
    awaiting(&mut answer, 1);
    let second = [&notice[7..], &done[..], &messages::ready(b'I')].concat();
    assert_eq!(answer.feed(&second), Ok(outcome));
}

#[test]
fn an_error_ends_an_answer_only_once_the_server_is_ready() {
    let mut answer = Answer::default();
    awaiting(&mut answer, 3);
    assert_eq!(answer.feed(&messages::error("40001")), Ok(None));
    let Ok(Some(Outcome::Failed(error))) = answer.feed(&messages::ready(b'E')) else {
        panic!("it failed")
    };
    assert_eq!((error.code.as_str(), answer.in_transaction()), ("40001", true));
}

#[test]
fn what_was_complete_before_the_session_ended_has_succeeded_however_it_arrived() {
    let end = messages::report(b'E', "FATAL", "57P01", "terminating connection");
    let done = [messages::complete("SELECT 0"), messages::ready(b'I')].concat();
    let mut answer = Answer::default();
    awaiting(&mut answer, 1);
    let succeeded = Some(Outcome::Done { rows: 0 });
    assert_eq!(answer.feed(&[&done[..], &end].concat()), Ok(succeeded));
    awaiting(&mut answer, 1);
    assert_eq!(answer.feed(&end).expect_err("it is over").code, "57P01");
}

#[test]
fn an_error_longer_than_what_is_kept_has_its_code_and_the_start_of_its_message() {
    let long = messages::report(b'E', "ERROR", "XX000", &"x".repeat(100_000));
    for size in [1, 700, 65_536] {
        let mut answer = Answer::default();
        awaiting(&mut answer, 1);
        for piece in long.chunks(size) {
            assert_eq!(answer.feed(piece), Ok(None));
        }
        let Ok(Some(Outcome::Failed(error))) = answer.feed(&messages::ready(b'I')) else {
            panic!("it failed")
        };
        assert_eq!(error.code, "XX000");
        assert!((400..520).contains(&error.message.len()), "{}", error.message.len());
    }
}

#[test]
fn what_no_server_may_say_is_a_violation() {
    let ready = messages::ready(b'I');
    let cases: [(&str, Vec<u8>); 7] = [
        ("a message of an impossible length", b"D\x7f\xff\xff\xff".to_vec()),
        ("a message of an impossible length", b"Z\0\0\0\0".to_vec()),
        ("an unknown state of the transaction", messages::ready(b'X')),
        ("fewer answers than requests", ready.clone()),
        ("an error without its SQLSTATE", messages::message(b'E', b"Moh\0\0")),
        ("a statement without a command", messages::message(b'I', b"")),
        ("the server spoke without being asked", {
            [messages::complete("BEGIN"), ready.clone(), ready].concat()
        }),
    ];
    for (expected, bytes) in cases {
        let mut answer = Answer::default();
        awaiting(&mut answer, 1);
        let failure = answer.feed(&bytes).expect_err(expected);
        assert_eq!((failure.code.as_str(), failure.message.as_str()), ("protocol", expected));
    }
}
