//! Values that are ready to be drawn.

use std::io::Write as _;

use super::chooser::{Chooser, Extent};
use super::expressions::Expression;
use super::formulas::write_double;
use super::keys::KeySpace;
use super::rng::Rng;
use super::text::{write_decimal, write_last_name, write_pattern, write_text};
use super::zipf::fnv_hash;
use crate::spec::Alphabet;

/// How a value is sent; the same for every draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Integer,
    Double,
    Text,
    Null,
}

/// A value with every name resolved to an index.
#[derive(Debug, Clone)]
pub enum Value {
    Integer(i64),
    Double(f64),
    Text(Box<[u8]>),
    Null,
    Drawn {
        low: i64,
        n: u64,
        chooser: usize,
    },
    Key {
        space: usize,
        chooser: usize,
    },
    NextKey {
        space: usize,
    },
    Row,
    /// `nullable`: a statement's result may make it null.
    Variable {
        slot: usize,
        kind: Kind,
        nullable: bool,
    },
    Sum {
        of: Box<Value>,
        plus: i64,
    },
    FnvHash(Box<Value>),
    Format {
        around: Vec<Box<[u8]>>,
        of: Vec<Value>,
    },
    RandomText {
        length: usize,
        most: usize,
        alphabet: Alphabet,
    },
    Pattern(Box<[u8]>),
    Numbers {
        of: Box<[i64]>,
        chooser: usize,
    },
    Texts {
        of: Box<[Box<[u8]>]>,
        chooser: usize,
    },
    Expression(Expression),
    If {
        condition: Expression,
        sides: Box<[Value; 2]>,
        kind: Kind,
    },
    Weighted {
        cumulative: Box<[f64]>,
        of: Box<[Value]>,
        kind: Kind,
    },
    Decimal {
        of: Box<Value>,
        scale: u32,
    },
    LastName(Box<Value>),
}

/// A value drawn by an operation's `let`, or kept by a script.
#[derive(Debug, Clone, PartialEq)]
pub enum Variable {
    Integer(i64),
    Double(f64),
    Boolean(bool),
    Text(Vec<u8>),
    Null,
    /// A script's variable that has not been set. A statement takes it as null.
    Undefined,
}

impl Variable {
    /// The whole number that it holds; 0 if it holds none.
    #[inline]
    pub fn whole_number(&self) -> i64 {
        match self {
            Variable::Integer(number) => *number,
            _ => 0,
        }
    }

    /// Appends it as text (nothing for null).
    pub fn append_text(&self, out: &mut Vec<u8>) {
        match self {
            Variable::Text(text) => out.extend_from_slice(text),
            Variable::Integer(number) => append_display(number, out),
            Variable::Double(number) => write_double(*number, out),
            Variable::Boolean(value) => append_display(value, out),
            Variable::Null | Variable::Undefined => {}
        }
    }
}

/// What the draws of several connections share: which rows are there, and the state of choosers.
#[derive(Debug, Clone)]
pub struct Scope {
    pub spaces: Vec<KeySpace>,
    pub choosers: Vec<Chooser>,
}

/// What the draws of one connection depend on.
#[derive(Debug, Clone)]
pub struct Drawing {
    pub rng: Rng,
    pub variables: Vec<Variable>,
    /// New rows of the running operation: key space and ticket, to be acknowledged.
    pub issued: Vec<(usize, u64)>,
    /// The cards that are left of the deck of operations.
    pub deck: Vec<u32>,
    /// The row being made, while a dataset is loaded.
    row: i64,
    /// While a dataset is loaded: each row has a stream of its own below this seed, so that it
    /// is the same whoever makes it.
    row_seed: Option<u64>,
}

impl Drawing {
    pub fn new(rng: Rng) -> Self {
        Drawing {
            rng,
            variables: Vec::new(),
            issued: Vec::new(),
            deck: Vec::new(),
            row: 0,
            row_seed: None,
        }
    }

    /// Draws rows of a dataset, one by one.
    pub fn of_rows(seed: u64) -> Self {
        Drawing { row_seed: Some(seed), ..Self::new(Rng::for_stream(seed, &[])) }
    }

    /// The number of the row being made.
    pub fn row(&self) -> i64 {
        self.row
    }

    /// The values that are drawn from now on belong to this row.
    pub fn start_row(&mut self, row: i64) {
        if let Some(seed) = self.row_seed {
            self.row = row;
            self.rng = Rng::for_stream(seed, &[row as u64]);
        }
    }
}

impl Value {
    pub fn kind(&self) -> Kind {
        match self {
            Value::Double(_) => Kind::Double,
            Value::Null => Kind::Null,
            Value::Variable { kind, .. }
            | Value::If { kind, .. }
            | Value::Weighted { kind, .. } => *kind,
            Value::Text(_)
            | Value::Format { .. }
            | Value::RandomText { .. }
            | Value::Pattern(_)
            | Value::Decimal { .. }
            | Value::LastName(_)
            | Value::Texts { .. } => Kind::Text,
            _ => Kind::Integer,
        }
    }

    /// Whether a draw may be null though the value has another kind.
    #[inline]
    pub fn may_be_null(&self) -> bool {
        match self {
            Value::Variable { nullable, .. } => *nullable,
            Value::If { .. } | Value::Weighted { .. } => true,
            _ => false,
        }
    }

