//! The expressions of pgbench's scripts: 64-bit whole numbers, doubles, booleans and null.
//!
//! What they mean is what pgbench 18 does (its documentation, "Custom Scripts"): numbers that leave
//! their range and divisions by zero are errors, and `and`, `or` and `case` compute no more than they
//! need. Random numbers have pgbench's distributions, and come from the engine's own generator.

use super::rng::Rng;
use super::values::{Drawing, Variable};
use crate::spec::{FormulaFunction as Function, Scalar};

/// Why a formula has no value, in words.
pub type Mistake = Box<str>;

const LEAST_GAUSSIAN: f64 = 2.0;
const LEAST_ZIPFIAN: f64 = 1.001;
const MOST_ZIPFIAN: f64 = 1000.0;

/// A formula with every name resolved to a variable's index.
#[derive(Debug, Clone)]
pub enum Formula {
    Constant(Scalar),
    Variable { slot: usize, name: Box<str> },
    Call(Function, Box<[Formula]>),
}

impl Formula {
    /// A call, computed at once if nothing in it changes from draw to draw.
    pub fn call(function: Function, of: Vec<Formula>) -> Self {
        let constant = of.iter().all(|part| matches!(part, Formula::Constant(_)));
        let call = Formula::Call(function, of.into());
        if !constant || is_random(function) {
            return call;
        }
        match call.compute(&mut nothing_drawn()) {
            Ok(value) => Formula::Constant(value),
            Err(_) => call, // where it is never reached, it does no harm
        }
    }

    /// Why the formula can never be computed, if that is certain.
    pub fn certain_mistake(&self) -> Option<Mistake> {
        let Formula::Call(function, of) = self else {
            return None;
        };
        let reached = match function {
            Function::And | Function::Or | Function::Case => 1,
            _ => of.len(),
        };
        let within = of[..reached].iter().find_map(Formula::certain_mistake);
        let constant = of.iter().all(|part| matches!(part, Formula::Constant(_)));
        within.or_else(|| constant.then(|| self.compute(&mut nothing_drawn()).err()).flatten())
    }

    pub fn compute(&self, drawing: &mut Drawing) -> Result<Scalar, Mistake> {
        match self {
            Formula::Constant(value) => Ok(*value),
            Formula::Variable { slot, name } => read(&drawing.variables[*slot], name),
            Formula::Call(Function::And, of) => either(of, false, drawing),
            Formula::Call(Function::Or, of) => either(of, true, drawing),
            Formula::Call(Function::Case, of) => {
                let mut pairs = of.chunks_exact(2);
                for pair in &mut pairs {
                    if is_true(pair[0].compute(drawing)?) {
                        return pair[1].compute(drawing);
                    }
                }
                pairs.remainder()[0].compute(drawing)
            }
            Formula::Call(function, of) => {
                let mut values = [Scalar::Null(()); MOST_VALUES];
                for (value, part) in values.iter_mut().zip(of) {
                    *value = part.compute(drawing)?;
                }
                call(*function, &values[..of.len()], drawing)
            }
        }
    }
}

/// The most values that a function takes, as in pgbench.
pub const MOST_VALUES: usize = 16;

fn nothing_drawn() -> Drawing {
    Drawing::new(Rng::for_stream(0, &[]))
}

fn is_random(function: Function) -> bool {
    matches!(
        function,
        Function::Random
            | Function::RandomExponential
            | Function::RandomGaussian
            | Function::RandomZipfian
    )
}

/// Whether a condition counts as true: numbers do that are not 0, null does not.
pub fn is_true(value: Scalar) -> bool {
    match value {
        Scalar::Boolean(value) => value,
        Scalar::Integer(number) => number != 0,
        Scalar::Double(number) => number != 0.0,
        Scalar::Null(()) => false,
    }
}

