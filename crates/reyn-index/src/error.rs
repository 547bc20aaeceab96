//! Why an index could not do what was asked, with the next step.

use std::path::PathBuf;

use reyn_core::embedding::ModelIdentity;

/// Why an index could not do what was asked. Rows that were committed before are still there.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The name cannot be a folder's.
    #[error("`{name}` cannot name a source: {why}")]
    SourceName {
        /// The name as given.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no such source.
    #[error("there is no source `{name}`; {}", known(.sources))]
    UnknownSource {
        /// The name as given.
        name: String,
        /// Sources that there are, at most a few.
        sources: Vec<String>,
    },
    /// A vector cannot be stored or compared.
    #[error("the vector of {place} {fault}; embed the text again")]
    Vector {
        /// Which one: a row of the write, or the query.
        place: String,
        /// What is wrong with it.
        fault: VectorFault,
    },
    /// A row cannot be stored.
    #[error("row {row} cannot be stored: {why}")]
    Row {
        /// Its place in the write, from 0.
        row: usize,
        /// What is wrong with it.
        why: String,
    },
    /// Something that is said of a source is no text.
    #[error("{what} holds a NUL character, so it is no text; leave it out")]
    NotText {
        /// Of what.
        what: &'static str,
    },
    /// More was asked for than is allowed.
    #[error("{what}: {is} is above the limit of {max}; ask for less at a time")]
    TooMuch {
        /// Of what.
        what: &'static str,
        /// How much was asked for.
        is: usize,
        /// The limit.
        max: usize,
    },
    /// The index holds vectors of another model.
    #[error(
        "source `{name}` holds vectors of {stored}, and these are of {given}; rebuild the source to change its model"
    )]
    Model {
        /// The source.
        name: String,
        /// The model that it was written with.
        stored: Box<ModelIdentity>,
        /// The model that was given.
        given: Box<ModelIdentity>,
    },
    /// Somebody else is indexing this source.
    #[error("source `{name}` is being indexed by process {pid}; wait for it or stop it")]
    Busy {
        /// The source.
        name: String,
        /// The process that holds the lock, 0 when it is not known.
        pid: u32,
    },
    /// Somebody else held the database for too long.
    #[error("source `{name}` was in use by another process for {waited_ms} ms; try again when it is done")]
    Locked {
        /// The source.
        name: String,
        /// How long it was waited for.
        waited_ms: u64,
    },
    /// The file is no longer a database that can be trusted.
    #[error("the index of `{name}` is damaged ({detail}); drop the source and index it again")]
    Corrupt {
        /// The source.
        name: String,
        /// What was found.
        detail: String,
    },
    /// A later version wrote this index.
    #[error(
        "the index of `{name}` has version {version}, and this program knows up to {known}; use a newer one"
    )]
    Newer {
        /// The source.
        name: String,
        /// The version of the file.
        version: i64,
        /// The latest version known here.
        known: i64,
    },
    /// There is no room left.
    #[error(
        "no space is left for the index of `{name}`; free some and repeat the write, of which nothing was kept"
    )]
    DiskFull {
        /// The source.
        name: String,
    },
    /// Rows were written to the source since its rebuild looked.
    #[error("{rows} rows were written to `{name}` during its rebuild; add them to it and finish again")]
    ChangedMeanwhile {
        /// The source.
        name: String,
        /// How many rows the rebuild has not seen.
        rows: u64,
    },
    /// The manifest cannot be read.
    #[error("`{path}` cannot be read as a list of sources ({detail}); correct it or remove it: it is made again from the folders", path = .path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        detail: String,
    },
    /// The file system refused.
    #[error("cannot {act} `{path}`: {source}", path = .path.display())]
    Io {
        /// What was tried.
        act: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The connection string, or the schema, cannot be used. It may hold a password, so it is not shown.
    #[error(
        "the connection to PostgreSQL cannot be used: {why}; correct it, it looks like `postgresql://user:password@host:5432/database`"
    )]
    Connection {
        /// What is wrong with it.
        why: &'static str,
    },
    /// The server cannot be reached.
    #[error(
        "cannot connect to PostgreSQL at {server}: {detail}; check that it runs and the address is right"
    )]
    Unreachable {
        /// Where, without the password.
        server: String,
        /// What was said.
        detail: String,
    },
    /// The server does not know the user or its password.
    #[error(
        "PostgreSQL at {server} refused the user: {detail}; check the user and the password in the connection string"
    )]
    Denied {
        /// Where, without the password.
        server: String,
        /// What was said.
        detail: String,
    },
    /// The server has no pgvector.
    #[error(
        "PostgreSQL at {server} has no extension `vector` ({detail}); install pgvector on the server, then run `CREATE EXTENSION vector` in the database as its administrator"
    )]
    NoExtension {
        /// Where, without the password.
        server: String,
        /// What was said when it was made.
        detail: String,
    },
    /// The server's pgvector is too old.
    #[error(
        "PostgreSQL at {server} has pgvector {version}, and {oldest} is the oldest that can be used; install a newer one on the server, then run `ALTER EXTENSION vector UPDATE` in the database as its administrator"
    )]
    OldExtension {
        /// Where, without the password.
        server: String,
        /// The version that is there.
        version: String,
        /// The oldest one that can be used.
        oldest: &'static str,
    },
    /// All connections of this process were in use.
    #[error(
        "all {connections} connections to PostgreSQL were in use for {waited_ms} ms; try again, or allow more"
    )]
    NoConnection {
        /// How many there may be.
        connections: usize,
        /// How long one was waited for.
        waited_ms: u64,
    },
    /// The server worked on one statement for too long.
    #[error(
        "PostgreSQL did not finish with source `{name}` in {worked_ms} ms; write less at a time, or allow more time"
    )]
    TooSlow {
        /// The source.
        name: String,
        /// How long it may work.
        worked_ms: u64,
    },
    /// The connection broke while something was under way.
    #[error(
        "the connection to PostgreSQL at {server} broke; {left}; try again: rows that are there are skipped"
    )]
    Lost {
        /// Where, without the password.
        server: String,
        /// What is left of a change.
        left: &'static str,
    },
    /// The server refused for another reason.
    #[error(
        "PostgreSQL refused for source `{name}`: {detail}; check the rights of the user and the server's log"
    )]
    Server {
        /// The source.
        name: String,
        /// What it said.
        detail: String,
    },
    /// The database refused for another reason.
    #[error("the index of `{name}` refused: {detail}; check its folder's permissions and disk")]
    Database {
        /// The source.
        name: String,
        /// What it said.
        detail: String,
    },
}

/// What is wrong with a vector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VectorFault {
    /// It has another length than the model's.
    #[error("has {is} numbers and the model's have {wanted}")]
    Length {
        /// Its length.
        is: usize,
        /// The model's.
        wanted: usize,
    },
    /// A number in it is none.
    #[error("holds `NaN` or an infinite number at place {at}")]
    NotFinite {
        /// The place, from 0.
        at: usize,
    },
}

fn known(sources: &[String]) -> String {
    if sources.is_empty() {
        return "none is indexed yet: index some text first".to_owned();
    }
    let quoted: Vec<String> = sources.iter().map(|name| format!("`{name}`")).collect();
    format!("there is {}", quoted.join(", "))
}
