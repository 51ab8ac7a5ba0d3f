//! The seam between the loop (pacing, recording, deadlines, reopening) and a protocol.
//!
//! A wire is one connection to the server. It carries one operation at a time for each of its
//! lanes: MySQL's has one lane, CQL's has many, told apart by the protocol's streams. The loop is
//! made for each protocol anew (monomorphized), so that neither pays for the other.

use std::io;
use std::ops::Range;

use crate::error::{EngineError, Failure};
use crate::generators::values::{Drawing, Scope, Value};
use crate::session::connect::{Login, Session};
use crate::session::link::Link;
use crate::spec::{Consistency, Load};

/// A statement to be carried out, its binds still to be drawn.
pub struct Execution<'a> {
    /// Whose: the lane's place on the wire.
    pub slot: usize,
    /// Index of the prepared statement in the program.
    pub prepared: usize,
    pub binds: &'a [Value],
    pub consistency: Consistency,
}

/// The answer to what a lane sent last.
pub struct Answered {
    pub slot: usize,
    /// None: it succeeded. In a box, since what is rare should not be moved about each time.
    pub failure: Option<Box<Failure>>,
}

/// One connection, and what is spoken on it.
pub trait Wire: Sized + Send {
    /// What a login finds out.
    type Known: Login;
    /// Whether what several lanes have to send is gathered before it goes out.
    const GATHERS: bool;

    /// Refuses a load that the protocol cannot carry, before anything is connected.
    fn check(load: &Load) -> Result<(), EngineError>;

    /// The most lanes that a load gives to one wire.
    fn lanes_of(load: &Load) -> usize;

    /// A wire without a session, for so many lanes.
    fn new(lanes: usize) -> Self;

    fn open(&mut self, session: Session<Self::Known>);

    fn link(&self) -> Option<&Link>;

    /// Drops the session, whatever it was doing.
    fn close(&mut self);

    /// Leaves as the protocol asks, where nothing is under way.
    fn quit(&mut self);

    /// Appends the execution of a prepared statement.
    fn execute(&mut self, execution: &Execution<'_>, drawing: &mut Drawing, scope: &mut Scope);

    /// Appends a statement without binds; its answer is that of slot 0.
    fn command(&mut self, text: &str);

    /// Sends what is left of what was appended; what does not fit goes when there is room.
    fn send(&mut self) -> io::Result<()>;

    /// How many bytes still wait to be sent.
    fn unsent(&self) -> usize;

    /// Reads what has arrived, and says whether there may be more. `drain`: the peer has hung up,
    /// so that no event tells of what is left.
    fn receive(
        &mut self,
        buffer: &mut [u8],
        drain: bool,
        answers: &mut Vec<Answered>,
    ) -> Result<bool, Failure>;

    /// No longer awaits a slot's answer. False: the wire is of no more use.
    fn abandon(&mut self, slot: usize) -> bool;
}

/// What becomes of a wire's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Open,
    /// The next attempt to open one is due at this time.
    Waiting {
        until: u64,
    },
    /// One is being opened.
    Opening,
}

/// A wire among the others of a thread.
pub struct Line<W> {
    pub wire: W,
    /// Its lanes among the thread's.
    pub lanes: Range<usize>,
    pub standing: Standing,
    /// Attempts to open a session that failed in a row.
    pub attempts: u32,
    /// It stands in the list of those that have something to send.
    pub listed: bool,
}

impl<W: Wire> Line<W> {
    pub fn open(&mut self, session: Session<W::Known>) {
        self.wire.open(session);
        self.standing = Standing::Open;
        self.attempts = 0;
    }
}
