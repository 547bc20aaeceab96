//! The connection breaks at the commit, before or after the server hears of it: the writer is told what is so.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use reyn_index::{IndexError, PostgresOptions, PostgresStore, VectorStore as _, Written};

use crate::fixture::{docs, options, row, worded};
use crate::server;

const SOCKET: &str = ".s.PGSQL.5432";

/// Where a connection is cut.
#[derive(Clone, Copy)]
enum Cut {
    BeforeCommit,
    AfterCommit,
}

/// Passes everything between a store and the server, and cuts the first connection that commits once armed.
fn relay(folder: &Path, server: &Path, cut: Cut) -> Arc<AtomicBool> {
    let armed = Arc::new(AtomicBool::new(false));
    let listener = UnixListener::bind(folder.join(SOCKET)).unwrap();
    let (of_relay, server) = (Arc::clone(&armed), server.join(SOCKET));
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), UnixStream::connect(&server).unwrap());
            let armed = Arc::clone(&of_relay);
            thread::spawn(move || pass(&client, &server, &armed, cut));
        }
    });
    armed
}

fn pass(client: &UnixStream, server: &UnixStream, armed: &AtomicBool, cut: Cut) {
    let is_cut = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut bytes = [0; 64 * 1024];
            while let Ok(count @ 1..) = (&*server).read(&mut bytes) {
                // What the server answers to the commit does not arrive.
                if is_cut.load(Ordering::SeqCst) || (&*client).write_all(&bytes[..count]).is_err() {
                    break;
                }
            }
            let _ = client.shutdown(std::net::Shutdown::Both);
        });
        let mut bytes = [0; 64 * 1024];
        while let Ok(count @ 1..) = (&*client).read(&mut bytes) {
            let is_commit = bytes[..count].windows(6).any(|part| part == b"COMMIT");
            if is_commit && armed.swap(false, Ordering::SeqCst) {
                is_cut.store(true, Ordering::SeqCst);
                if matches!(cut, Cut::BeforeCommit) {
                    break;
                }
            }
            if (&*server).write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = server.shutdown(std::net::Shutdown::Write);
        if matches!(cut, Cut::BeforeCommit) {
            let _ = client.shutdown(std::net::Shutdown::Both);
        }
    });
}

fn write_cut_off(test: &str, cut: Cut) -> Option<(Result<Written, IndexError>, Vec<String>)> {
    let connection = server::connection()?;
    let direct = connection.split(' ').find_map(|word| word.strip_prefix("host=")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let armed = relay(folder.path(), direct.as_ref(), cut);
    let relayed = connection.replace(direct, folder.path().to_str().unwrap());
    let schema = format!("{test}_{}", std::process::id());
    let store =
        PostgresStore::new(&relayed, PostgresOptions { schema, ..PostgresOptions::default() }).unwrap();
    store.write(&docs(), &[row("a", 0, "first")], &options()).unwrap();
    armed.store(true, Ordering::SeqCst);
    let written = store.write(&docs(), &[row("a", 1, "second")], &options());
    Some((written, worded(&store, "second")))
}

#[test]
fn a_commit_whose_answer_is_lost_is_found_to_be_one() {
    let Some((written, found)) = write_cut_off("after", Cut::AfterCommit) else { return };
    assert_eq!((written.unwrap(), found), (Written { written: 1, skipped: 0 }, vec!["second".to_owned()]));
}

#[test]
fn a_commit_that_the_server_never_heard_of_is_said_to_be_none() {
    let Some((written, found)) = write_cut_off("before", Cut::BeforeCommit) else { return };
    assert!(
        matches!(written, Err(IndexError::Lost { left: "nothing of the change was kept", .. })),
        "{written:?}"
    );
    assert_eq!(found, Vec::<String>::new());
}
