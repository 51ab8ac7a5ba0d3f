//! A fake cluster: nodes on addresses of the loopback network, all on one port, and the tables in which
//! the first tells of the others.

use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex};

use plimsoll_engine::report::LoadReport;
use serde_json::{Value, json};

use super::cql_frames::{self as frames, HEADER, Row};
use super::cql_server::{Action, Command, Talk};
use super::loads::{cql, run};
use super::serving::{Conversation, Listening};

/// The address of a node by its number, from 0.
pub fn address(node: usize) -> IpAddr {
    Ipv4Addr::new(127, 0, 0, 1 + node as u8).into()
}

/// What a node tells of itself or of another one.
#[derive(Clone)]
pub struct Told {
    pub data_center: &'static str,
    pub rack: &'static str,
    pub tokens: Vec<i64>,
    pub address: Option<IpAddr>,
    /// None: that of all.
    pub port: Option<u16>,
}

impl Told {
    pub fn of(node: usize, tokens: &[i64]) -> Self {
        let address = Some(address(node));
        Told { data_center: "dc1", rack: "r1", tokens: tokens.to_vec(), address, port: None }
    }

    /// Its row's first columns.
    fn place(&self) -> Row {
        let tokens: Vec<String> = self.tokens.iter().map(i64::to_string).collect();
        [self.data_center.into(), self.rack.into(), frames::texts(&tokens, 1)].map(Some).to_vec()
    }

    fn address(&self) -> Option<Vec<u8>> {
        self.address.map(|address| match address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        })
    }
}

/// The tables of every node.
#[derive(Clone)]
pub struct Tables {
    pub local: Told,
    pub peers: Vec<Told>,
    /// Without `system.peers_v2`.
    pub old: bool,
    pub replication: Vec<(&'static str, &'static str)>,
    pub partitioner: &'static str,
}

impl Tables {
    /// Of nodes with these tokens, and one copy of each row.
    pub fn of(tokens: &[&[i64]]) -> Self {
        let mut nodes = tokens.iter().enumerate().map(|(node, tokens)| Told::of(node, tokens));
        Tables {
            local: nodes.next().expect("a node"),
            peers: nodes.collect(),
            old: false,
            replication: vec![("class", "a.SimpleStrategy"), ("replication_factor", "1")],
            partitioner: "org.apache.cassandra.dht.Murmur3Partitioner",
        }
    }

    /// The answer to a query of such a table.
    fn answer(&self, stream: i16, query: &str, port: u16) -> Vec<u8> {
        if query.contains("system.local") {
            let mut row = self.local.place();
            row.push(Some(self.partitioner.into()));
            frames::rows(stream, 4, &[row])
        } else if query.contains("system.peers_v2") {
            if self.old {
                return frames::error(stream, 0x2200, "unconfigured table");
            }
            let row = |peer: &Told| {
                let mut row = peer.place();
                let port = i32::from(peer.port.unwrap_or(port));
                row.extend([peer.address(), Some(port.to_be_bytes().to_vec())]);
                row
            };
            frames::rows(stream, 5, &self.peers.iter().map(row).collect::<Vec<_>>())
        } else if query.contains("system.peers") {
            let row = |peer: &Told| [peer.place(), vec![peer.address()]].concat();
            frames::rows(stream, 4, &self.peers.iter().map(row).collect::<Vec<_>>())
        } else if query.contains("system_schema.keyspaces") {
            let pairs = self.replication.iter().flat_map(|(name, value)| [*name, *value]);
            let texts: Vec<String> = pairs.map(str::to_owned).collect();
            frames::rows(stream, 1, &[vec![Some(frames::texts(&texts, 2))]])
        } else {
            frames::void(stream)
        }
    }
}

/// What a node was asked.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    pub connections: usize,
    pub queries: Vec<String>,
    /// The bodies of executions.
    pub executions: Vec<Vec<u8>>,
}

/// What the nodes do: by node and connection, both from 0.
pub trait Behavior: Send + Sync + 'static {
    /// Whether a new connection is let in.
    fn admits(&self, _node: usize, _connection: usize) -> bool {
        true
    }

    fn act(&self, _node: usize, _command: &Command<'_>) -> Action {
        Action::Rows
    }
}

