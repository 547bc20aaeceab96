//! From a connection string to a connection with its limits set. A server of another machine is spoken to
//! through TLS with a certificate that this system trusts, unless the string says `sslmode=disable`.

use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use postgres::config::{Host, SslMode};
use postgres::{Client, Config, NoTls};
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::PostgresOptions;
use super::fault::Faults;
use crate::error::IndexError;

/// How long a silent connection is left before it is asked whether it is there, how often, and how many times.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_RETRIES: u32 = 3;
/// How long a transaction may wait for its process. One that was stopped keeps no other from writing for longer.
const IDLE_IN_TRANSACTION_MS_MAX: u64 = 60_000;
/// Letters of a schema's name, as the server bounds them.
const SCHEMA_BYTES_MAX: usize = 63;

/// Where and how to connect.
pub(super) struct Address {
    config: Config,
    /// Without the password.
    pub(super) shown: String,
    is_local: bool,
}

impl Address {
    /// Reads a connection string in either form of PostgreSQL's.
    pub(super) fn new(connection: &str, options: &PostgresOptions) -> Result<Self, IndexError> {
        check_schema(&options.schema)?;
        // What the reader says can hold a piece of the password, so it is not passed on.
        let unreadable = |_| IndexError::Connection { why: "it is no connection string" };
        let mut config = Config::from_str(connection).map_err(unreadable)?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(IndexError::Connection { why: "it names no host" });
        }
        let is_local = is_local(&config);
        if !is_local && config.get_ssl_mode() == SslMode::Prefer {
            // Otherwise whoever stands between could talk both sides out of it.
            config.ssl_mode(SslMode::Require);
        }
        config
            .application_name(&format!("reyn {}", std::process::id()))
            .connect_timeout(Duration::from_millis(options.connect_ms_max))
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVE_RETRIES)
            .tcp_user_timeout(KEEPALIVE_IDLE + KEEPALIVE_INTERVAL * KEEPALIVE_RETRIES);
        Ok(Self { shown: shown(&config), config, is_local })
    }

    /// Connects, and bounds how long the server works on anything.
    pub(super) fn connect(
        &self,
        options: &PostgresOptions,
        faults: Faults<'_>,
    ) -> Result<Client, IndexError> {
        let connected = if self.is_local && self.config.get_ssl_mode() != SslMode::Require {
            self.config.connect(NoTls)
        } else {
            self.config.connect(
                tls().map_err(|detail| IndexError::Unreachable { server: self.shown.clone(), detail })?,
            )
        };
        let mut client = connected.map_err(|error| faults.unconnected(&error))?;
        // A plan compiled for one query costs more than the query, and what a source has is mostly in memory, where
        // reading a row here and there is not four times as dear.
        faults.of(client.batch_execute(&format!(
            "SET statement_timeout = {}; SET lock_timeout = {};
             SET idle_in_transaction_session_timeout = {IDLE_IN_TRANSACTION_MS_MAX};
             SET client_min_messages = error; SET jit = off; SET random_page_cost = 1.1",
            options.statement_ms_max, options.wait_ms_max
        )))?;
        Ok(client)
    }
}

/// The schema's name stands in SQL, so it is a plain one.
fn check_schema(name: &str) -> Result<(), IndexError> {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_plain = name.len() <= SCHEMA_BYTES_MAX
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.starts_with("pg_")
        && name.chars().all(is_letter);
    if is_plain {
        Ok(())
    } else {
        Err(IndexError::Connection {
            why: "its schema is no name of lower case letters, digits and `_` that begins with a letter",
        })
    }
}

fn is_local(config: &Config) -> bool {
    let is_local_host = |host: &Host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_local_host)
        && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback)
}

fn shown(config: &Config) -> String {
    let mut hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .map(|host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        })
        .collect();
    if hosts.is_empty() {
        hosts = config.get_hostaddrs().iter().map(ToString::to_string).collect();
    }
    let port = config.get_ports().first().map_or(5432, |port| *port);
    let user = config.get_user().unwrap_or_default();
    format!("`{user}@{}:{port}/{}`", hosts.join(","), config.get_dbname().unwrap_or(user))
}

fn tls() -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_platform_verifier())
        .map_err(|error| format!("the system's certificates cannot be used: {error}"))?;
    Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(connection: &str) -> Result<Address, IndexError> {
        Address::new(connection, &PostgresOptions::default())
    }

    #[test]
    fn a_server_is_shown_without_its_password() {
        for (connection, expected) in [
            ("postgresql://me:secret@db.example:5433/team", "`me@db.example:5433/team`"),
            ("host=/run/postgresql user=me password=secret", "`me@/run/postgresql:5432/me`"),
        ] {
            assert_eq!(address(connection).map(|address| address.shown).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_no_connection_string_is_refused_without_being_shown() {
        for connection in [
            "postgresql://me:pa ss@host:secret/team",
            "postgresql://me@host/team?secret=pa",
            "user=me password=pa secret",
            "secret",
            "",
        ] {
            let error = address(connection).err().unwrap().to_string();
            for piece in ["pa ss", "secret", "=pa"] {
                assert!(!error.contains(piece), "{connection}: {error}");
            }
        }
    }

    #[test]
    fn another_machine_is_spoken_to_through_tls_unless_that_is_turned_off() {
        for (connection, expected) in [
            ("postgresql://me@db.example/team", SslMode::Require),
            ("postgresql://me@db.example/team?sslmode=prefer", SslMode::Require),
            ("postgresql://me@db.example/team?sslmode=disable", SslMode::Disable),
            ("postgresql://me@127.0.0.1/team", SslMode::Prefer),
            ("postgresql://me@localhost/team?sslmode=require", SslMode::Require),
        ] {
            assert_eq!(address(connection).unwrap().config.get_ssl_mode(), expected, "{connection}");
        }
    }

    #[test]
    fn a_schema_is_a_plain_name() {
        for schema in ["", "Reyn", "a b", "pg_x", "1a", "a\"; DROP", &"x".repeat(64)] {
            let options = PostgresOptions { schema: schema.to_owned(), ..PostgresOptions::default() };
            assert!(Address::new("host=localhost user=me", &options).is_err(), "{schema:?}");
        }
    }
}
