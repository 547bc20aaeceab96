//! The connections of one store: a bounded number, kept open between calls.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use postgres::Client;

use super::PostgresOptions;
use super::connection::Address;
use super::fault::Faults;
use super::schema;
use crate::error::IndexError;

/// Connections to one server.
pub(super) struct Pool {
    address: Address,
    pub(super) options: PostgresOptions,
    /// The search path, once the schema has its tables.
    search_path: OnceLock<String>,
    state: Mutex<State>,
    freed: Condvar,
}

/// Closing a connection waits for it, which a thread of an asynchronous runtime may not.
impl Drop for Pool {
    fn drop(&mut self) {
        let idle = std::mem::take(&mut self.state.get_mut().unwrap_or_else(PoisonError::into_inner).idle);
        if !idle.is_empty() {
            let _ = std::thread::spawn(move || drop(idle)).join();
        }
    }
}

#[derive(Default)]
struct State {
    idle: Vec<Client>,
    /// Connections that there are, idle or not.
    open: usize,
}

/// A connection that nobody else uses. It goes back to the pool, or is closed when it broke.
pub(super) struct Lease<'p> {
    pool: &'p Pool,
    client: Option<Client>,
}

impl Pool {
    pub(super) fn new(connection: &str, options: PostgresOptions) -> Result<Self, IndexError> {
        Ok(Self {
            address: Address::new(connection, &options)?,
            options,
            search_path: OnceLock::new(),
            state: Mutex::default(),
            freed: Condvar::new(),
        })
    }

    pub(super) fn faults<'a>(&'a self, name: &'a str) -> Faults<'a> {
        Faults {
            name,
            server: &self.address.shown,
            wait_ms: self.options.wait_ms_max,
            statement_ms: self.options.statement_ms_max,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection, once there is a free one.
    pub(super) fn lease(&self, faults: Faults<'_>) -> Result<Lease<'_>, IndexError> {
        let until = Instant::now() + Duration::from_millis(self.options.wait_ms_max);
        let mut state = self.state();
        loop {
            if let Some(client) = state.idle.pop() {
                drop(state);
                let mut lease = Lease { pool: self, client: Some(client) };
                // A server that was started anew, or closes what is idle, is no error of the caller's.
                if lease.answers() {
                    return Ok(lease);
                }
                lease.client = None;
                drop(lease);
                state = self.state();
                continue;
            }
            if state.open < self.options.connections_max.max(1) {
                state.open += 1;
                drop(state);
                let mut lease = Lease { pool: self, client: None };
                lease.client = Some(self.connect(faults)?);
                return Ok(lease);
            }
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Err(IndexError::NoConnection {
                    connections: self.options.connections_max.max(1),
                    waited_ms: self.options.wait_ms_max,
                });
            }
            state = self.freed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A connection of its own, which the pool does not count.
    pub(super) fn connect(&self, faults: Faults<'_>) -> Result<Client, IndexError> {
        let mut client = self.address.connect(&self.options, faults)?;
        let search_path = match self.search_path.get() {
            Some(path) => path,
            None => {
                let path = schema::prepare(&mut client, &self.options.schema, faults)?;
                self.search_path.get_or_init(|| path)
            }
        };
        faults.of(client.batch_execute(&format!("SET search_path = {search_path}")))?;
        Ok(client)
    }
}

impl Lease<'_> {
    fn answers(&mut self) -> bool {
        let patience = Duration::from_millis(self.pool.options.connect_ms_max);
        self.client.as_mut().is_some_and(|client| client.is_valid(patience).is_ok())
    }
}

impl Deref for Lease<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client.as_ref().expect("a lease that was given out has its connection")
    }
}

impl DerefMut for Lease<'_> {
    fn deref_mut(&mut self) -> &mut Client {
        self.client.as_mut().expect("a lease that was given out has its connection")
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut state = self.pool.state();
        match self.client.take().filter(|client| !client.is_closed()) {
            Some(client) => state.idle.push(client),
            None => state.open -= 1,
        }
        drop(state);
        self.pool.freed.notify_one();
    }
}
