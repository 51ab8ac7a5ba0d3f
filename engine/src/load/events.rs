//! What happens to a thread's wires: answers, losses, time-outs.

use std::sync::atomic::Ordering;

use rustix::event::epoll::EventFlags;

use super::lane::State;
use super::operation::Next;
use super::wire::{Answered, Standing, Wire};
use super::worker::{BELL, Worker};
use crate::error::Failure;

impl<W: Wire> Worker<'_, W> {
    pub(super) fn handle_events(&mut self) {
        for at in 0..self.events.len() {
            let (data, flags) = self.events[at];
            if data == BELL {
                while let Some((line, session)) = self.reopener.result() {
                    self.reopened(line, session);
                }
                continue;
            }
            let line = data as usize;
            if self.lines[line].wire.link().stream().is_none() {
                continue;
            }
            if self.lines[line].wire.link().unsent() > 0 {
                self.send(line);
            }
            let hung_up = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
            if hung_up || flags.contains(EventFlags::IN) {
                self.receive(line, hung_up);
            }
            self.send_gathered();
        }
        self.events.clear();
    }

    pub(super) fn receive(&mut self, line: usize, hung_up: bool) {
        let mut answers = std::mem::take(&mut self.answers);
        loop {
            let wire = &mut self.lines[line].wire;
            let received = wire.receive(&mut self.buffer, hung_up, &mut answers);
            let first = self.lines[line].lanes.start;
            for answer in answers.drain(..) {
                self.lane_answered(line, first + answer.slot, answer);
            }
            match received {
                Ok(true) if self.reads_on() => {}
                Ok(_) => break,
                Err(failure) => {
                    self.lose(line, &failure);
                    break;
                }
            }
        }
        self.answers = answers;
    }

    /// Whether to read more of what a server does not stop to say: it keeps no deadline from being
    /// seen, nor the end of the load.
    fn reads_on(&mut self) -> bool {
        let now = self.shared.clock.now();
        if now >= self.next_scan {
            self.scan(now);
        }
        now < self.reads_until && (self.ending || !self.shared.cancelled.load(Ordering::Relaxed))
    }

    /// A lane has its answer: it sends its operation's next packet, or the operation is over.
    fn lane_answered(&mut self, line: usize, index: usize, answer: Answered) {
        let lane = &mut self.lanes[index];
        if lane.state != State::Busy || lane.line != line {
            return; // its wire was lost before; it may be busy at another node
        }
        let (scope, wire) = (&mut self.scopes[lane.scope], &mut self.lines[line].wire);
        match lane.answered(answer.failure, self.shared.program, scope, wire, &mut self.sent) {
            Next::Send => {
                let line = self.route(index);
                self.pass_on(line);
            }
            Next::Succeeded => self.operation_answered(index, None),
            Next::Failed(failure) => self.operation_answered(index, Some(&failure)),
        }
    }

    /// Records an operation that succeeded or failed. One that is answered after the window's end
    /// counts as unanswered.
    fn operation_answered(&mut self, index: usize, failure: Option<&Failure>) {
        let now = self.shared.clock.now();
        let (operation, due) = (self.lanes[index].operation(), self.lanes[index].due);
        if now >= self.shared.window.end && !self.ending {
            self.late_answers += 1;
            self.oldest_late_due = self.oldest_late_due.min(due);
        } else if now > self.lanes[index].deadline {
            self.record_time_out(index, now); // `scan` had not seen yet that it was too late
        } else if !self.ending {
            let latency = now.saturating_sub(due);
            match failure {
                None => {
                    self.recorder.success(operation, latency, now);
                    self.count_success(index, latency, now);
                }
                Some(failure) => {
                    let latency = failure.timed_out.then_some(latency);
                    self.record_failure(index, failure, latency, now);
                }
            }
        }
        self.end_operation(index, now);
    }

    fn end_operation(&mut self, index: usize, now: u64) {
        let lane = &mut self.lanes[index];
        lane.end(&mut self.scopes[lane.scope], State::Idle);
        self.busy -= 1;
        self.last_answer = now;
        self.go_on(index, now);
    }

    /// A lane is idle: it rests, or sends its next operation.
    pub(super) fn go_on(&mut self, index: usize, now: u64) {
        if self.open_loop.is_some() {
            self.rest(index);
            self.send_due(now);
        } else if now >= self.shared.start {
            self.start_next(index, now);
        }
    }

    /// A wire cannot be used any more: the operations on it have failed, and it is to be replaced.
    #[cold]
    pub(super) fn lose(&mut self, line: usize, failure: &Failure) {
        let now = self.shared.clock.now();
        self.lines[line].wire.close();
        for index in self.lines[line].lanes.clone() {
            if self.lanes[index].line != line {
                continue; // it is at another node
            }
            let busy = self.lanes[index].state == State::Busy;
            if busy && self.lanes[index].deadline <= now {
                self.record_time_out(index, now);
            } else if busy && !self.ending {
                self.record_failure(index, failure, None, now);
            }
            if busy {
                self.busy -= 1;
                self.last_answer = now;
            }
            let lane = &mut self.lanes[index];
            lane.end(&mut self.scopes[lane.scope], State::Away);
        }
        self.lines[line].standing = Standing::Waiting { until: now };
        self.next_scan = self.next_scan.min(now);
        self.go_elsewhere(line, now);
    }

    /// Gives up the operations that take too long, and has missing sessions opened again.
    #[cold]
    pub(super) fn scan(&mut self, now: u64) {
        self.next_scan = now + self.scan_every;
        for index in 0..self.lanes.len() {
            let lane = &self.lanes[index];
            if lane.state != State::Busy || lane.deadline > now {
                continue;
            }
            let line = lane.line;
            if self.lines[line].wire.abandon(lane.slot) {
                self.record_time_out(index, now);
                self.end_operation(index, now);
            } else {
                let message = "it leaves too many requests without an answer";
                self.lose(line, &Failure::connection_lost(message));
            }
        }
        for index in 0..self.lines.len() {
            let line = &mut self.lines[index];
            if let Standing::Waiting { until } = line.standing
                && until <= now
                && !self.ending
            {
                line.standing = Standing::Opening;
                self.reopener.request(index);
            }
        }
    }

    /// Records a time-out at its full length from the due time, however late it was noticed.
    #[cold]
    fn record_time_out(&mut self, index: usize, now: u64) {
        if self.ending {
            return;
        }
        let lane = &self.lanes[index];
        let latency = lane.deadline - lane.due;
        let message = format!("no answer within {} ms", self.shared.timeout_ns / 1_000_000);
        let failure = Failure::new("timeout", message);
        self.record_failure(index, &failure, Some(latency), now);
    }
}
