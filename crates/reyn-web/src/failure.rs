//! From what the HTTP library says to [`GetError`].

use std::error::Error;
use std::io;
use std::time::Duration;

use crate::get_error::{GetError, Stage};
use crate::names::ProxyBlocked;
use crate::shown_url::shown_url;
use crate::target::Target;

/// What is known where a connection fails.
pub(crate) struct Circumstances<'a> {
    pub(crate) target: &'a Target,
    pub(crate) has_proxy: bool,
    pub(crate) connect_timeout: Duration,
}

impl Circumstances<'_> {
    /// An error before the head of the answer was there.
    pub(crate) fn of_sending(&self, error: reqwest::Error) -> GetError {
        let host = self.target.host().to_owned();
        let error = error.without_url();
        let is_connecting = error.is_connect();
        let why = root_cause(&error);
        if let Some(tls) = find::<rustls::Error>(&error) {
            return GetError::Tls { host, why: tls_text(tls) };
        }
        if let Some(blocked) = find::<ProxyBlocked>(&error) {
            return GetError::Proxy { host, why: blocked.to_string() };
        }
        if error.is_timeout() {
            return GetError::Timeout { host, stage: Stage::Connecting, after: self.connect_timeout };
        }
        if is_connecting && self.has_proxy {
            return GetError::Proxy { host, why };
        }
        if is_connecting {
            let kind = find::<io::Error>(&error).map(io::Error::kind);
            return match kind {
                Some(io::ErrorKind::ConnectionRefused) => {
                    GetError::Refused { host, port: self.target.port() }
                }
                // The connection stood, so it was the handshake that broke.
                Some(
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe,
                ) if self.target.url().scheme() == "https" => GetError::Tls {
                    host,
                    why: "the server closed the connection during the handshake".to_owned(),
                },
                Some(_) | None => GetError::Unreachable { host, why },
            };
        }
        self.of_stream(&error, 0)
    }

    /// An error while the body came; `received_bytes` are decoded already.
    pub(crate) fn of_receiving(&self, error: reqwest::Error, received_bytes: usize) -> GetError {
        self.of_stream(&error.without_url(), received_bytes)
    }

    pub(crate) fn shown(&self) -> String {
        shown_url(self.target.url())
    }

    fn of_stream(&self, error: &reqwest::Error, received_bytes: usize) -> GetError {
        let host = self.target.host().to_owned();
        let is_cut = find::<hyper::Error>(error)
            .is_some_and(|error| error.is_incomplete_message() || error.is_closed() || error.is_canceled());
        let is_reset = find::<io::Error>(error).is_some_and(|error| {
            matches!(
                error.kind(),
                io::ErrorKind::ConnectionReset
                    | io::ErrorKind::ConnectionAborted
                    | io::ErrorKind::BrokenPipe
                    | io::ErrorKind::UnexpectedEof
            )
        });
        if is_cut || is_reset {
            return GetError::Reset { host, received_bytes };
        }
        if let Some(tls) = find::<rustls::Error>(error) {
            return GetError::Tls { host, why: tls_text(tls) };
        }
        GetError::Protocol { host, why: root_cause(error) }
    }
}

/// Looks for an error in a chain, inside of I/O errors too, which leave out of their `source` what they hold.
fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        next = match held {
            Some(held) => Some(held),
            None => error.source(),
        };
    }
    None
}

/// The words of the innermost error, which alone say what happened.
fn root_cause(mut error: &(dyn Error + 'static)) -> String {
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

fn tls_text(error: &rustls::Error) -> String {
    use rustls::CertificateError as Certificate;
    let rustls::Error::InvalidCertificate(certificate) = error else { return error.to_string() };
    if matches!(certificate, Certificate::UnknownIssuer) {
        "nobody who is trusted signed its certificate".to_owned()
    } else if matches!(certificate, Certificate::Expired | Certificate::ExpiredContext { .. }) {
        "its certificate has expired".to_owned()
    } else if matches!(certificate, Certificate::NotValidForName | Certificate::NotValidForNameContext { .. })
    {
        "its certificate is for another name".to_owned()
    } else {
        format!("its certificate is invalid: {certificate}")
    }
}
