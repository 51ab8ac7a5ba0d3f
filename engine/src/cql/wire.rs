//! CQL's wire: many operations at a time on one connection, each on its own stream.

use super::codes;
use super::discovery;
use super::frames::{Frame, Reader, opcode};
use super::login::Known;
use super::prepared;
use super::request;
use super::rows;
use super::streams::{Holder, Streams};
use crate::error::{EngineError, Failure, Violation};
use crate::generators::values::{Drawing, Scope};
use crate::load::cluster::Cluster;
use crate::load::wire::{Answered, Execution, Met, Wire};
use crate::session::connect::{Opener, Session};
use crate::session::link::{BufferedLink, Received};
use crate::spec::Load;

pub struct CqlWire {
    link: BufferedLink,
    reader: Reader,
    requests: Requests,
}

/// The requests in progress on a connection.
struct Requests {
    known: Known,
    streams: Streams,
    slots: Vec<Slot>,
}

/// The request of one lane.
#[derive(Debug, Clone, Default)]
struct Slot {
    awaits: Awaits,
    /// The index of its statement.
    prepared: usize,
    /// The least number of rows that it has to return.
    rows_least: u64,
    /// The execution as it was sent. It is sent again if the server has forgotten the statement,
    /// since the binds cannot be drawn twice.
    packet: Vec<u8>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Awaits {
    #[default]
    Nothing,
    Result,
    /// The statement is being prepared again.
    Prepared,
    /// The execution was sent again; its result is awaited.
    SecondResult,
}

impl Wire for CqlWire {
    type Known = Known;
    const GATHERS: bool = true;
    const ROUTES: bool = true;
    const COUNTS_ROWS: bool = false;

    fn check(load: &Load) -> Result<(), EngineError> {
        let mut operations = load.workload.operations.iter();
        operations.try_for_each(|operation| {
            let problem = if operation.transaction {
                "CQL has no transactions: leave it out"
            } else if !operation.lists.is_empty() {
                "CQL has no statements for several lines at once: leave lists out"
            } else if !operation.steps.is_empty() {
                "CQL has no results for later statements, no branches and no loops"
            } else if operation.max_tries > 1 {
                "CQL has no deadlocks to try again after: leave max_tries out"
            } else {
                return Ok(());
            };
            Err(EngineError::spec(format!("operation {}: {problem}", operation.name)))
        })
    }

    fn cluster(opener: Opener) -> Result<Cluster, EngineError> {
        discovery::cluster(opener)
    }

    fn lanes_of(load: &Load) -> usize {
        load.streams_per_connection as usize
    }

    fn new(lanes: usize) -> Self {
        let requests = Requests {
            known: Known::default(),
            streams: Streams::new(lanes),
            slots: vec![Slot::default(); lanes],
        };
        CqlWire { link: BufferedLink::default(), reader: Reader::default(), requests }
    }

    fn open(&mut self, session: Session<Known>) {
        self.close();
        self.link.open(session.link);
        self.requests.known = session.known;
    }

    fn link(&self) -> &BufferedLink {
        &self.link
    }

    fn link_mut(&mut self) -> &mut BufferedLink {
        &mut self.link
    }

    fn close(&mut self) {
        self.link.close();
        self.reader.clear();
        self.requests.streams.reset();
        self.requests.slots.iter_mut().for_each(|slot| slot.awaits = Awaits::Nothing);
    }

    /// The protocol has no farewell.
    fn quit(&mut self) {
        self.close();
    }

    fn execute(&mut self, execution: &Execution<'_>, drawing: &mut Drawing, scope: &mut Scope) {
        let Requests { known, streams, slots } = &mut self.requests;
        let out = &mut self.link.out;
        let slot = &mut slots[execution.slot];
        let statement = &known.statements[execution.prepared];
        let start = out.len();
        let stream = streams.of(execution.slot);
        let how = (statement, execution.consistency);
        request::execute(stream, how, execution.binds, drawing, scope, out);
        slot.packet.clear();
        slot.packet.extend_from_slice(&out[start..]);
        slot.prepared = execution.prepared;
        slot.rows_least = execution.rows_least;
        slot.awaits = Awaits::Result;
    }

    fn command(&mut self, text: &str) {
        unreachable!("{text}: `check` refuses transactions");
    }

