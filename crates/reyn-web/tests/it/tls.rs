//! Certificates: only who is trusted is read.

use std::path::PathBuf;
use std::sync::Arc;

use reyn_web::{GetError, WebClient, WebClientOptions};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::names::Names;
use crate::server::{Server, answer, redirect};
use crate::{allowing, get};

struct Secure {
    port: u16,
    folder: TempDir,
}

impl Secure {
    /// A server whose certificate, for `name`, is signed by itself.
    async fn new(name: &str, said: Vec<u8>) -> Self {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("ca.pem"), made.cert.pem()).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let mut buffer = [0; 4096];
                let _ = stream.read(&mut buffer).await;
                let _ = stream.write_all(&said).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { port, folder }
    }

    fn bundle(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    fn options(&self) -> WebClientOptions {
        WebClientOptions {
            policy: allowing(&[format!("secure.example:{}", self.port)]),
            names: Names::new(&[&["127.0.0.1"], &["127.0.0.1"]]),
            ..Default::default()
        }
    }

    fn url(&self) -> String {
        format!("https://secure.example:{}/", self.port)
    }
}

#[tokio::test]
async fn a_certificate_that_nobody_signed_is_a_tls_error_and_a_bundle_makes_it_pass() {
    let server = Secure::new("secure.example", answer("200 OK", &[], b"secure")).await;
    let error = get(server.options(), &server.url()).await.unwrap_err();
    let why = "nobody who is trusted signed its certificate".to_owned();
    assert_eq!(error, GetError::Tls { host: "secure.example".into(), why });
    let options = WebClientOptions { ca_bundle: Some(server.bundle()), ..server.options() };
    assert_eq!(get(options, &server.url()).await.unwrap().body, b"secure");
}

#[tokio::test]
async fn a_certificate_for_another_name_is_a_tls_error() {
    let server = Secure::new("other.example", answer("200 OK", &[], b"")).await;
    let options = WebClientOptions { ca_bundle: Some(server.bundle()), ..server.options() };
    let error = get(options, &server.url()).await.unwrap_err();
    let why = "its certificate is for another name".to_owned();
    assert_eq!(error, GetError::Tls { host: "secure.example".into(), why });
}

#[tokio::test]
async fn certificates_are_not_checked_when_told_so_unless_a_bundle_is_named() {
    let server = Secure::new("other.example", answer("200 OK", &[], b"unchecked")).await;
    let options = WebClientOptions { is_tls_verified: false, ..server.options() };
    assert_eq!(get(options, &server.url()).await.unwrap().body, b"unchecked");
    let options =
        WebClientOptions { is_tls_verified: false, ca_bundle: Some(server.bundle()), ..server.options() };
    assert_eq!(get(options, &server.url()).await.unwrap_err().kind(), "tls");
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_a_tls_error() {
    for bytes in ["HTTP/1.1 400 Bad Request\r\n\r\n", ""] {
        let server = Server::saying(bytes).await;
        let error = get(crate::reaching(&[server.address]), &format!("https://{}/", server.address)).await;
        assert_eq!(error.unwrap_err().kind(), "tls", "{bytes:?}");
    }
}

#[tokio::test]
async fn a_redirect_from_https_to_http_is_followed_and_told() {
    let plain = Server::saying(answer("200 OK", &[], b"plain")).await;
    let server = Secure::new("secure.example", redirect("302 Found", &plain.url("/"))).await;
    let entries = [format!("secure.example:{}", server.port), plain.address.to_string()];
    let options =
        WebClientOptions { policy: allowing(&entries), ca_bundle: Some(server.bundle()), ..server.options() };
    let fetched = get(options, &server.url()).await.unwrap();
    assert_eq!((fetched.body.as_slice(), fetched.is_downgraded()), (b"plain".as_slice(), true));
}

#[test]
fn a_bundle_that_cannot_be_used_is_an_error_that_names_the_file() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("ca.pem");
    let shown = path.display();
    let said = |path: &PathBuf| {
        let options = WebClientOptions { ca_bundle: Some(path.clone()), ..Default::default() };
        WebClient::new(options).err().unwrap().to_string()
    };
    assert!(
        said(&path).starts_with(&format!("cannot read the certificates in `{shown}`: ")),
        "{}",
        said(&path)
    );
    std::fs::write(&path, "no certificate").unwrap();
    assert_eq!(said(&path), format!("`{shown}` is no file of PEM certificates: it holds no certificate"));
    std::fs::write(&path, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    assert!(
        said(&path).starts_with(&format!("`{shown}` is no file of PEM certificates: ")),
        "{}",
        said(&path)
    );
}