/// `and` (decided by false) and `or` (decided by true).
fn either(of: &[Formula], decisive: bool, drawing: &mut Drawing) -> Result<Scalar, Mistake> {
    for part in of {
        match part.compute(drawing)? {
            Scalar::Null(()) => return Ok(Scalar::Null(())),
            value if boolean(value)? == decisive => return Ok(Scalar::Boolean(decisive)),
            _ => {}
        }
    }
    Ok(Scalar::Boolean(!decisive))
}

fn call(function: Function, of: &[Scalar], drawing: &mut Drawing) -> Result<Scalar, Mistake> {
    use Function as F;
    if function == F::Is {
        return Ok(Scalar::Boolean(of[0] == of[1]));
    }
    if of.contains(&Scalar::Null(())) {
        return Ok(Scalar::Null(()));
    }
    let has_double = of.iter().any(|value| matches!(value, Scalar::Double(_)));
    Ok(match function {
        F::Add | F::Subtract | F::Multiply | F::Divide if has_double => {
            let (left, right) = (double(of[0])?, double(of[1])?);
            Scalar::Double(match function {
                F::Add => left + right,
                F::Subtract => left - right,
                F::Multiply => left * right,
                _ => left / right,
            })
        }
        F::Equal | F::Different | F::Less | F::AtMost if has_double => {
            let (left, right) = (double(of[0])?, double(of[1])?);
            Scalar::Boolean(match function {
                F::Equal => left == right,
                F::Different => left != right,
                F::Less => left < right,
                _ => left <= right,
            })
        }
        F::Add | F::Subtract | F::Multiply | F::Divide | F::Remainder => {
            Scalar::Integer(calculate(function, integer(of[0])?, integer(of[1])?)?)
        }
        F::Equal | F::Different | F::Less | F::AtMost => {
            let (left, right) = (integer(of[0])?, integer(of[1])?);
            Scalar::Boolean(match function {
                F::Equal => left == right,
                F::Different => left != right,
                F::Less => left < right,
                _ => left <= right,
            })
        }
        F::BitAnd => Scalar::Integer(integer(of[0])? & integer(of[1])?),
        F::BitOr => Scalar::Integer(integer(of[0])? | integer(of[1])?),
        F::BitXor => Scalar::Integer(integer(of[0])? ^ integer(of[1])?),
        // only the low six bits of the distance count, as on processors
        F::ShiftLeft => Scalar::Integer(integer(of[0])?.wrapping_shl(integer(of[1])? as u32)),
        F::ShiftRight => Scalar::Integer(integer(of[0])?.wrapping_shr(integer(of[1])? as u32)),
        F::Not => Scalar::Boolean(!boolean(of[0])?),
        F::Abs => match of[0] {
            Scalar::Integer(number) => Scalar::Integer(number.wrapping_abs()),
            other => Scalar::Double(double(other)?.abs()),
        },
        F::Int => Scalar::Integer(integer(of[0])?),
        F::Double => Scalar::Double(double(of[0])?),
        F::Exp => Scalar::Double(double(of[0])?.exp()),
        F::Ln => Scalar::Double(double(of[0])?.ln()),
        F::Sqrt => Scalar::Double(double(of[0])?.sqrt()),
        F::Pi => Scalar::Double(std::f64::consts::PI),
        F::Power => Scalar::Double(double(of[0])?.powf(double(of[1])?)),
        F::Least | F::Greatest if has_double => {
            let mut chosen = double(of[0])?;
            for value in &of[1..] {
                let other = double(*value)?;
                let other_first =
                    if function == F::Least { other < chosen } else { other > chosen };
                chosen = if other_first { other } else { chosen };
            }
            Scalar::Double(chosen)
        }
        F::Least | F::Greatest => {
            let mut chosen = integer(of[0])?;
            for value in &of[1..] {
                let other = integer(*value)?;
                chosen = if function == F::Least { chosen.min(other) } else { chosen.max(other) };
            }
            Scalar::Integer(chosen)
        }
        F::HashFnv1a => Scalar::Integer(hash_fnv1a(integer(of[0])?, integer(of[1])?)),
        F::HashMurmur2 => Scalar::Integer(hash_murmur2(integer(of[0])?, integer(of[1])?)),
        F::Permute => {
            let (number, size, seed) = (integer(of[0])?, integer(of[1])?, integer(of[2])?);
            if size <= 0 {
                return Err("permute size parameter must be greater than zero".into());
            }
            Scalar::Integer(permute(number, size, seed))
        }
        F::Random | F::RandomExponential | F::RandomGaussian | F::RandomZipfian => {
            Scalar::Integer(draw(function, of, &mut drawing.rng)?)
        }
        F::And | F::Or | F::Case | F::Is => unreachable!("is computed elsewhere"),
    })
}

