//! From what the HTTP library says to [`GetError`].

use std::error::Error;
use std::io;
use std::time::Duration;

use crate::get_error::{GetError, Stage};
use crate::names::ProxyBlocked;
use crate::shown_url::shown_url;
use crate::target::Target;

/// What the system says of a connection that the other side ended.
const CUT: [io::ErrorKind; 4] = [
    io::ErrorKind::ConnectionReset,
    io::ErrorKind::ConnectionAborted,
    io::ErrorKind::BrokenPipe,
    io::ErrorKind::UnexpectedEof,
];

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
            // Below TLS the connection stood, so it was the handshake that broke.
            let is_handshake = self.target.url().scheme() == "https" && has_kind(&error, &CUT);
            return if has_kind(&error, &[io::ErrorKind::ConnectionRefused]) {
                GetError::Refused { host, port: self.target.port() }
            } else if is_handshake {
                GetError::Tls {
                    host,
                    why: "the server closed the connection during the handshake".to_owned(),
                }
            } else {
                GetError::Unreachable { host, why }
            };
        }
        self.of_stream(&error, 0)
    }

    /// An error while the body came; `received_bytes` of it were there.
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
        if is_cut || has_kind(error, &CUT) {
            return GetError::Reset { host, received_bytes };
        }
        if let Some(tls) = find::<rustls::Error>(error) {
            return GetError::Tls { host, why: tls_text(tls) };
        }
        GetError::Protocol { host, why: root_cause(error) }
    }
}

/// An error and its causes, those inside of I/O errors too, which leave out of their `source` what they hold.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| {
        let error: &'a (dyn Error + 'static) = *error;
        let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        match held {
            Some(held) => Some(held),
            None => error.source(),
        }
    })
}

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    chain(error).find_map(<dyn Error>::downcast_ref::<E>)
}

/// Whether an I/O error of one of these kinds is in a chain.
fn has_kind(error: &(dyn Error + 'static), kinds: &[io::ErrorKind]) -> bool {
    let mut errors = chain(error).filter_map(<dyn Error>::downcast_ref::<io::Error>);
    errors.any(|error| kinds.contains(&error.kind()))
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
