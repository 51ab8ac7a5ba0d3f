//! A workload that is ready to be sent: names are resolved, statements are numbered.

use std::collections::HashMap;

use super::chooser::{Chooser, Share};
use super::expressions::Expression;
use super::formulas::Formula;
use super::keys::KeySpace;
use super::lists::List;
use super::values::{Drawing, Kind, Scope, Value, Variable};
use crate::error::EngineError;
use crate::spec::{self, Consistency, Distribution, Mix, ReturnedKind, Row, SessionValue};

/// A statement to be prepared on each connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Prepared {
    pub sql: String,
    /// The kinds of its binds.
    pub kinds: Vec<Kind>,
    /// How many columns of its result are kept, by kind.
    pub returns: Vec<ReturnedKind>,
}

impl Prepared {
    /// Its text for a message, cut where it is long: a bulk insert has thousands of binds.
    pub fn excerpt(&self) -> String {
        const LONGEST: usize = 120;
        match self.sql.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{:?}...", &self.sql[..end]),
            None => format!("{:?}", self.sql),
        }
    }
}

/// One statement of an operation.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Indices of [`Program::prepared`]: alternatives, one of which is sent.
    pub alternatives: Vec<usize>,
    pub choose: Option<Value>,
    pub binds: Vec<Value>,
    pub repeat: u32,
    /// The least number of rows that an execution has to return, match or insert.
    pub rows_least: u64,
    /// The variables that take the first columns of its first row.
    pub returns: Box<[(usize, ReturnedKind)]>,
    /// Which row that is instead.
    pub row: Row,
    /// Whether it is a command of a script for the transaction or session, and no statement.
    pub uncounted: bool,
    /// What is sent in place of the above if a part is repeated for each line of a list.
    pub each: Option<Box<Each>>,
}

/// A statement a part of which is repeated for each line of a list.
#[derive(Debug, Clone)]
pub struct Each {
    /// The index of the list among the operation's.
    pub list: usize,
    /// What is sent for the least number of lines, for one line more, up to the most.
    pub forms: Vec<Form>,
}

/// A statement's alternatives and binds for a number of lines.
#[derive(Debug, Clone)]
pub struct Form {
    pub alternatives: Vec<usize>,
    pub binds: Vec<Value>,
}

/// What an operation with logic does next.
#[derive(Debug, Clone)]
pub enum Step {
    Send {
        statement: usize,
        /// The steps after it are taken before it is answered, if the protocol can do that.
        ahead: bool,
    },
    /// Waits for the answers to what was sent ahead.
    Await,
    /// Computes a variable of a script. `place`: the command's file and line.
    Set {
        slot: usize,
        of: Formula,
        place: Box<str>,
    },
    /// Goes on with the next step if the formula is true, else elsewhere.
    When {
        condition: Formula,
        to: usize,
        place: Box<str>,
    },
    /// Waits so many microseconds, times the number that a variable begins with.
    Sleep {
        us: u64,
        times: Option<usize>,
        place: Box<str>,
    },
    Keep {
        slot: usize,
        value: Value,
    },
    /// Goes on with the next step if the condition holds, else elsewhere.
    Unless {
        condition: Expression,
        to: usize,
    },
    GoTo(usize),
    /// Puts the line of this turn in the place of the current one, or back.
    Line {
        list: usize,
        turn: usize,
    },
    /// Begins a turn of a loop, or goes on after its last one. `turns` has how many there are.
    Turn {
        turn: usize,
        turns: usize,
        end: usize,
    },
    Rollback,
}

#[derive(Debug, Clone)]
pub struct Operation {
    pub name: String,
    pub transaction: bool,
    /// Its statements begin and end transactions themselves.
    pub own_transactions: bool,
    pub records: u64,
    /// CQL only: how many replicas the coordinator waits for.
    pub consistency: Consistency,
    /// Variables with what they are drawn from.
    pub lets: Vec<(usize, Value)>,
    pub lists: Vec<List>,
    pub statements: Vec<Statement>,
    /// Empty if each statement is sent in turn.
    pub steps: Vec<Step>,
    /// It is one statement, sent once: the answer to that ends it.
    pub single: bool,
    pub max_tries: u32,
    pub keying_s: f64,
    pub think_s: f64,
    /// How many variables there are up to this operation's last one.
    pub variables: usize,
}

