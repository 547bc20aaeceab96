//! Whom TLS trusts: the system, a file of the operator, or, when told so, anyone.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use reqwest::ClientBuilder;
use rustls::ClientConfig;
use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::limits::CA_BUNDLE_BYTES_MAX;

/// Why a file of certificates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CaBundleError {
    /// It cannot be read.
    #[error("cannot read the certificates in `{}`: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// It holds none, a broken one, or too much.
    #[error("`{}` is no file of PEM certificates: {why}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// The trust of a client.
pub(crate) struct Trust {
    trusted: Trusted,
    /// For `http`: nobody, so that nothing is loaded.
    nobody: ClientConfig,
}

/// Who is trusted.
enum Trusted {
    /// What the system trusts; reading it takes some milliseconds, so it is read with the first `https` URL.
    System(Box<OnceLock<Result<ClientConfig, String>>>),
    /// A file's certificates and no others.
    Bundle(Box<ClientConfig>),
    /// Every certificate.
    Anyone,
}

impl Trust {
    /// Chooses the trust. A bundle wins over not verifying.
    pub(crate) fn new(ca_bundle: Option<&Path>, is_verified: bool) -> Result<Self, CaBundleError> {
        let trusted = match (ca_bundle, is_verified) {
            (Some(path), _) => Trusted::Bundle(Box::new(of_bundle(path)?)),
            (None, true) => Trusted::System(Box::default()),
            (None, false) => Trusted::Anyone,
        };
        let nobody = builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth();
        Ok(Self { trusted, nobody })
    }

    /// Sets it on a client; for `http` alone, nobody is trusted.
    pub(crate) fn apply(&self, client: ClientBuilder, is_https: bool) -> Result<ClientBuilder, String> {
        let config = match &self.trusted {
            _ if !is_https => self.nobody.clone(),
            Trusted::Bundle(config) => config.as_ref().clone(),
            Trusted::System(config) => config.get_or_init(of_system).clone()?,
            Trusted::Anyone => {
                // An error means that one is installed already, which does as well.
                let _ = ring::default_provider().install_default();
                return Ok(client.tls_danger_accept_invalid_certs(true));
            }
        };
        Ok(client.tls_backend_preconfigured(config))
    }
}

fn builder() -> rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier> {
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("this provider knows the usual versions")
}

fn of_system() -> Result<ClientConfig, String> {
    let builder = builder().with_platform_verifier();
    let builder = builder.map_err(|error| format!("the system's certificates cannot be used: {error}"))?;
    Ok(builder.with_no_client_auth())
}

fn of_bundle(path: &Path) -> Result<ClientConfig, CaBundleError> {
    let unusable = |why: String| CaBundleError::Unusable { path: path.to_owned(), why };
    let mut pem = Vec::new();
    File::open(path)
        .and_then(|file| file.take(CA_BUNDLE_BYTES_MAX + 1).read_to_end(&mut pem))
        .map_err(|cause| CaBundleError::Unreadable { path: path.to_owned(), cause })?;
    if u64::try_from(pem.len()).is_ok_and(|length| length > CA_BUNDLE_BYTES_MAX) {
        return Err(unusable(format!("it is larger than {CA_BUNDLE_BYTES_MAX} bytes")));
    }
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unusable("it holds no certificate".to_owned()));
    }
    Ok(builder().with_root_certificates(roots).with_no_client_auth())
}
