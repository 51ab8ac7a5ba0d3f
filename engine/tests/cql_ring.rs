//! Loads of a cluster: which node each operation goes to, and which nodes there are.

mod support;

use std::net::Ipv4Addr;

use plimsoll_engine::cql::token;
use serde_json::json;

use support::cql_cluster::{
    Cluster, EVEN, Seen, Sound, Tables, Told, address, load, measured, served,
};
use support::cql_server::{Action, Server};
use support::loads::{READ, cql, run, text_key};

const TWELFTH: i64 = (u64::MAX / 12) as i64;
/// Two thirds of all tokens, in two ranges; one twelfth; one quarter.
const UNEVEN: [&[i64]; 3] = [&[-2 * TWELFTH, i64::MAX], &[-TWELFTH], &[2 * TWELFTH]];

/// The key in an execution's body: its first bind.
fn key(body: &[u8]) -> &[u8] {
    let at = 2 + usize::from(u16::from_be_bytes([body[0], body[1]])) + 2 + 1 + 2;
    let length = u32::from_be_bytes(body[at..at + 4].try_into().expect("4 bytes"));
    &body[at + 4..][..length as usize]
}

fn tokens(seen: &Seen) -> Vec<i64> {
    seen.executions.iter().map(|body| token::of(key(body))).collect()
}

#[test]
fn each_operation_goes_to_the_node_that_has_its_rows() {
    let cluster = Cluster::start(3, Tables::of(&UNEVEN), Sound);
    let changes = json!({"operations_limit": 10_000, "connections": 8, "threads": 2,
                         "workload": {"key_spaces": [{"name": "rows", "records": 1_000_000}],
                         "operations": cql(1)["workload"]["operations"]}});
    let report = measured(&cluster, &changes);
    let owner = |token: i64| match token {
        _ if token <= -2 * TWELFTH => 0,
        _ if token <= -TWELFTH => 1,
        _ if token <= 2 * TWELFTH => 2,
        _ => 0,
    };
    for node in 0..3 {
        let seen = cluster.seen(node);
        assert!(tokens(&seen).into_iter().all(|token| owner(token) == node), "node {node}");
        assert_eq!(seen.executions.len() as u64, report.nodes[node].succeeded);
    }
    assert_eq!(report.operations[READ].succeeded, 10_000);
    for (node, share) in report.nodes.iter().zip([2.0 / 3.0, 1.0 / 12.0, 0.25]) {
        assert!((node.ring_share - share).abs() < 1e-9, "{node:?}");
        // of 10,000 draws the share's own deviation is at most 0.0047
        assert!((node.succeeded as f64 / 10_000.0 - share).abs() < 0.02, "{node:?}");
        assert_eq!((node.taken_over, node.lost, node.errors.len()), (0, 0, 0));
        assert_eq!(node.statements_sent, node.succeeded);
    }
    assert_eq!(report.nodes[1].address, format!("127.0.0.2:{}", cluster.port));
}

#[test]
fn several_copies_of_a_row_are_asked_for_in_turn() {
    let replication = vec![("class", "x.NetworkTopologyStrategy"), ("dc1", "3")];
    let cluster = Cluster::start(3, Tables { replication, ..Tables::of(&UNEVEN) }, Sound);
    let report = measured(&cluster, &json!({"operations_limit": 3_000, "connections": 1}));
    // of 3,000 draws the number's own deviation is 26
    assert!(served(&report).iter().all(|served| (880..1_120).contains(served)), "{report:?}");
    assert!(report.nodes.iter().all(|node| (node.ring_share - 1.0 / 3.0).abs() < 1e-9));
}

#[test]
fn each_statement_of_an_operation_goes_its_own_way() {
    let cluster = Cluster::start(3, Tables::of(&EVEN), Sound);
    let statement = json!({"sql": ["SELECT c FROM t WHERE id = ?"], "binds": [text_key()],
                           "repeat": 5});
    let operation = json!({"name": READ, "weight": 1, "statements": [statement, statement]});
    let changes = json!({"operations_limit": 500, "connections": 3, "workload": {
        "key_spaces": [{"name": "rows", "records": 10_000}], "operations": [operation]}});
    let report = measured(&cluster, &changes);
    assert_eq!((report.operations[READ].succeeded, report.statements_sent), (500, 5_000));
    let sent: Vec<u64> = report.nodes.iter().map(|node| node.statements_sent).collect();
    assert_eq!(sent.iter().sum::<u64>(), 5_000);
    assert!(sent.iter().all(|&sent| sent > 1_400), "{sent:?}");
    assert_eq!(served(&report).iter().sum::<u64>(), 500, "an operation is its last node's");
}

#[test]
fn a_statement_without_its_key_goes_to_each_in_turn() {
    let cluster = Cluster::start(3, Tables::of(&UNEVEN), Sound);
    let operation = json!({"name": READ, "weight": 1, "statements": [{"sql": ["SELECT now()"]}]});
    let changes = json!({"operations_limit": 600, "connections": 1,
                         "workload": {"key_spaces": [], "operations": [operation]}});
    assert_eq!(served(&measured(&cluster, &changes)), [200; 3]);
}

