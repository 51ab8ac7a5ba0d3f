//! The report, put together from what the threads recorded.

use std::collections::BTreeMap;
use std::time::Duration;

use super::clock::Cpu;
use super::cluster::Cluster;
use super::record::Tally;
use super::wire::Wire;
use super::worker::{Finished, Shared};
use crate::histogram::{self, Summary};
use crate::report::{
    ConnectionReport, Ended, LoadReport, OperationReport, SecondReport, SelfReport,
    StatementReport, add_errors,
};
use crate::spec::{Load, Loop};

/// Puts the threads' results together.
pub fn summarize<W: Wire>(
    load: &Load,
    shared: &Shared<'_>,
    cluster: &Cluster,
    late_start_ms: u64,
    finished: Vec<Finished>,
    seconds: Vec<SecondReport>,
) -> LoadReport {
    let all_done = finished.iter().all(|thread| thread.all_done);
    let end = finished.iter().map(|thread| thread.end).max().unwrap_or(shared.window.end);
    let end = end.max(shared.window.start);
    let window_s = (end - shared.window.start) as f64 / 1e9;
    let ended = if all_done {
        Ended::Operations
    } else if end < shared.window.end {
        Ended::Cancelled
    } else {
        Ended::Duration
    };
    let mut report = LoadReport {
        engine_version: env!("CARGO_PKG_VERSION"),
        window_start_epoch_ms: shared.clock.epoch_ms(shared.window.start),
        window_end_epoch_ms: shared.clock.epoch_ms(end),
        window_s,
        late_start_ms,
        connections: load.connections,
        threads: finished.len() as u32,
        poll_us: load.poll_us,
        rate_ops_per_second: match load.pacing {
            Loop::Closed {} => None,
            Loop::Open { rate_ops_per_second, .. } => Some(rate_ops_per_second),
        },
        operations: operations::<W>(shared, &finished),
        nodes: cluster.reports(finished.iter().map(|thread| thread.nodes.as_slice())),
        seconds,
        client: client(shared, &finished),
        connection_report: ConnectionReport::default(),
        error_examples: BTreeMap::new(),
        statements_sent: finished.iter().map(|thread| thread.sent.statements).sum(),
        transaction_commands_sent: finished
            .iter()
            .map(|thread| thread.sent.transaction_commands)
            .sum(),
        operations_sent: finished.iter().map(|thread| thread.sent.operations).sum(),
        ended,
    };
    for thread in finished {
        report.connection_report.opened += thread.connections.opened;
        report.connection_report.replaced += thread.connections.replaced;
        add_errors(&mut report.connection_report.failed, &thread.connections.failed);
        for (code, message) in thread.recorder.examples {
            report.error_examples.entry(code).or_insert(message);
        }
    }
    report
}

fn operations<W: Wire>(
    shared: &Shared<'_>,
    finished: &[Finished],
) -> BTreeMap<String, OperationReport> {
    let report = |(index, operation): (usize, &crate::generators::program::Operation)| {
        let mut sum = Tally::empty();
        for thread in finished {
            sum.add(&thread.recorder.tallies[index]);
        }
        let known = W::COUNTS_ROWS || sum.succeeded > 0;
        let rows = sum.met.rows.filter(|_| known);
        let report = OperationReport {
            succeeded: sum.succeeded,
            records: sum.succeeded * operation.records,
            rows,
            rows_missing: rows.map(|_| sum.met.missing),
            rolled_back: sum.rolled_back,
            retries: sum.retries,
            errors: sum.errors,
            latency_us: Summary::of(&sum.latency),
            histogram: histogram::encode(&sum.latency),
            statements: statements(shared, operation, &sum.statements),
        };
        (operation.name.clone(), report)
    };
    shared.program.operations.iter().enumerate().map(report).collect()
}

fn statements(
    shared: &Shared<'_>,
    operation: &crate::generators::program::Operation,
    latencies: &[histogram::Histogram],
) -> Vec<StatementReport> {
    let text = |index: usize| match operation.statements.get(index) {
        Some(statement) => shared.program.prepared[statement.alternatives[0]].sql.as_str(),
        None if index == operation.statements.len() => "BEGIN",
        None => "COMMIT",
    };
    let report = |(index, latency): (usize, &histogram::Histogram)| StatementReport {
        sql: text(index).to_owned(),
        executed: latency.len(),
        latency_us: Summary::of(latency),
    };
    latencies.iter().enumerate().map(report).collect()
}

fn client(shared: &Shared<'_>, finished: &[Finished]) -> SelfReport {
    // every thread measures the whole process: the first one's figure is that of all
    let cpu = finished.first().map_or_else(Cpu::default, |first| first.cpu);
    let polled_s = finished.iter().map(|thread| thread.polled_ns).sum::<u64>() as f64 / 1e9;
    let cpu_s = cpu.user.as_secs_f64() + cpu.system.as_secs_f64();
    let ended: u64 = finished.iter().map(|thread| thread.recorder.ended).sum();
    // each thread's own window: one whose operations are all done ends before the others
    let window_ns: u64 =
        finished.iter().map(|thread| thread.end.saturating_sub(shared.window.start)).sum();
    let waited: u64 = finished.iter().map(|thread| thread.waited_ns).sum();
    let open = finished.iter().any(|thread| thread.open_loop.is_some());
    let mut lateness = histogram::new();
    let mut backlog_max = 0;
    for (thread, open) in
        finished.iter().filter_map(|thread| Some((thread, thread.open_loop.as_ref()?)))
    {
        lateness.add(&open.lateness).expect("both have the same bounds");
        backlog_max += open.backlog_max.max(thread.backlog_end);
    }
    let sum = |of: fn(&Finished) -> u64| finished.iter().map(of).sum::<u64>();
    SelfReport {
        cpu_user_s: cpu.user.as_secs_f64(),
        cpu_system_s: cpu.system.as_secs_f64(),
        polled_s,
        cpu_us_per_operation: (ended > 0).then(|| (cpu_s - polled_s).max(0.0) * 1e6 / ended as f64),
        busy_fraction: (window_ns > 0)
            .then(|| (1.0 - waited as f64 / window_ns as f64).clamp(0.0, 1.0)),
        processor_wait_s: processor_wait_s(finished),
        send_lateness_us: open.then(|| Summary::of(&lateness)),
        backlog_max: open.then_some(backlog_max),
        backlog_end: open.then(|| sum(|thread| thread.backlog_end)),
        unsent: open.then(|| sum(|thread| thread.unsent)),
        unanswered: sum(|thread| thread.unanswered),
        oldest_unanswered_us: finished
            .iter()
            .filter_map(|thread| thread.oldest_unanswered_ns)
            .max()
            .map(|ns| ns / 1_000),
    }
}

/// Time that the threads were ready to run without a processor: in the run queue, or stolen by the
/// hypervisor for other machines; in seconds.
fn processor_wait_s(finished: &[Finished]) -> Option<f64> {
    let waited: Option<Duration> = finished.iter().map(|thread| thread.cpu.waited).sum();
    let stolen = finished.first()?.cpu.stolen; // every thread sees that of the whole machine
    Some((waited? + stolen.unwrap_or_default()).as_secs_f64())
}
