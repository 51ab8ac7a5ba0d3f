//! New sessions in the place of lost ones.

use rustix::event::epoll::{self, EventData, EventFlags};

use super::lane::State;
use super::pacing::SECOND;
use super::wire::{Standing, Wire};
use super::worker::Worker;
use crate::error::EngineError;
use crate::report::count_error;
use crate::session::connect::Session;

const FIRST_BACK_OFF_NS: u64 = 10_000_000;
const LONGEST_BACK_OFF_NS: u64 = SECOND;

impl<W: Wire> Worker<'_, W> {
    /// An attempt to replace a wire's session has ended.
    #[cold]
    pub(super) fn reopened(
        &mut self,
        index: usize,
        session: Result<Session<W::Known>, EngineError>,
    ) {
        let now = self.shared.clock.now();
        let opened = session.and_then(|session| {
            self.lines[index].open(session);
            self.watch(index)
        });
        let line = &mut self.lines[index];
        match opened {
            Ok(()) => {
                self.report.opened += 1;
                self.report.replaced += 1;
                for lane in line.lanes.clone() {
                    if self.lanes[lane].state == State::Away {
                        self.lanes[lane].state = State::Idle;
                        self.go_on(lane, now);
                    }
                }
            }
            Err(error) => {
                count_error(&mut self.report.failed, &error.code);
                self.recorder.example(&error.code, &error.message);
                line.wire.close();
                let back_off = FIRST_BACK_OFF_NS << line.attempts.min(10);
                line.attempts += 1;
                let back_off = back_off.min(LONGEST_BACK_OFF_NS);
                // between half and all of it, so that the attempts of many connections spread
                let until = now + back_off / 2 + self.jitter.below(back_off / 2 + 1);
                line.standing = Standing::Waiting { until };
            }
        }
    }

    /// Makes a new session's socket non-blocking, and adds it to the epoll.
    pub(super) fn watch(&mut self, line: usize) -> Result<(), EngineError> {
        let system = |what: &str, error: &dyn std::fmt::Display| {
            EngineError::new("system", format!("{what}: {error}"))
        };
        let stream = self.lines[line].wire.link().stream();
        let stream = stream.expect("the session has just been opened");
        stream.set_nonblocking(true).map_err(|error| system("socket", &error))?;
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, stream, EventData::new_u64(line as u64), flags)
            .map_err(|error| system("epoll", &error))
    }
}
