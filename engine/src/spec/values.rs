//! The values that operations bind, and the distributions that they are drawn from.

use serde::Deserialize;

/// How a number is drawn; each variant's definition stands beside its sampler in `generators`.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Distribution {
    Uniform {},
    Sequential {},
    Zipfian {
        #[serde(default = "ycsb_constant")]
        constant: f64,
        #[serde(default = "yes")]
        scrambled: bool,
    },
    Latest {
        #[serde(default = "ycsb_constant")]
        constant: f64,
    },
    Hotspot {
        #[serde(default = "hot_set")]
        hot_set: f64,
        #[serde(default = "hot_operations")]
        hot_operations: f64,
    },
    Exponential {
        #[serde(default = "exponential_percentile")]
        percentile: f64,
        #[serde(default = "exponential_fraction")]
        fraction: f64,
    },
    Gaussian {
        #[serde(default = "twelve")]
        iterations: u32,
    },
    Special {
        #[serde(default = "twelve")]
        iterations: u32,
        #[serde(default = "special_hot_set")]
        hot_set: u32,
        #[serde(default = "special_hot_operations")]
        hot_operations: u32,
    },
    Pareto {
        #[serde(default = "pareto_h")]
        h: f64,
    },
    SysbenchZipfian {
        #[serde(default = "sysbench_exponent")]
        exponent: f64,
    },
    Nurand {
        a: u64,
        c: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Literal {
    Integer(i64),
    Unsigned(u64),
    Number(f64),
    Text(String),
    Null(()),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alphabet {
    Printable,
    Alphanumeric,
    Digits,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Value {
    Literal {
        value: Literal,
    },
    Integer {
        low: i64,
        high: i64,
        #[serde(default = "uniform")]
        distribution: Distribution,
    },
    Key {
        key_space: String,
        #[serde(default = "uniform")]
        distribution: Distribution,
    },
    NextKey {
        key_space: String,
    },
    Row {},
    Variable {
        name: String,
    },
    Sum {
        of: Box<Value>,
        plus: i64,
    },
    FnvHash {
        of: Box<Value>,
    },
    Format {
        template: String,
        of: Vec<Value>,
    },
    Text {
        length: u32,
        /// The longest; None if all have `length`.
        #[serde(default)]
        most: Option<u32>,
        #[serde(default = "printable")]
        alphabet: Alphabet,
    },
    Pattern {
        pattern: String,
    },
    Column {
        values: Vec<Literal>,
    },
    Expression {
        of: Expression,
    },
    /// One of two values, by an expression that is 0 or not.
    If {
        condition: Expression,
        then: Box<Value>,
        otherwise: Box<Value>,
    },
    /// One of several values, drawn by their weights.
    Weighted {
        weights: Vec<f64>,
        of: Vec<Value>,
    },
    /// A whole number of units of the last digit, with so many digits after the point.
    Decimal {
        of: Box<Value>,
        scale: u32,
    },
    /// TPC-C's last name of a number from 0 to 999 (clause 4.3.2.3).
    LastName {
        of: Box<Value>,
    },
}

/// What an expression computes with; a condition is 1 or 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    Add,
    Subtract,
    Multiply,
    /// Rounded down; 0 by 0.
    Divide,
    /// With the sign of the divisor; 0 by 0.
    Remainder,
    Equal,
    Different,
    Less,
    AtMost,
    And,
    Or,
    Not,
    IsNull,
    /// The second if the first is not 0, else the third.
    If,
    /// A whole number drawn between two, both included.
    Random,
    /// YCSB's hash of a whole number.
    Hash,
    /// The bit of the first number at the place that the second names, from 1.
    Bit,
    /// Random bits: how many there are, and that one in how many is set.
    Bits,
}

/// An expression over whole numbers. A null counts as 0.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Expression {
    Number { value: i64 },
    Text { value: String },
    Row {},
    Variable { name: String },
    Call { function: Function, of: Vec<Expression> },
}

fn yes() -> bool {
    true
}
fn ycsb_constant() -> f64 {
    0.99
}
fn hot_set() -> f64 {
    0.2
}
fn hot_operations() -> f64 {
    0.8
}
fn exponential_percentile() -> f64 {
    95.0
}
fn exponential_fraction() -> f64 {
    0.857_142_857_1
}
fn twelve() -> u32 {
    12
}
fn special_hot_set() -> u32 {
    1
}
fn special_hot_operations() -> u32 {
    75
}
fn pareto_h() -> f64 {
    0.2
}
fn sysbench_exponent() -> f64 {
    0.8
}
fn uniform() -> Distribution {
    Distribution::Uniform {}
}
fn printable() -> Alphabet {
    Alphabet::Printable
}