/// It answers everything.
pub struct Sound;

impl Behavior for Sound {}

pub struct Cluster {
    pub port: u16,
    nodes: Vec<(Listening, Arc<Mutex<Seen>>)>,
}

impl Cluster {
    /// So many nodes, each of which has the same tables.
    pub fn start(nodes: usize, tables: Tables, behavior: impl Behavior) -> Self {
        let (port, listeners) = listen(nodes);
        let (tables, behavior) = (Arc::new(tables), Arc::new(behavior));
        let node = |(node, listener)| {
            let seen = Arc::<Mutex<Seen>>::default();
            let (entries, tables, behavior) = (seen.clone(), tables.clone(), behavior.clone());
            let listening = Listening::on(listener, move |connection| {
                entries.lock().expect("sound").connections += 1;
                let (log, acting) = (entries.clone(), behavior.clone());
                let act = move |command: &Command<'_>| {
                    log.lock().expect("sound").executions.push(command.body.to_vec());
                    acting.act(node, command)
                };
                Node {
                    talk: Talk::new(connection, frames::VARCHAR, act),
                    admitted: behavior.admits(node, connection),
                    tables: tables.clone(),
                    seen: entries.clone(),
                    port,
                }
            });
            (listening, seen)
        };
        Cluster { port, nodes: listeners.into_iter().enumerate().map(node).collect() }
    }

    pub fn seen(&self, node: usize) -> Seen {
        self.nodes[node].1.lock().expect("sound").clone()
    }
}

/// Listens on as many addresses as there are nodes, on a port that is free on all of them.
fn listen(nodes: usize) -> (u16, Vec<TcpListener>) {
    for _ in 0..100 {
        let first = TcpListener::bind((address(0), 0)).expect("a free port");
        let port = first.local_addr().expect("bound").port();
        let others = (1..nodes).map(|node| TcpListener::bind((address(node), port)));
        let all: Result<Vec<_>, _> = std::iter::once(Ok(first)).chain(others).collect();
        if let Ok(all) = all {
            return (port, all);
        }
    }
    panic!("no port is free on {nodes} addresses");
}

/// One connection to a node.
struct Node<Act> {
    talk: Talk<Act>,
    admitted: bool,
    tables: Arc<Tables>,
    seen: Arc<Mutex<Seen>>,
    port: u16,
}

impl<Act: FnMut(&Command<'_>) -> Action> Conversation for Node<Act> {
    fn answer(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let mut at = 0;
        while let Some((stream, opcode, body)) = frames::whole(&input[at..]) {
            let end = at + HEADER + body.len();
            if opcode == frames::STARTUP && !self.admitted {
                return None;
            }
            if opcode == frames::QUERY {
                let query = String::from_utf8_lossy(&body[4..body.len() - 3]).into_owned();
                out.extend(self.tables.answer(stream, &query, self.port));
                self.seen.lock().expect("sound").queries.push(query);
            } else {
                self.talk.answer(&input[at..end], out)?;
            }
            at = end;
        }
        Some(at)
    }

    fn breaks_off(&self) -> bool {
        self.talk.breaks_off()
    }
}

const THIRD: i64 = (u64::MAX / 3) as i64;
/// The tokens of three nodes with a third of the ring each.
pub const EVEN: [&[i64]; 3] = [&[-THIRD / 2], &[THIRD / 2], &[i64::MAX]];

/// A load that may go to the cluster's nodes.
pub fn load(cluster: &Cluster, nodes: &[&str]) -> Value {
    let mut load = cql(cluster.port);
    load["target"]["nodes"] = json!(nodes);
    load
}

pub fn measured(cluster: &Cluster, changes: &Value) -> LoadReport {
    run(load(cluster, &["127.0.0.0/24"]), changes).expect("it starts")
}

/// The operations that succeeded, by node.
pub fn served(report: &LoadReport) -> Vec<u64> {
    report.nodes.iter().map(|node| node.succeeded).collect()
}