/// Arithmetic on whole numbers; one that leaves its range is a mistake.
fn calculate(function: Function, left: i64, right: i64) -> Result<i64, Mistake> {
    let (result, name) = match function {
        Function::Add => (left.checked_add(right), "add"),
        Function::Subtract => (left.checked_sub(right), "sub"),
        Function::Multiply => (left.checked_mul(right), "mul"),
        _ if right == 0 => return Err("division by zero".into()),
        Function::Divide => (left.checked_div(right), "div"),
        _ => (Some(left.wrapping_rem(right)), "mod"),
    };
    result.ok_or_else(|| format!("bigint {name} out of range").into())
}

// Values, and what they count as.

fn boolean(value: Scalar) -> Result<bool, Mistake> {
    match value {
        Scalar::Boolean(value) => Ok(value),
        other => Err(format!("cannot coerce {} to boolean", type_name(other)).into()),
    }
}

fn integer(value: Scalar) -> Result<i64, Mistake> {
    match value {
        Scalar::Integer(number) => Ok(number),
        Scalar::Double(number) => {
            let whole = number.round_ties_even();
            if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&whole) {
                return Ok(whole as i64);
            }
            Err(format!("double to int overflow for {whole}").into())
        }
        other => Err(format!("cannot coerce {} to int", type_name(other)).into()),
    }
}

fn double(value: Scalar) -> Result<f64, Mistake> {
    match value {
        Scalar::Double(number) => Ok(number),
        Scalar::Integer(number) => Ok(number as f64),
        other => Err(format!("cannot coerce {} to double", type_name(other)).into()),
    }
}

fn type_name(value: Scalar) -> &'static str {
    match value {
        Scalar::Boolean(_) => "boolean",
        Scalar::Integer(_) => "int",
        Scalar::Double(_) => "double",
        Scalar::Null(()) => "null",
    }
}

fn read(variable: &Variable, name: &str) -> Result<Scalar, Mistake> {
    match variable {
        Variable::Integer(number) => Ok(Scalar::Integer(*number)),
        Variable::Double(number) => Ok(Scalar::Double(*number)),
        Variable::Boolean(value) => Ok(Scalar::Boolean(*value)),
        Variable::Null => Ok(Scalar::Null(())),
        Variable::Undefined => Err(format!("undefined variable {name:?}").into()),
        Variable::Text(text) => read_text(&String::from_utf8_lossy(text), name),
    }
}

/// The value that a variable's text looks like.
pub fn read_text(text: &str, name: &str) -> Result<Scalar, Mistake> {
    let malformed = || format!("malformed variable {name:?} value: {text:?}").into();
    look_at(text).ok_or_else(malformed)
}

/// Any beginning of true, false, yes or no will do.
fn look_at(text: &str) -> Option<Scalar> {
    if text.is_empty() {
        return None;
    }
    let begins =
        |word: &str| word.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text));
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if is("null") {
        return Some(Scalar::Null(()));
    }
    if begins("true") || begins("yes") || is("on") {
        return Some(Scalar::Boolean(true));
    }
    if begins("false") || begins("no") || is("off") || is("of") {
        return Some(Scalar::Boolean(false));
    }
    let number = text.trim_start();
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return number.parse().ok().map(Scalar::Integer);
    }
    let named = digits.starts_with(|first: char| first.is_ascii_alphabetic()); // inf, nan
    let value: f64 = number.parse().ok()?;
    (named || value.is_finite()).then_some(Scalar::Double(value))
}

