//! A TCP proxy on the loopback that can be cut: as a whole, or for one process that dials it.
//!
//! A cut closes the connections there are and every new one at once; nothing is delayed or lost
//! in between. Who dials is found out from the kernel: the dialler's port leads to a socket in
//! `/proc/net/tcp`, and that to the process that has it open in `/proc/PID/fd`.

use std::collections::HashSet;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;

/// A process that may dial a proxy.
#[derive(Clone, Debug)]
pub(super) struct Dialler {
    pub(super) member: usize,
    pub(super) process: u32,
}

/// Passes connections on to a port of the loopback.
#[derive(Debug)]
pub(super) struct Proxy {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    port: u16,
    target: u16,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    cut: bool,
    cut_diallers: HashSet<usize>,
    /// None if it does not matter who dials; otherwise nobody else may.
    diallers: Option<Vec<Dialler>>,
    connections: Vec<Connection>,
    /// How many connections there were.
    count: u64,
}

#[derive(Debug)]
struct Connection {
    number: u64,
    dialler: Option<usize>,
    ends: [TcpStream; 2],
}

impl Connection {
    fn close(&self) {
        for end in &self.ends {
            // Closed by the other side meanwhile is closed too.
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

impl Proxy {
    /// Listens on a free port and passes on to `target`.
    pub(super) fn start(target: u16) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared { port, target, state: Mutex::default() });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || accept(&listener, &accepting));
        Ok(Self { shared })
    }

    pub(super) fn port(&self) -> u16 {
        self.shared.port
    }

    pub(super) fn target(&self) -> u16 {
        self.shared.target
    }

    /// Lets only these processes in, so that each can be cut off.
    pub(super) fn set_diallers(&self, diallers: Vec<Dialler>) {
        self.shared.state().diallers = Some(diallers);
    }

    /// Closes everything, now and from now on.
    pub(super) fn cut(&self) {
        let mut state = self.shared.state();
        state.cut = true;
        state.connections.drain(..).for_each(|connection| connection.close());
    }

    pub(super) fn mend(&self) {
        self.shared.state().cut = false;
    }

    /// Closes what this member has dialled, now and from now on.
    pub(super) fn cut_dialler(&self, member: usize) {
        let mut state = self.shared.state();
        state.cut_diallers.insert(member);
        state.connections.retain(|connection| {
            let keep = connection.dialler != Some(member);
            if !keep {
                connection.close();
            }
            keep
        });
    }

    pub(super) fn mend_dialler(&self, member: usize) {
        self.shared.state().cut_diallers.remove(&member);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.cut();
        self.shared.state().closed = true;
        // Wakes the accepting thread; without it, the listener is gone already.
        let _ = TcpStream::connect(("127.0.0.1", self.shared.port));
    }
}

impl Shared {
    /// Remembers a connection, unless it is cut.
    fn register(&self, dialler: Option<usize>, ends: [TcpStream; 2]) -> Option<u64> {
        let mut state = self.state();
        let cut = dialler.is_some_and(|member| state.cut_diallers.contains(&member));
        if state.cut || state.closed || cut {
            return None;
        }
        state.count += 1;
        let number = state.count;
        state.connections.push(Connection { number, dialler, ends });
        Some(number)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    while let Ok((stream, from)) = listener.accept() {
        if shared.state().closed {
            return;
        }
        let shared = Arc::clone(shared);
        std::thread::spawn(move || {
            // A connection that cannot be passed on is closed by dropping it.
            let _ = pass_on(stream, from, &shared);
        });
    }
}

fn pass_on(client: TcpStream, from: SocketAddr, shared: &Shared) -> io::Result<()> {
    let diallers = shared.state().diallers.clone();
    let dialler = match diallers {
        None => None,
        Some(diallers) => match who_dials(from.port(), shared.port, &diallers) {
            Some(member) => Some(member),
            // Somebody who cannot be told apart could not be cut off either.
            None => return Ok(()),
        },
    };
    let server = TcpStream::connect(("127.0.0.1", shared.target))?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let ends = [client.try_clone()?, server.try_clone()?];
    let Some(number) = shared.register(dialler, ends) else {
        return Ok(());
    };
    let (client_reads, server_writes) = (client.try_clone()?, server.try_clone()?);
    let upwards = std::thread::spawn(move || copy(client_reads, server_writes));
    copy(server, client);
    // A panic in the other direction would be as much the end as any other.
    let _ = upwards.join();
    shared.state().connections.retain(|connection| connection.number != number);
    Ok(())
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    // However it ended, the other direction must end as well.
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

/// The member whose process has dialled from `local` to `remote`, both on the loopback.
fn who_dials(local: u16, remote: u16, diallers: &[Dialler]) -> Option<usize> {
    // The socket may show up in the process a moment after the connection.
    for _ in 0..20 {
        if let Some(inode) = socket(local, remote) {
            let owns = |dialler: &&Dialler| has_socket(dialler.process, &inode);
            if let Some(dialler) = diallers.iter().find(owns) {
                return Some(dialler.member);
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

/// The inode of the socket, from a line such as
/// `0: 0100007F:1F90 0100007F:2328 01 00000000:00000000 00:00000000 00000000 1000 0 4242 ...`.
fn socket(local: u16, remote: u16) -> Option<String> {
    let (local, remote) = (format!("0100007F:{local:04X}"), format!("0100007F:{remote:04X}"));
    let table = std::fs::read_to_string("/proc/net/tcp").ok()?;
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let found = fields.get(1) == Some(&local.as_str()) && fields.get(2) == Some(&&*remote);
        found.then(|| fields.get(9).map(|inode| (*inode).to_string())).flatten()
    })
}

fn has_socket(process: u32, inode: &str) -> bool {
    let wanted = format!("socket:[{inode}]");
    let Ok(open) = std::fs::read_dir(format!("/proc/{process}/fd")) else {
        return false;
    };
    open.filter_map(Result::ok)
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .any(|link| link.as_os_str() == wanted.as_str())
}
