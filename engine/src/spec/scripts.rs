//! What pgbench's scripts need: formulas over values of several types, and the variables that a
//! connection keeps from one operation to the next.

use serde::Deserialize;

/// A value of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    Boolean(bool),
    Integer(i64),
    Double(f64),
    Null(()),
}

/// A function or operator of pgbench's expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormulaFunction {
    Add,
    Subtract,
    Multiply,
    /// Of whole numbers, rounded towards zero.
    Divide,
    Remainder,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Less,
    AtMost,
    Equal,
    Different,
    And,
    Or,
    Not,
    /// Whether the first is the second, which is true, false or null.
    Is,
    /// Conditions and results in turn, then the result if no condition is true.
    Case,
    Abs,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    /// A number's place in a permutation of 0 to size - 1, by a seed.
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// An expression of a script.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Formula {
    Constant { value: Scalar },
    Variable { name: String },
    Call { function: FormulaFunction, of: Vec<Formula> },
}

/// A variable that each connection keeps, whatever operation it carries out.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionVariable {
    pub name: String,
    pub starts: SessionValue,
}

/// What such a variable holds at first.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SessionValue {
    /// Nothing: a formula may not use it before it is set.
    Undefined {},
    /// A text, which a formula reads as the value that it looks like.
    Text { value: String },
    /// The number of the connection, from 0.
    Client {},
    /// The load's random seed.
    Seed {},
}
