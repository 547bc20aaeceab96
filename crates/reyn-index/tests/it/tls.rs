//! A server that cannot prove who it is gets no password. The servers here speak as little of the protocol as
//! that takes.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use reyn_index::{IndexError, PostgresOptions, PostgresStore, VectorStore as _};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, Stream};

/// Length and code of the message that asks for TLS.
const ASKS_FOR_TLS: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// Asks a server for its sources, and returns why not and everything that the server read.
fn refused(serve: impl FnOnce(TcpStream) -> Vec<u8> + Send + 'static) -> (String, Vec<u8>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; 8];
        stream.read_exact(&mut asked).unwrap();
        assert_eq!(asked, ASKS_FOR_TLS);
        serve(stream)
    });
    let connection = format!("postgresql://me:secret@localhost:{port}/team?sslmode=require");
    let error = PostgresStore::new(&connection, PostgresOptions::default()).unwrap().sources().unwrap_err();
    assert!(matches!(error, IndexError::Unreachable { .. }), "{error}");
    (error.to_string(), server.join().unwrap())
}

#[test]
fn a_server_without_tls_is_told_nothing_more() {
    let (why, read) = refused(|mut stream| {
        stream.write_all(b"N").unwrap();
        let mut read = vec![];
        let _ = stream.read_to_end(&mut read);
        read
    });
    assert!(why.contains("TLS"), "{why}");
    assert_eq!(String::from_utf8_lossy(&read), "");
}

#[test]
fn a_server_with_a_certificate_that_nobody_vouches_for_is_told_nothing_more() {
    let (why, read) = refused(|mut stream| {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key.into())
            .unwrap();
        stream.write_all(b"S").unwrap();
        let mut session = ServerConnection::new(Arc::new(config)).unwrap();
        let mut read = vec![];
        let _ = Stream::new(&mut session, &mut stream).read_to_end(&mut read);
        read
    });
    assert!(why.contains("certificate"), "{why}");
    assert_eq!(String::from_utf8_lossy(&read), "");
}