impl From<Scalar> for Variable {
    fn from(value: Scalar) -> Self {
        match value {
            Scalar::Boolean(value) => Variable::Boolean(value),
            Scalar::Integer(number) => Variable::Integer(number),
            Scalar::Double(number) => Variable::Double(number),
            Scalar::Null(()) => Variable::Null,
        }
    }
}

/// Appends a double as PostgreSQL's own `%.15g` has it.
pub fn write_double(value: f64, out: &mut Vec<u8>) {
    const DIGITS: i32 = 15;
    if !value.is_finite() {
        return out.extend_from_slice(format!("{value}").replace("inf", "Infinity").as_bytes());
    }
    let scientific = format!("{value:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |number: &str| match number.split_once('.') {
        Some(_) => number.trim_end_matches('0').trim_end_matches('.').to_owned(),
        None => number.to_owned(),
    };
    let written = if (-4..DIGITS).contains(&exponent) {
        trimmed(&format!("{value:.*}", (DIGITS - 1 - exponent) as usize))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
    };
    out.extend_from_slice(written.as_bytes());
}

// Random numbers.

/// Draws from a range, both ends included, by the last value if the function has a third.
fn draw(function: Function, of: &[Scalar], rng: &mut Rng) -> Result<i64, Mistake> {
    let (low, high) = (integer(of[0])?, integer(of[1])?);
    if low > high {
        return Err("empty range given to random".into());
    }
    let n = high.checked_sub(low).and_then(|n| n.checked_add(1));
    let n = n.ok_or("random range is too large")?;
    if function == Function::Random {
        return Ok(low + rng.below(n as u64) as i64);
    }
    let parameter = double(of[2])?;
    let (allowed, wanted) = match function {
        Function::RandomGaussian => {
            (parameter >= LEAST_GAUSSIAN, "gaussian parameter must be at least 2")
        }
        Function::RandomZipfian => (
            (LEAST_ZIPFIAN..=MOST_ZIPFIAN).contains(&parameter),
            "zipfian parameter must be in range [1.001, 1000]",
        ),
        _ => (parameter > 0.0, "exponential parameter must be greater than zero"),
    };
    if !allowed {
        return Err(format!("{wanted} (not {parameter})").into());
    }
    Ok(match function {
        Function::RandomGaussian => low + (n as f64 * gaussian(rng, parameter)) as i64,
        Function::RandomZipfian => low - 1 + zipfian(rng, n, parameter),
        _ => low + (n as f64 * exponential(rng, parameter)) as i64,
    })
}

/// In [0, 1): the exponential distribution, cut where its density is exp(-parameter).
fn exponential(rng: &mut Rng, parameter: f64) -> f64 {
    let cut = (-parameter).exp();
    -(cut + (1.0 - cut) * rng.unit_above_zero()).ln() / parameter
}

/// In [0, 1): the normal distribution (Box and Muller 1958) within `parameter` deviations.
fn gaussian(rng: &mut Rng, parameter: f64) -> f64 {
    loop {
        let radius = (-2.0 * rng.unit_above_zero().ln()).sqrt();
        let deviations = radius * (2.0 * std::f64::consts::PI * rng.unit_above_zero()).sin();
        if (-parameter..parameter).contains(&deviations) {
            return (deviations + parameter) / (2.0 * parameter);
        }
    }
}

/// From 1 to n: the zipfian distribution by rejection (Devroye 1986, "Non-Uniform Random Variate
/// Generation", page 550).
fn zipfian(rng: &mut Rng, n: i64, s: f64) -> i64 {
    if n <= 1 {
        return 1;
    }
    let b = 2_f64.powf(s - 1.0);
    loop {
        let (u, v) = (rng.unit(), rng.unit());
        let x = u.powf(-1.0 / (s - 1.0)).floor();
        let t = (1.0 + 1.0 / x).powf(s - 1.0);
        if v * x * (t - 1.0) / (b - 1.0) <= t / b && x <= n as f64 {
            return x as i64;
        }
    }
}

