//! Replacing connections in the background: a few threads open sessions, so that the sending
//! thread never waits for a handshake.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::event::{EventfdFlags, eventfd};

use super::cluster::Cluster;
use crate::error::EngineError;
use crate::session::connect::{Login, Session};

const THREADS: usize = 8;

/// An attempt's result, for the connection of this index.
pub type Reopened<K> = (usize, Result<Session<K>, EngineError>);

/// The threads that open sessions, started when the first is asked for. They end by themselves
/// once this is dropped.
pub struct Reopener<K> {
    cluster: Arc<Cluster>,
    /// An eventfd, readable while results wait.
    bell: Arc<OwnedFd>,
    requests: Option<Sender<usize>>,
    results: (Sender<Reopened<K>>, Receiver<Reopened<K>>),
}

impl<K: Login> Reopener<K> {
    pub fn new(cluster: Arc<Cluster>) -> Result<Self, EngineError> {
        let bell = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)
            .map_err(|error| EngineError::new("system", format!("eventfd: {error}")))?;
        Ok(Reopener { cluster, bell: Arc::new(bell), requests: None, results: channel() })
    }

    /// Becomes readable when a result is there.
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Has a session opened for the connection of this index.
    pub fn request(&mut self, index: usize) {
        let requests = match self.requests.take() {
            Some(requests) => requests,
            None => self.start(),
        };
        // it fails only where all threads have ended, and none ends while this sender lives
        let _ = requests.send(index);
        self.requests = Some(requests);
    }

    /// The next result, and silences the bell; None if there is none.
    pub fn result(&self) -> Option<Reopened<K>> {
        let _ = rustix::io::read(&self.bell, &mut [0_u8; 8]); // fails where it is silent already
        self.results.1.try_recv().ok()
    }

    fn start(&self) -> Sender<usize> {
        let (requests, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..THREADS {
            let (queue, results) = (queue.clone(), self.results.0.clone());
            let (cluster, bell) = (self.cluster.clone(), self.bell.clone());
            thread::spawn(move || work(&queue, &results, &cluster, &bell));
        }
        requests
    }
}

fn work<K: Login>(
    queue: &Mutex<Receiver<usize>>,
    results: &Sender<Reopened<K>>,
    cluster: &Cluster,
    bell: &OwnedFd,
) {
    loop {
        let next = match queue.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => return,
        };
        let Ok(index) = next else {
            return;
        };
        if results.send((index, cluster.opener(index).open())).is_err() {
            return;
        }
        let _ = rustix::io::write(bell, &1_u64.to_ne_bytes()); // full means that it rings already
    }
}
