//! PostgreSQL's rounds.

use plimsoll_engine::generators::rng::Rng;
use plimsoll_engine::postgres::answer::Answer;

use crate::support::answers;
use crate::support::postgres_messages as messages;
use crate::support::postgres_server::{Action, Asks, Command, Talk};
use crate::support::serving::Conversation;

/// Feeds a damaged answer, and damaged ones after it, to one parser.
pub fn parse(seed: u64) {
    let mut rng = Rng::for_stream(seed, &[]);
    let mut answer = Answer::default();
    for _ in 0..4 {
        let (commands, mut bytes, _) = messages::draw(&mut rng);
        answers::damage(&mut rng, &mut bytes);
        let pieces = answers::pieces(&mut rng, &bytes);
        answer.await_next();
        (0..commands).for_each(|_| answer.expect_command());
        crate::bounded(|| {
            for piece in pieces {
                if !matches!(answer.feed(piece), Ok(None)) {
                    break;
                }
            }
        });
    }
}

/// A server that answers commands at random, asks some clients for a password, and has parameters of
/// any type.
pub fn talk(mut rng: Rng, connection: usize) -> impl Conversation {
    let asks = [Asks::Nothing, Asks::Nothing, Asks::ClearText, Asks::Md5][rng.below(4) as usize];
    let parameter_type = [20, 20, 25, 1700, 17, 600][rng.below(6) as usize];
    let behavior = move |_: &Command<'_>| match rng.below(3) {
        0 => Action::Bytes(messages::draw(&mut rng).1.into()),
        1 => Action::Error("40001"),
        _ => Action::Rows,
    };
    let mut talk = Talk::new(connection, behavior);
    (talk.asks, talk.parameter_type) = (asks, parameter_type);
    talk
}