// Hashes, and permutations.

fn hash_fnv1a(value: i64, seed: i64) -> i64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    value.to_le_bytes().into_iter().fold(BASIS ^ seed as u64, hash) as i64
}

/// MurmurHash2's 64-bit variant of one 8-byte block.
fn hash_murmur2(value: i64, seed: i64) -> i64 {
    const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
    let rotated = |number: u64| number ^ (number >> 47);
    let block = rotated((value as u64).wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER);
    let hash = seed as u64 ^ 8_u64.wrapping_mul(MULTIPLIER);
    let hash = rotated((hash ^ block).wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER);
    rotated(hash) as i64
}

/// xoroshiro128** (Blackman and Vigna 2018), seeded by splitmix64: what pgbench permutes with, so
/// that a number has the same place there and here.
struct Xoroshiro([u64; 2]);

impl Xoroshiro {
    fn new(mut seed: u64) -> Self {
        let mut mixed = || {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        Xoroshiro([mixed(), mixed()])
    }

    fn next(&mut self) -> u64 {
        let [first, second] = self.0;
        let mixed = second ^ first;
        self.0 = [first.rotate_left(24) ^ mixed ^ (mixed << 16), mixed.rotate_left(37)];
        first.wrapping_mul(5).rotate_left(7).wrapping_mul(9)
    }

    /// From 0 to `most`, by rejection.
    fn up_to(&mut self, most: u64) -> u64 {
        if most == 0 {
            return 0;
        }
        loop {
            let drawn = self.next() >> most.leading_zeros();
            if drawn <= most {
                return drawn;
            }
        }
    }
}

/// pgbench's `permute`: six rounds, each a bijection of the lower and of the upper part of the range
/// whose length is a power of two, then a shift.
fn permute(number: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let mut rng = Xoroshiro::new(seed as u64);
    let size = size as u64;
    let bits = size.ilog2();
    let mask = (1_u64 << bits) - 1;
    let scatter = |place: u64, rng: &mut Xoroshiro| {
        let (multiplier, flipped) = (rng.next() & mask | 1, rng.next() & mask);
        if place > mask {
            return place;
        }
        let place = (place.wrapping_mul(multiplier) ^ flipped) & mask;
        (place << 1) & mask | place >> (bits - 1)
    };
    let mut place = number as u64 % size;
    for _ in 0..6 {
        place = scatter(place, &mut rng);
        place = size - 1 - scatter(size - 1 - place, &mut rng);
        place = (place + rng.up_to(size - 1)) % size;
    }
    place as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_with_fifteen_digits_as_pgbench_does() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-0.5, "-0.5"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333333333333"),
            (100.0, "100"),
            (1e14, "100000000000000"),
            (1e15, "1e+15"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (8.507_059_173_023_462e37, "8.50705917302346e+37"),
            (-1.5e-9, "-1.5e-09"),
            (999_999_999_999_999.9, "1e+15"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (value, expected) in cases {
            let mut out = Vec::new();
            write_double(value, &mut out);
            assert_eq!(String::from_utf8(out).expect("ASCII"), expected);
        }
    }

    #[test]
    fn what_is_never_reached_is_no_certain_mistake() {
        let zero = || Formula::Constant(Scalar::Integer(0));
        let one = || Formula::Constant(Scalar::Integer(1));
        let divided = || Formula::call(Function::Divide, vec![one(), zero()]);
        assert_eq!(divided().certain_mistake().as_deref(), Some("division by zero"));
        let sum = Formula::call(Function::Add, vec![divided(), one()]);
        assert_eq!(sum.certain_mistake().as_deref(), Some("division by zero"));
        let drawn = Formula::call(Function::Random, vec![zero(), one()]);
        let perhaps = Formula::call(Function::Case, vec![drawn, divided(), one()]);
        assert_eq!(perhaps.certain_mistake(), None);
        let empty = Formula::call(Function::Random, vec![one(), zero()]);
        assert_eq!(empty.certain_mistake().as_deref(), Some("empty range given to random"));
    }
}