    /// Draws which value stands here: one of several, or the value itself. None if it is null.
    pub fn pick(&self, drawing: &mut Drawing) -> Option<&Value> {
        match self {
            Value::Null => None,
            Value::Variable { slot, .. }
                if matches!(drawing.variables[*slot], Variable::Null | Variable::Undefined) =>
            {
                None
            }
            Value::If { condition, sides, .. } => {
                sides[usize::from(!condition.holds(drawing))].pick(drawing)
            }
            Value::Weighted { cumulative, of, .. } => {
                let drawn = drawing.rng.unit() * cumulative.last().copied().unwrap_or(0.0);
                let chosen = cumulative.iter().position(|&weight| drawn < weight);
                of[chosen.unwrap_or(of.len() - 1)].pick(drawing)
            }
            _ => Some(self),
        }
    }

    /// Draws a value of [`Kind::Integer`]; 0 for one of another kind.
    pub fn integer(&self, drawing: &mut Drawing, scope: &mut Scope) -> i64 {
        match self {
            Value::Integer(value) => *value,
            Value::Drawn { low, n, chooser } => {
                let extent = Extent { initial: *n, now: *n };
                let drawn = scope.choosers[*chooser].draw(&mut drawing.rng, extent);
                low.wrapping_add(drawn as i64)
            }
            Value::Key { space, chooser } => {
                let space = &scope.spaces[*space];
                space.number(scope.choosers[*chooser].draw(&mut drawing.rng, space.extent()))
            }
            Value::NextKey { space } => {
                let (ticket, number) = scope.spaces[*space].issue();
                drawing.issued.push((*space, ticket));
                number
            }
            Value::Row => drawing.row,
            Value::Variable { slot, .. } => drawing.variables[*slot].whole_number(),
            Value::Sum { of, plus } => of.integer(drawing, scope).wrapping_add(*plus),
            Value::FnvHash(of) => fnv_hash(of.integer(drawing, scope) as u64) as i64,
            Value::Numbers { of, chooser } => of[position(*chooser, of.len(), drawing, scope)],
            Value::Expression(expression) => expression.compute(drawing),
            Value::If { .. } | Value::Weighted { .. } => {
                self.pick(drawing).map_or(0, |value| value.integer(drawing, scope))
            }
            _ => 0,
        }
    }

    /// Draws a value of [`Kind::Double`]; 0 for one of another kind.
    pub fn double(&self, drawing: &mut Drawing) -> f64 {
        match self {
            Value::Double(value) => *value,
            Value::Variable { slot, .. } => match &drawing.variables[*slot] {
                Variable::Double(value) => *value,
                _ => 0.0,
            },
            Value::If { .. } | Value::Weighted { .. } => {
                self.pick(drawing).map_or(0.0, |value| value.double(drawing))
            }
            _ => 0.0,
        }
    }

    /// Draws a value of any kind and appends it as text (nothing for null).
    pub fn append_text(&self, drawing: &mut Drawing, scope: &mut Scope, out: &mut Vec<u8>) {
        match self {
            Value::Text(text) => out.extend_from_slice(text),
            Value::RandomText { length, most, alphabet } => {
                let more = if most > length { (most - length + 1) as u64 } else { 1 };
                let more = if more > 1 { drawing.rng.below(more) as usize } else { 0 };
                write_text(&mut drawing.rng, length + more, *alphabet, out);
            }
            Value::If { .. } | Value::Weighted { .. } => {
                if let Some(value) = self.pick(drawing) {
                    value.append_text(drawing, scope, out);
                }
            }
            Value::Decimal { of, scale } => {
                write_decimal(of.integer(drawing, scope), *scale, out);
            }
            Value::LastName(of) => write_last_name(of.integer(drawing, scope), out),
            Value::Pattern(pattern) => write_pattern(&mut drawing.rng, pattern, out),
            Value::Texts { of, chooser } => {
                out.extend_from_slice(&of[position(*chooser, of.len(), drawing, scope)]);
            }
            Value::Format { around, of } => {
                for (before, value) in around.iter().zip(of) {
                    out.extend_from_slice(before);
                    value.append_text(drawing, scope, out);
                }
                out.extend_from_slice(&around[of.len()]);
            }
            Value::Variable { slot, .. } if self.kind() == Kind::Text => {
                drawing.variables[*slot].append_text(out);
            }
            _ => match self.kind() {
                Kind::Integer => append_display(self.integer(drawing, scope), out),
                Kind::Double => append_display(self.double(drawing), out),
                Kind::Text | Kind::Null => {}
            },
        }
    }

    /// Draws a value and keeps it as a variable, in the memory of the text that was there.
    pub fn keep(&self, slot: usize, drawing: &mut Drawing, scope: &mut Scope) {
        let kind = self.kind();
        let value = if self.may_be_null() { self.pick(drawing) } else { Some(self) };
        let kept = match (value, kind) {
            (None, _) | (_, Kind::Null) => Variable::Null,
            (Some(value), Kind::Integer) => Variable::Integer(value.integer(drawing, scope)),
            (Some(value), Kind::Double) => Variable::Double(value.double(drawing)),
            (Some(value), Kind::Text) => {
                let before = std::mem::replace(&mut drawing.variables[slot], Variable::Null);
                let mut text = match before {
                    Variable::Text(text) => text,
                    _ => Vec::new(),
                };
                text.clear();
                value.append_text(drawing, scope, &mut text);
                Variable::Text(text)
            }
        };
        drawing.variables[slot] = kept;
    }
}

/// Draws a place in a list of this length, which is not empty.
fn position(chooser: usize, length: usize, drawing: &mut Drawing, scope: &mut Scope) -> usize {
    let extent = Extent { initial: length as u64, now: length as u64 };
    scope.choosers[chooser].draw(&mut drawing.rng, extent) as usize
}

fn append_display(value: impl std::fmt::Display, out: &mut Vec<u8>) {
    write!(out, "{value}").expect("writing to memory does not fail");
}