#[test]
fn tokens_of_another_partitioner_lead_nowhere() {
    let partitioner = "org.apache.cassandra.dht.RandomPartitioner";
    let cluster = Cluster::start(3, Tables { partitioner, ..Tables::of(&UNEVEN) }, Sound);
    let report = measured(&cluster, &json!({"operations_limit": 600, "connections": 1}));
    assert_eq!(served(&report), [200; 3]);
}

#[test]
fn a_server_before_cassandra_4_tells_of_its_peers_in_another_table() {
    let cluster = Cluster::start(3, Tables { old: true, ..Tables::of(&EVEN) }, Sound);
    let report = measured(&cluster, &json!({"operations_limit": 300}));
    assert_eq!(report.nodes.len(), 3);
    assert!(served(&report).iter().all(|&operations| operations > 0));
}

#[test]
fn a_load_of_one_node_asks_for_no_others() {
    let cluster = Cluster::start(3, Tables::of(&EVEN), Sound);
    let report = run(cql(cluster.port), &json!({"operations_limit": 100})).expect("it starts");
    assert!(report.nodes.is_empty());
    assert_eq!(cluster.seen(0).queries, ["USE \"d\""]);
    assert_eq!([1, 2].map(|node| cluster.seen(node).connections), [0, 0]);
}

#[test]
fn load_goes_to_no_address_but_those_that_are_allowed() {
    // the fourth and the fifth node listen, and are told of, but not as they would have to be
    let mut tables = Tables::of(&[EVEN[0], EVEN[1], &[1], &[2], &[3]]);
    tables.peers[1].data_center = "dc2";
    tables.peers[2].port = Some(1);
    tables.peers[3].address = Some([10, 0, 0, 9].into());
    tables.peers.extend([
        Told { address: None, ..Told::of(1, &[4]) },
        Told::of(0, &[5]), // itself
        Told::of(1, &[6]), // told twice
        Told { address: Some("::1".parse().expect("an address")), ..Told::of(1, &[7]) },
        Told { address: Some([0, 0, 0, 0].into()), ..Told::of(1, &[]) },
    ]);
    let foreign =
        |n: u32| Told { address: Some(Ipv4Addr::from(0x0808_0000 + n).into()), ..Told::of(1, &[]) };
    tables.peers.extend((0..5_000).map(foreign));
    let cluster = Cluster::start(5, tables, Sound);
    let report = measured(&cluster, &json!({"operations_limit": 300}));
    let addresses: Vec<&str> = report.nodes.iter().map(|node| node.address.as_str()).collect();
    let expected = [1, 2].map(|node| format!("127.0.0.{node}:{}", cluster.port));
    assert_eq!(addresses, expected);
    assert_eq!([2, 3, 4].map(|node| cluster.seen(node).connections), [0; 3]);
    assert_eq!(served(&report).iter().sum::<u64>(), 300);

    let one = run(load(&cluster, &["127.0.0.1"]), &json!({"operations_limit": 100}));
    assert_eq!(one.expect("it starts").nodes.len(), 1);
}

#[test]
fn a_ring_that_is_no_ring_is_an_error_before_anything_is_sent() {
    let mut crowded = Tables::of(&EVEN);
    crowded.peers = (1..150).map(|node| Told::of(node, &[node as i64])).collect();
    let mut endless = Tables::of(&EVEN);
    endless.peers = (0..30_000).map(|_| Told::of(1, &[1, 2, 3])).collect();
    for (tables, expected) in [(crowded, "more than 100 nodes"), (endless, "bytes while")] {
        let cluster = Cluster::start(3, tables, Sound);
        let changes = json!({"operations_limit": 10});
        let error = run(load(&cluster, &["127.0.0.0/24"]), &changes).expect_err(expected);
        assert_eq!(error.code, "protocol");
        assert!(error.message.contains(expected), "{error}");
        assert!((0..3).all(|node| cluster.seen(node).executions.is_empty()));
    }
    let server = Server::start(|_| Action::Rows);
    let mut load = cql(server.port);
    load["target"]["nodes"] = json!(["127.0.0.1"]);
    let error = run(load, &json!({})).expect_err("no tables");
    assert_eq!(error.message, "the server's answer about system.local cannot be read");
}

#[test]
fn networks_that_are_too_wide_or_for_another_database_are_refused() {
    let cases = [
        ("cql", "10.0.0.0/8", "allowed are prefixes of 16 to 32 bits"),
        ("mysql", "10.0.0.0/24", "nodes is for the protocol cql only"),
    ];
    for (protocol, network, expected) in cases {
        let mut load = cql(1);
        load["target"]["nodes"] = json!([network]);
        load["target"]["protocol"] = json!(protocol);
        let error = run(load, &json!({})).expect_err(expected);
        assert!(error.message.contains(expected), "{error}");
    }
}

#[test]
fn a_node_that_does_not_answer_at_the_start_is_named() {
    let cluster = Cluster::start(2, Tables::of(&EVEN), Sound); // the third is told of, and away
    let error = run(load(&cluster, &["127.0.0.0/24"]), &json!({})).expect_err("it is away");
    assert_eq!(error.code, "connect");
    let missing = format!("cannot connect to {}:{}", address(2), cluster.port);
    assert!(error.message.starts_with(&missing), "{error}");
}
