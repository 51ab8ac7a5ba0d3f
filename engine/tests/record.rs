//! What the recorder hands over, second by second and of the window.

use std::sync::mpsc::channel;

use plimsoll_engine::error::Failure;
use plimsoll_engine::load::pacing::SECOND;
use plimsoll_engine::load::record::{Recorder, Window};
use plimsoll_engine::load::seconds::Gatherer;
use plimsoll_engine::load::wire::Met;

const START: u64 = 5 * SECOND;

/// The window begins within a second and ends within another.
const WINDOW: Window = Window { start: START + SECOND / 2, end: START + 5 * SECOND / 2 };

#[test]
fn every_success_is_in_its_own_second_and_in_the_window_if_it_ended_there() {
    let (sender, received) = channel();
    let mut recorder = Recorder::new(2, START, WINDOW, 0, sender);
    // 1,000 in 3 s, every third of the other operation; the nth takes n + 1 us and meets n rows
    for n in 0..1_000 {
        let at = START + n * 3 * SECOND / 1_000;
        let met = Met::of(Some(n), 500);
        recorder.success(usize::from(n % 3 == 0), met, (n + 1) * 1_000, at);
    }
    recorder.finish(WINDOW.end);
    let ended = |operation: u64, from: u64, to: u64| {
        (from..to).filter(move |n| u64::from(n % 3 == 0) == operation)
    };
    for (operation, tally) in (0..).zip(&recorder.tallies) {
        let expected = || ended(operation, 167, 834);
        assert_eq!(tally.succeeded, expected().count() as u64);
        assert_eq!(tally.latency.len(), tally.succeeded);
        let missing = expected().map(|n| 500_u64.saturating_sub(n)).sum();
        assert_eq!(tally.met, Met { rows: Some(expected().sum()), missing, rolled_back: false });
        assert_eq!(tally.latency.min(), expected().min().expect("some") + 1);
        assert_eq!(tally.latency.max(), expected().max().expect("some") + 1);
    }
    assert_eq!(recorder.ended, 834 - 167);
    let hand_over: Vec<_> = received.iter().collect();
    assert_eq!(
        hand_over.iter().map(|hand_over| hand_over.until).collect::<Vec<_>>(),
        [1, 2, 3, u64::MAX]
    );
    let bounds = [(0, 334), (334, 667), (667, 1_000)];
    for (second, (hand_over, (from, to))) in (0..).zip(hand_over.iter().zip(bounds)) {
        assert_eq!(hand_over.seconds.len(), 2);
        for sum in &hand_over.seconds {
            let expected = || ended(sum.operation as u64, from, to);
            assert_eq!((sum.second, sum.errors), (second, 0));
            assert_eq!(sum.succeeded, expected().count() as u64);
            assert_eq!(sum.latency.min(), expected().min().expect("some") + 1);
            assert_eq!(sum.latency.max(), expected().max().expect("some") + 1);
        }
    }
}

#[test]
fn failures_stand_beside_the_successes_of_their_second() {
    let (sender, received) = channel();
    let mut recorder = Recorder::new(1, START, WINDOW, 0, sender);
    recorder.success(0, Met::of(Some(1), 0), 2_000, WINDOW.start);
    recorder.failure(0, &Failure::new("1205", "lock"), None, WINDOW.start + 1);
    recorder.failure(0, &Failure::new("timeout", "late"), Some(9_000), START + SECOND);
    recorder.finish(0);
    let tally = &recorder.tallies[0];
    let codes: Vec<_> = tally.errors.iter().map(|(code, &n)| (code.as_str(), n)).collect();
    assert_eq!(codes, [("1205", 1), ("timeout", 1)]);
    assert_eq!((tally.succeeded, tally.latency.len(), tally.latency.max()), (1, 2, 9));
    let seconds: Vec<_> = received.iter().flat_map(|hand_over| hand_over.seconds).collect();
    let counts: Vec<_> =
        seconds.iter().map(|s| (s.second, s.succeeded, s.errors, s.latency.len())).collect();
    assert_eq!(counts, [(0, 1, 1, 1), (1, 0, 1, 1)]);
}

#[test]
fn seconds_without_an_answer_are_handed_over_to_the_end_of_the_load() {
    let (sender, received) = channel();
    let mut recorder = Recorder::new(1, START, WINDOW, 0, sender);
    recorder.success(0, Met::of(Some(1), 0), 2_000, START + 1);
    recorder.finish(WINDOW.end);
    let mut gatherer = Gatherer::new(vec!["read".to_owned()], 1);
    let seconds: Vec<_> = received.iter().flat_map(|hand_over| gatherer.take(hand_over)).collect();
    let counts: Vec<_> = seconds.iter().map(|s| (s.second, s.succeeded, s.max_us)).collect();
    assert_eq!(counts, [(0, 1, Some(2)), (1, 0, None), (2, 0, None)]);
}
