//! Who is at the other end of a connection.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use rustls::pki_types::CertificateDer;

use crate::user::User;

/// The other end of a connection; the same for all its requests.
#[derive(Debug)]
pub struct Peer {
    /// Where it comes from.
    pub address: SocketAddr,
    /// The certificates that it has shown, its own first, if that descends from the client CA for
    /// use by a client; else empty. Its key was proven in the handshake.
    pub certificates: Vec<CertificateDer<'static>>,
    /// Why the certificate that it has shown is not among `certificates`. Such a client is not
    /// anonymous: it has failed to say who it is.
    pub refused: Option<String>,
    /// When its certificate ends, as time since the Unix epoch: connections outlive certificates.
    pub expires: Option<Duration>,
    user: OnceLock<Option<User>>,
}

impl Peer {
    /// Somebody without a certificate.
    #[must_use]
    pub fn new(address: SocketAddr) -> Peer {
        Peer {
            address,
            certificates: Vec::new(),
            refused: None,
            expires: None,
            user: OnceLock::new(),
        }
    }

    /// This process, which asks without a socket.
    #[must_use]
    pub fn local() -> Peer {
        Peer::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
    }

    /// This process, on behalf of somebody whom it knows.
    #[must_use]
    pub fn acting_for(user: User) -> Peer {
        Peer { user: OnceLock::from(Some(user)), ..Peer::local() }
    }

    /// The user of the certificate, found by `find` the first time and kept for the connection.
    /// None without a certificate that is good at `now`, and none if `find` finds nobody.
    pub fn user(
        &self,
        now: Duration,
        find: impl FnOnce(&CertificateDer<'static>) -> Option<User>,
    ) -> Option<&User> {
        if self.is_expired(now) {
            return None;
        }
        let found = || self.certificates.first().and_then(find);
        self.user.get_or_init(found).as_ref()
    }

    /// Whether the certificate was good when the connection began and is not any more.
    #[must_use]
    pub fn is_expired(&self, now: Duration) -> bool {
        self.expires.is_some_and(|end| now > end)
    }
}
