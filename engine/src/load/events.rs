//! What happens to a thread's connections: answers, losses, time-outs, replacements.

use rustix::event::epoll::{self, EventData, EventFlags};

use super::connection::{Progress, State};
use super::operation::Failure;
use super::pacing::SECOND;
use super::record::count;
use super::worker::{BELL, Worker};
use crate::error::EngineError;
use crate::session::connect::Session;

const FIRST_BACK_OFF_NS: u64 = 10_000_000;
const LONGEST_BACK_OFF_NS: u64 = SECOND;

impl Worker<'_> {
    pub(super) fn handle_events(&mut self) {
        for at in 0..self.events.len() {
            let (data, flags) = self.events[at];
            if data == BELL {
                while let Some((index, session)) = self.reopener.result() {
                    self.reopened(index, session);
                }
                continue;
            }
            let index = data as usize;
            if self.connections[index].link().is_none() {
                continue;
            }
            if self.connections[index].sending() {
                self.send(index);
            }
            let hung_up = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
            if hung_up || flags.contains(EventFlags::IN) {
                self.receive(index, hung_up);
            }
        }
        self.events.clear();
    }

    fn receive(&mut self, index: usize, hung_up: bool) {
        let connection = &mut self.connections[index];
        let scope = &mut self.scopes[connection.scope];
        let progress = connection.receive(
            &mut self.buffer,
            hung_up,
            self.shared.program,
            scope,
            &mut self.sent,
        );
        match progress {
            Progress::Waiting => {}
            Progress::Send => {
                self.send(index);
            }
            Progress::Succeeded => self.answered(index, None),
            Progress::Failed(failure) => self.answered(index, Some(&failure)),
            Progress::Lost(failure) => self.lose(index, &failure, None),
        }
    }

    /// An operation is over, well or with a failure; what is answered after the window's end
    /// counts as unanswered.
    fn answered(&mut self, index: usize, failure: Option<&Failure>) {
        let now = self.shared.clock.now();
        let (operation, due) = (self.connections[index].operation(), self.connections[index].due);
        if now >= self.shared.window.end && !self.ending {
            self.late_answers += 1;
            self.oldest_late_due = self.oldest_late_due.min(due);
        } else if !self.ending {
            match failure {
                None => self.recorder.success(operation, now.saturating_sub(due), now),
                Some(failure) => self.recorder.failure(operation, failure, None, now),
            }
        }
        self.end_operation(index, now);
    }

    fn end_operation(&mut self, index: usize, now: u64) {
        let connection = &mut self.connections[index];
        connection.acknowledge(&mut self.scopes[connection.scope]);
        connection.state = State::Idle;
        connection.deadline = u64::MAX;
        self.busy -= 1;
        self.last_answer = now;
        if self.open_loop.is_some() {
            self.rest(index);
            self.send_due(now);
        } else {
            self.start_next(index, now);
        }
    }

    /// A connection is of no more use: its operation failed, and it is to be replaced.
    /// `latency_ns`: what a time-out is recorded at.
    pub(super) fn lose(&mut self, index: usize, failure: &Failure, latency_ns: Option<u64>) {
        let now = self.shared.clock.now();
        let connection = &mut self.connections[index];
        connection.acknowledge(&mut self.scopes[connection.scope]);
        connection.close();
        if connection.state == State::Busy {
            self.busy -= 1;
            self.last_answer = now;
            if !self.ending {
                self.recorder.failure(connection.operation(), failure, latency_ns, now);
            }
        }
        connection.deadline = u64::MAX;
        connection.state = State::Waiting { until: now };
        self.next_scan = self.next_scan.min(now);
    }

    /// Gives up what takes too long, and asks for the connections that are missing.
    pub(super) fn scan(&mut self, now: u64) {
        self.next_scan = now + self.scan_every;
        for index in 0..self.connections.len() {
            let connection = &mut self.connections[index];
            match connection.state {
                State::Busy if connection.deadline <= now => {
                    // at its full length, however late this scan came to see it
                    let latency = connection.deadline - connection.due;
                    let message =
                        format!("no answer within {} ms", self.shared.timeout_ns / 1_000_000);
                    let failure = Failure { code: "timeout".to_owned(), message };
                    self.lose(index, &failure, Some(latency));
                }
                State::Waiting { until } if until <= now && !self.ending => {
                    connection.state = State::Opening;
                    self.reopener.request(index);
                }
                _ => {}
            }
        }
    }

    fn reopened(&mut self, index: usize, session: Result<Session, EngineError>) {
        let now = self.shared.clock.now();
        let opened = session.and_then(|session| {
            self.connections[index].open(session);
            self.watch(index)
        });
        match opened {
            Ok(()) => {
                self.report.opened += 1;
                self.report.replaced += 1;
                self.rest(index);
                if self.open_loop.is_some() {
                    self.send_due(now);
                } else if now >= self.shared.start {
                    self.start_next(index, now);
                }
            }
            Err(error) => {
                count(&mut self.report.failed, &error.code);
                self.recorder.example(&error.code, &error.message);
                let connection = &mut self.connections[index];
                connection.close();
                let back_off = FIRST_BACK_OFF_NS << connection.attempts.min(10);
                connection.attempts += 1;
                let back_off = back_off.min(LONGEST_BACK_OFF_NS);
                // between half and all of it, so that the attempts of many connections spread
                let until = now + back_off / 2 + self.jitter.below(back_off / 2 + 1);
                connection.state = State::Waiting { until };
            }
        }
    }

    /// Makes a new session's socket non-blocking and has epoll tell of it.
    pub(super) fn watch(&mut self, index: usize) -> Result<(), EngineError> {
        let system = |what: &str, error: &dyn std::fmt::Display| {
            EngineError::new("system", format!("{what}: {error}"))
        };
        let link = self.connections[index].link().expect("the session has just been opened");
        link.stream.set_nonblocking(true).map_err(|error| system("socket", &error))?;
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &link.stream, EventData::new_u64(index as u64), flags)
            .map_err(|error| system("epoll", &error))
    }
}
