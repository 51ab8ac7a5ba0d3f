//! The sockets of a fake server: a thread for each connection, or all connections on one thread.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::net::sockopt;

/// The server's side of one connection, apart from its socket.
pub trait Conversation {
    /// What the server says before it is asked.
    fn greeting(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Answers the whole requests at the start of `input`, appending to `out`. Returns the length
    /// of these requests, or nothing to close the connection without sending `out`.
    fn answer(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize>;

    /// Whether the connection is broken off once the last answers are sent: the client's system says
    /// so, and still has them.
    fn breaks_off(&self) -> bool {
        false
    }

    /// How long a client may be silent before the connection is closed; nothing: for ever.
    fn patience(&self) -> Option<Duration> {
        None
    }
}

/// A socket and the conversation over it.
struct Connection<C> {
    stream: TcpStream,
    conversation: C,
    input: Vec<u8>,
    out: Vec<u8>,
}

impl<C: Conversation> Connection<C> {
    /// A connection that has greeted.
    fn new(mut stream: TcpStream, mut conversation: C) -> std::io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(conversation.patience())?;
        stream.write_all(&conversation.greeting())?;
        Ok(Connection { stream, conversation, input: Vec::new(), out: Vec::new() })
    }

    /// Reads once, and answers; says whether the connection goes on.
    fn step(&mut self, buffer: &mut [u8]) -> bool {
        let Ok(read @ 1..) = self.stream.read(buffer) else {
            return false;
        };
        self.input.extend_from_slice(&buffer[..read]);
        self.out.clear();
        let Some(length) = self.conversation.answer(&self.input, &mut self.out) else {
            return false;
        };
        self.input.drain(..length);
        let sent = self.stream.write_all(&self.out).is_ok();
        if self.conversation.breaks_off() {
            // closing it resets it then
            sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO)).expect("a socket");
            return false;
        }
        sent
    }
}

pub fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    (listener, port)
}

/// A server with a thread for each connection; closed when this is dropped.
pub struct Listening {
    pub port: u16,
    address: SocketAddr,
    closed: Arc<AtomicBool>,
}

impl Listening {
    /// `converse` makes the conversation of each connection, by the connection's number from 0.
    pub fn start<C: Conversation + Send + 'static>(
        converse: impl FnMut(usize) -> C + Send + 'static,
    ) -> Self {
        Self::on(listen().0, converse)
    }

    /// As above, where it listens already.
    pub fn on<C: Conversation + Send + 'static>(
        listener: TcpListener,
        mut converse: impl FnMut(usize) -> C + Send + 'static,
    ) -> Self {
        let address = listener.local_addr().expect("bound");
        let closed = Arc::new(AtomicBool::new(false));
        let listening = Listening { port: address.port(), address, closed: closed.clone() };
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                if closed.load(Ordering::SeqCst) {
                    return;
                }
                let (stream, conversation) = (stream.expect("accepted"), converse(number));
                thread::spawn(move || {
                    let mut buffer = [0; 16_384];
                    if let Ok(mut connection) = Connection::new(stream, conversation) {
                        while connection.step(&mut buffer) {}
                    }
                });
            }
        });
        listening
    }

    /// Refuses new connections from now on.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address); // wakes the listener up
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.close();
    }
}

/// Prints a port and serves it until the process is ended, all connections on this thread: what
/// costs a server least.
pub fn serve_on_one_thread<C: Conversation>(converse: impl Fn(usize) -> C) -> std::io::Result<()> {
    const LISTENER: u64 = u64::MAX;
    let (listener, port) = listen();
    println!("{port}");
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
    let mut connections: Vec<Option<Connection<C>>> = Vec::new();
    let mut events = Vec::with_capacity(256);
    let mut buffer = vec![0; 65_536];
    loop {
        events.clear();
        epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), None)?;
        for event in &events {
            let number = event.data.u64() as usize;
            if event.data.u64() == LISTENER {
                let (stream, _) = listener.accept()?;
                let number = connections.len();
                epoll::add(&epoll, &stream, EventData::new_u64(number as u64), EventFlags::IN)?;
                connections.push(Connection::new(stream, converse(number)).ok());
            } else if let Some(connection) = &mut connections[number]
                && !connection.step(&mut buffer)
            {
                connections[number] = None;
            }
        }
    }
}