    fn receive(
        &mut self,
        buffer: &mut [u8],
        drain: bool,
        answers: &mut Vec<Answered>,
    ) -> Result<bool, Failure> {
        let Received { bytes, more } = self.link.receive(buffer, drain)?;
        if bytes == 0 {
            return Ok(more);
        }
        let mut input = &buffer[..bytes];
        while !input.is_empty() {
            match self.reader.next(&mut input)? {
                Some(frame) => self.requests.take(&frame, &mut self.link.out, answers)?,
                None => break,
            }
        }
        // statements that are to be prepared again were appended while answers were read
        if !self.link.out.is_empty() {
            self.link.send().map_err(Failure::connection_lost)?;
        }
        Ok(more)
    }

    fn token(&self, slot: usize) -> Option<i64> {
        let Requests { known, slots, .. } = &self.requests;
        let slot = &slots[slot];
        request::token(&slot.packet, &known.statements[slot.prepared].partition_key)
    }

    fn hand_over(&mut self, slot: usize, to: &mut Self) {
        let mine = &mut self.requests.slots[slot];
        mine.awaits = Awaits::Nothing;
        self.link.out.truncate(self.link.out.len() - mine.packet.len());
        let Requests { known, streams, slots } = &mut to.requests;
        let out = &mut to.link.out;
        let (its, start) = (&mut slots[slot], out.len());
        let statement = &known.statements[mine.prepared];
        request::execute_elsewhere(&mine.packet, streams.of(slot), statement, out);
        its.packet.clear();
        its.packet.extend_from_slice(&out[start..]);
        (its.prepared, its.awaits) = (mine.prepared, Awaits::Result);
        its.rows_least = mine.rows_least;
    }

    fn abandon(&mut self, slot: usize) -> bool {
        self.requests.slots[slot].awaits = Awaits::Nothing;
        self.requests.streams.abandon(slot)
    }
}

impl Requests {
    /// Handles one response, and appends to `out` what it makes necessary to send.
    fn take(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Vec<u8>,
        answers: &mut Vec<Answered>,
    ) -> Result<(), Violation> {
        if frame.opcode == opcode::EVENT {
            return Ok(());
        }
        let slot = match self.streams.answered(frame.stream) {
            Holder::Slot(slot) => usize::from(slot),
            Holder::Orphan => return Ok(()),
            Holder::Nobody => return Err(Violation("an answer to no request")),
        };
        let result = match (self.slots[slot].awaits, frame.opcode) {
            (Awaits::Nothing, _) => return Err(Violation("an answer to no request")),
            (Awaits::Prepared, opcode::RESULT) => return self.send_again(slot, frame.body(), out),
            (_, opcode::RESULT) => {
                let Slot { prepared, rows_least, .. } = self.slots[slot];
                let conditional = self.known.conditional[prepared];
                Ok(Met::of(rows::met(frame.body(), conditional), rows_least))
            }
            (awaits, opcode::ERROR) => {
                let (code, message) = codes::error(frame.body());
                if code == codes::UNPREPARED && awaits == Awaits::Result {
                    self.prepare_again(slot, out);
                    return Ok(());
                }
                Err(Box::new(codes::failure((code, message))))
            }
            _ => return Err(Violation("neither a result nor an error")),
        };
        self.slots[slot].awaits = Awaits::Nothing;
        answers.push(Answered { slot, result });
        Ok(())
    }

    /// The server has forgotten a statement, for example after a change of the schema, and has not
    /// carried out the execution.
    fn prepare_again(&mut self, slot: usize, out: &mut Vec<u8>) {
        let text = &self.known.texts[self.slots[slot].prepared];
        request::prepare(self.streams.of(slot), text, out);
        self.slots[slot].awaits = Awaits::Prepared;
    }

    /// The statement is prepared again: sends its execution again, under the new id.
    fn send_again(&mut self, slot: usize, body: &[u8], out: &mut Vec<u8>) -> Result<(), Violation> {
        let id = prepared::id(body).ok_or(Violation("no id in the answer to PREPARE"))?;
        let slot = &mut self.slots[slot];
        let statement = &mut self.known.statements[slot.prepared];
        statement.id.clear();
        statement.id.extend_from_slice(id);
        request::execute_again(&slot.packet, statement, out);
        slot.awaits = Awaits::SecondResult;
        Ok(())
    }
}
