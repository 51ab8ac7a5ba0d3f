//! Keys and values, drawn as YCSB and sysbench draw them.

pub mod chooser;
pub mod compile;
pub mod expressions;
pub mod formulas;
pub mod keys;
pub mod lists;
pub mod program;
pub mod rng;
pub mod sysbench;
pub mod text;
pub mod values;
pub mod zipf;