/// A workload with every name resolved; never changed by running it.
#[derive(Debug, Default)]
pub struct Program {
    pub operations: Vec<Operation>,
    pub prepared: Vec<Prepared>,
    cumulative_weights: Vec<f64>,
    /// The cards of the deck that operations are chosen from; empty if they are chosen by weight.
    cards: Vec<u32>,
    /// Each statement has an answer of its own, so that its latency can be recorded.
    pub one_by_one: bool,
    /// How many variables the operations have together.
    pub(super) variables: usize,
    pub(super) spaces: Vec<spec::KeySpace>,
    choosers: Vec<ChooserPlan>,
    /// The variables that a connection keeps, with what they hold at first. They are the first ones.
    session: Vec<SessionValue>,
}

#[derive(Debug)]
struct ChooserPlan {
    distribution: Distribution,
    low: i64,
    initial: u64,
    /// The key space that it draws from, if any.
    space: Option<usize>,
}

impl Program {
    /// A program that has no operations yet.
    pub(super) fn over(spaces: &[spec::KeySpace]) -> Self {
        Program { spaces: spaces.to_vec(), ..Program::default() }
    }

    pub fn new(workload: &spec::Workload) -> Result<Self, EngineError> {
        let mut program = Program::over(&workload.key_spaces);
        let mut indices: HashMap<Prepared, usize> = HashMap::new();
        let session = program.session_names(&workload.variables, &workload.operations);
        program.session = workload.variables.iter().map(|each| each.starts.clone()).collect();
        let mut total = 0.0;
        for operation in &workload.operations {
            if !(operation.weight.is_finite() && operation.weight >= 0.0) {
                return Err(EngineError::spec(format!(
                    "operation {}: weight is {}: allowed is 0 and more",
                    operation.name, operation.weight
                )));
            }
            total += operation.weight;
            program.cumulative_weights.push(total);
            let compiled = program
                .operation(operation, session.clone(), &mut indices)
                .map_err(|error| error.context(&format!("operation {}", operation.name)))?;
            program.operations.push(compiled);
        }
        if total <= 0.0 {
            return Err(EngineError::spec("the weights of the operations sum to nothing"));
        }
        if workload.mix == Mix::Deck {
            program.cards = cards(&workload.operations)?;
        }
        // the distributions are checked before anything is connected
        program.scope(Share::WHOLE, Share::WHOLE, 0)?;
        Ok(program)
    }

    pub(super) fn chooser(
        &mut self,
        distribution: &Distribution,
        low: i64,
        initial: u64,
        space: Option<usize>,
    ) -> usize {
        let distribution = distribution.clone();
        self.choosers.push(ChooserPlan { distribution, low, initial, space });
        self.choosers.len() - 1
    }

    /// What a connection's variables hold at first. `client`: the connection's number.
    pub fn session_variables(&self, client: u64, seed: u64) -> Vec<Variable> {
        let first = |starts: &SessionValue| match starts {
            SessionValue::Undefined {} => Variable::Undefined,
            SessionValue::Text { value } => Variable::Text(value.as_bytes().to_vec()),
            SessionValue::Client {} => Variable::Integer(client as i64),
            SessionValue::Seed {} => Variable::Integer(seed as i64),
        };
        self.session.iter().map(first).collect()
    }

    /// A fresh scope for those who hold these shares: `keys` of the new rows of all clients,
    /// `counters` of this client's sequences. `expected_operations`: how many the whole load is
    /// likely to send, 0 where that is open.
    pub fn scope(
        &self,
        keys: Share,
        counters: Share,
        expected_operations: u64,
    ) -> Result<Scope, EngineError> {
        let spaces = self
            .spaces
            .iter()
            .map(|space| KeySpace::new(space.first, space.records, space.insert_from, keys))
            .collect();
        let choosers = self
            .choosers
            .iter()
            .map(|plan| {
                let expected =
                    plan.space.map(|space| self.expected_inserts(space, expected_operations));
                Chooser::new(&plan.distribution, plan.low, plan.initial, expected, counters)
            })
            .collect::<Result<_, _>>()?;
        Ok(Scope { spaces, choosers })
    }

    /// Rows that may be added to a key space: twice the inserts among the expected operations
    /// (YCSB's `CoreWorkload` has the same factor), or as many as there are where that is open.
    fn expected_inserts(&self, space: usize, expected_operations: u64) -> u64 {
        let mut previous = 0.0;
        let mut per_operation = 0.0;
        for (operation, &cumulative) in self.operations.iter().zip(&self.cumulative_weights) {
            let count = |values: &mut dyn Iterator<Item = &Value>| {
                values.filter(|value| issues(value, space)).count()
            };
            let mut inserts = count(&mut operation.lets.iter().map(|(_, value)| value));
            inserts += count(&mut operation.statements.iter().flat_map(|each| &each.binds));
            for list in &operation.lists {
                inserts += list.most * count(&mut list.lets.iter().map(|(_, value)| value));
            }
            per_operation += (cumulative - previous) * inserts as f64;
            previous = cumulative;
        }
        per_operation /= previous.max(f64::MIN_POSITIVE);
        if per_operation == 0.0 {
            return 0;
        }
        match expected_operations {
            0 => self.spaces[space].records,
            operations => (operations as f64 * per_operation * 2.0) as u64,
        }
    }

    /// The index of the next operation, by weight or from the deck.
    #[inline(always)]
    pub fn choose_operation(&self, drawing: &mut Drawing) -> usize {
        if self.operations.len() == 1 { 0 } else { self.draw_operation(drawing) }
    }

    fn draw_operation(&self, drawing: &mut Drawing) -> usize {
        if !self.cards.is_empty() {
            return self.take_card(drawing);
        }
        let total = *self.cumulative_weights.last().expect("a program has operations");
        let drawn = drawing.rng.unit() * total;
        let chosen = self.cumulative_weights.iter().position(|&weight| drawn < weight);
        chosen.unwrap_or(self.operations.len() - 1)
    }

    /// Takes a card from what is left of a shuffled deck, at random: the order is that of a shuffle.
    fn take_card(&self, drawing: &mut Drawing) -> usize {
        if drawing.deck.is_empty() {
            drawing.deck.extend_from_slice(&self.cards);
        }
        let drawn = drawing.rng.below(drawing.deck.len() as u64) as usize;
        drawing.deck.swap_remove(drawn) as usize
    }

    /// Whether operations are sent with pauses between them.
    pub fn pauses(&self) -> bool {
        self.operations.iter().any(|each| each.keying_s > 0.0 || each.think_s > 0.0)
    }
}

/// As many cards of each operation as its weight.
fn cards(operations: &[spec::Operation]) -> Result<Vec<u32>, EngineError> {
    const MOST: f64 = 1_000.0;
    let mut cards = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        if operation.weight.fract() != 0.0 || operation.weight > MOST {
            return Err(EngineError::spec(format!(
                "operation {}: weight is {}: a deck has whole numbers up to {MOST}",
                operation.name, operation.weight
            )));
        }
        cards.extend(std::iter::repeat_n(index as u32, operation.weight as usize));
    }
    Ok(cards)
}

impl Statement {
    /// The index of the prepared statement to send.
    #[inline]
    pub fn choose(
        &self,
        alternatives: &[usize],
        drawing: &mut Drawing,
        scope: &mut Scope,
    ) -> usize {
        let n = alternatives.len();
        let chosen = match &self.choose {
            _ if n == 1 => 0,
            None => drawing.rng.below(n as u64) as usize,
            Some(value) => value.integer(drawing, scope).rem_euclid(n as i64) as usize,
        };
        alternatives[chosen]
    }
}

impl Operation {
    /// Draws the operation's variables.
    #[inline]
    pub fn begin(&self, drawing: &mut Drawing, scope: &mut Scope) {
        if self.variables > 0 {
            self.draw_variables(drawing, scope);
        }
    }

    fn draw_variables(&self, drawing: &mut Drawing, scope: &mut Scope) {
        if drawing.variables.len() < self.variables {
            drawing.variables.resize(self.variables, Variable::Null);
        }
        for (slot, value) in &self.lets {
            value.keep(*slot, drawing, scope);
        }
        for list in &self.lists {
            list.draw(drawing, scope);
        }
    }
}

/// Whether drawing a value issues a new row of this key space.
fn issues(value: &Value, wanted: usize) -> bool {
    match value {
        Value::NextKey { space } => *space == wanted,
        Value::Sum { of, .. }
        | Value::FnvHash(of)
        | Value::Decimal { of, .. }
        | Value::LastName(of) => issues(of, wanted),
        Value::If { sides, .. } => sides.iter().any(|value| issues(value, wanted)),
        Value::Weighted { of, .. } => of.iter().any(|value| issues(value, wanted)),
        Value::Format { of, .. } => of.iter().any(|value| issues(value, wanted)),
        _ => false,
    }
}
