//! The certificates and keys of an installation.
//!
//! Everything is ECDSA P-256, made in about a millisecond. Authorities last ten years and stay as
//! they are; what they sign lasts one year and is made anew when it is near its end, does not fit
//! its authority or its key, or lacks a name. Names of files are those of kubeadm
//! (`cmd/kubeadm/app/phases/certs`, `cmd/kubeadm/app/constants`).
//!
//! Values in, values out: reading and writing files is for the caller, who writes [`Pki::files`].

mod authority;
mod leaf;

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use orlop_storage::Clock;

use authority::Authority;
use leaf::Leaf;

/// The user of the admin certificate.
pub const ADMIN: &str = "kubernetes-admin";

/// Files by name, as they were found.
pub type Files = BTreeMap<&'static str, String>;

/// A certificate and its key, as PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// The private key; never printed.
    pub key: String,
}

/// All certificates and keys of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pki {
    /// The authority that clients trust and that knows clients.
    pub ca: Identity,
    /// What the API server shows.
    pub apiserver: Identity,
    /// What the administrator shows.
    pub admin: Identity,
    /// The authority of proxies that speak for users.
    pub front_proxy_ca: Identity,
    /// What the API server shows to the servers of other APIs.
    pub front_proxy_client: Identity,
    /// What tokens of service accounts are signed with: the public key and the private one.
    pub service_account: Identity,
}

/// Why there is no PKI.
#[derive(Debug, thiserror::Error)]
pub enum PkiError {
    /// Only one file of an authority or of the signing key is there: a new one would be foreign
    /// to what the old one has signed.
    #[error("{missing} is missing beside {present}")]
    Half {
        /// The file that is there.
        present: &'static str,
        /// The file that is not.
        missing: &'static str,
    },
    /// A file that does not read, or does not fit the other one.
    #[error("{file} cannot be used: {reason}")]
    Unusable {
        /// The file.
        file: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Making something failed.
    #[error("cannot make {file}")]
    Make {
        /// What was to be made.
        file: &'static str,
        /// What went wrong.
        source: rcgen::Error,
    },
}

/// The names of all files.
pub const FILES: [&str; 12] = [
    "ca.crt",
    "ca.key",
    "apiserver.crt",
    "apiserver.key",
    "admin.crt",
    "admin.key",
    "front-proxy-ca.crt",
    "front-proxy-ca.key",
    "front-proxy-client.crt",
    "front-proxy-client.key",
    "sa.pub",
    "sa.key",
];

/// The names under which the API server is reached: by clients on this machine, by whoever
/// reaches its address, and by pods. `service` is the first address of the service network.
#[must_use]
pub fn serving_names(address: IpAddr, service: IpAddr) -> Vec<String> {
    let mut names: Vec<String> = [
        "localhost",
        "127.0.0.1",
        "::1",
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
    ]
    .map(String::from)
    .into();
    names.push(service.to_string());
    if !address.is_unspecified() && !address.is_loopback() {
        names.push(address.to_string());
    }
    names
}

impl Pki {
    /// The PKI that consists of what is kept and of what has to be made anew.
    ///
    /// # Errors
    /// When something is kept that cannot be used and must not be replaced.
    pub fn complete(kept: &Files, names: &[String], clock: &dyn Clock) -> Result<Pki, PkiError> {
        let now = clock.now();
        let ca = Authority::keep_or_make(kept, &authority::CLUSTER, now)?;
        let front_proxy = Authority::keep_or_make(kept, &authority::FRONT_PROXY, now)?;
        let sign = |leaf: Leaf<'_>, by: &Authority| leaf.keep_or_make(kept, by, now);
        Ok(Pki {
            apiserver: sign(Leaf::apiserver(names), &ca)?,
            admin: sign(Leaf::admin(), &ca)?,
            front_proxy_client: sign(Leaf::front_proxy_client(), &front_proxy)?,
            service_account: signing_key(kept)?,
            ca: ca.into_identity(),
            front_proxy_ca: front_proxy.into_identity(),
        })
    }

    /// The files, in the order of [`FILES`]. Those whose names end in `.key` are secret.
    #[must_use]
    pub fn files(&self) -> [(&'static str, &str); 12] {
        let [a, b, c, d, e, f] = [
            &self.ca,
            &self.apiserver,
            &self.admin,
            &self.front_proxy_ca,
            &self.front_proxy_client,
            &self.service_account,
        ];
        let pieces = [a, b, c, d, e, f].map(|one| [one.certificate.as_str(), one.key.as_str()]);
        let mut pieces = pieces.as_flattened().iter();
        FILES.map(|name| (name, *pieces.next().expect("there is one piece for each file")))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Identity").finish_non_exhaustive()
    }
}

/// The pair that signs tokens. It has no end, since tokens would end with it.
fn signing_key(kept: &Files) -> Result<Identity, PkiError> {
    let read = |key: &str| {
        rcgen::KeyPair::from_pem(key)
            .map_err(|error| PkiError::Unusable { file: "sa.key", reason: error.to_string() })
    };
    let pair = match (kept.get("sa.key"), kept.get("sa.pub")) {
        (Some(key), _) => read(key)?,
        (None, Some(_)) => return Err(PkiError::Half { present: "sa.pub", missing: "sa.key" }),
        (None, None) => rcgen::KeyPair::generate()
            .map_err(|source| PkiError::Make { file: "sa.key", source })?,
    };
    let key = kept.get("sa.key").cloned().unwrap_or_else(|| pair.serialize_pem());
    // Further public keys may stand in the file: those of keys that signed before.
    let certificate = kept.get("sa.pub").cloned().unwrap_or_else(|| pair.public_key_pem());
    Ok(Identity { certificate, key })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    #[derive(Debug)]
    struct At(Duration);

    impl Clock for At {
        fn now(&self) -> Duration {
            self.0
        }
    }

    fn begin() -> Duration {
        DAY * 20_000
    }

    fn names() -> Vec<String> {
        serving_names("192.0.2.7".parse().unwrap(), "10.96.0.1".parse().unwrap())
    }

    fn files(pki: &Pki) -> Files {
        pki.files().into_iter().map(|(name, text)| (name, text.to_string())).collect()
    }

    /// The names of the files that differ.
    fn changed(kept: &Pki, now: &Pki) -> Vec<&'static str> {
        let differs = |((name, old), (_, new)): ((&'static str, &str), (_, &str))| {
            (old != new).then_some(name)
        };
        kept.files().into_iter().zip(now.files()).filter_map(differs).collect()
    }

    fn new() -> Pki {
        Pki::complete(&Files::new(), &names(), &At(begin())).unwrap()
    }

    fn describe(certificate: &str) -> (String, String, Vec<String>) {
        let (_, pem) = x509_parser::pem::parse_x509_pem(certificate.as_bytes()).unwrap();
        let parsed = pem.parse_x509().unwrap();
        let sans = leaf::names_of(&parsed);
        (parsed.subject().to_string(), parsed.issuer().to_string(), sans)
    }

    #[test]
    fn a_new_installation_has_every_file_and_the_usual_names() {
        let pki = new();
        assert!(pki.files().iter().all(|(_, text)| text.starts_with("-----BEGIN ")));
        let (subject, issuer, sans) = describe(&pki.apiserver.certificate);
        assert_eq!((subject.as_str(), issuer.as_str()), ("CN=kube-apiserver", "CN=kubernetes"));
        let mut expect = names();
        expect.sort();
        assert_eq!(sans, expect);
        let (subject, issuer, _) = describe(&pki.admin.certificate);
        assert_eq!(subject, "O=system:masters, CN=kubernetes-admin");
        assert_eq!(issuer, "CN=kubernetes");
        let (subject, issuer, _) = describe(&pki.front_proxy_client.certificate);
        assert_eq!(subject, "CN=front-proxy-client");
        assert_eq!(issuer, "CN=front-proxy-ca");
        assert!(pki.service_account.certificate.starts_with("-----BEGIN PUBLIC KEY-----"));
    }

    #[test]
    fn what_is_good_is_kept_and_what_is_near_its_end_is_renewed() {
        let check = |after_days: u32, expect: &[&str]| {
            let kept = new();
            let later = At(begin() + DAY * after_days);
            let next = Pki::complete(&files(&kept), &names(), &later).unwrap();
            assert_eq!(changed(&kept, &next), expect, "after {after_days} days");
        };
        let leaves = [
            "apiserver.crt",
            "apiserver.key",
            "admin.crt",
            "admin.key",
            "front-proxy-client.crt",
            "front-proxy-client.key",
        ];
        check(0, &[]);
        check(300, &[]);
        check(340, &leaves);
        check(2000, &leaves);
    }

    #[test]
    fn a_further_name_renews_the_serving_certificate_alone() {
        let kept = new();
        let mut more = names();
        more.push("198.51.100.1".into());
        let next = Pki::complete(&files(&kept), &more, &At(begin())).unwrap();
        assert_eq!(changed(&kept, &next), ["apiserver.crt", "apiserver.key"]);
        assert!(describe(&next.apiserver.certificate).2.contains(&"198.51.100.1".to_string()));
    }

    #[test]
    fn leaves_follow_their_authority_and_their_key() {
        let kept = new();
        let mut found = files(&kept);
        found.remove("front-proxy-ca.crt");
        found.remove("front-proxy-ca.key");
        found.insert("admin.key", kept.apiserver.key.clone());
        let next = Pki::complete(&found, &names(), &At(begin())).unwrap();
        let expect = [
            "admin.crt",
            "admin.key",
            "front-proxy-ca.crt",
            "front-proxy-ca.key",
            "front-proxy-client.crt",
            "front-proxy-client.key",
        ];
        assert_eq!(changed(&kept, &next), expect);
    }

    #[test]
    fn what_must_not_be_replaced_is_refused_by_name() {
        let check = |change: &dyn Fn(&mut Files), days: u32, expect: &str| {
            let mut found = files(&new());
            change(&mut found);
            let error = Pki::complete(&found, &names(), &At(begin() + DAY * days)).unwrap_err();
            assert!(error.to_string().starts_with(expect), "{error}");
        };
        check(&|files| drop(files.remove("ca.key")), 0, "ca.key is missing beside ca.crt");
        check(&|files| drop(files.remove("sa.key")), 0, "sa.key is missing beside sa.pub");
        check(&|files| drop(files.insert("ca.crt", "x".into())), 0, "ca.crt cannot be used: ");
        check(&|files| drop(files.insert("sa.key", "x".into())), 0, "sa.key cannot be used: ");
        let foreign = new().ca.key;
        check(
            &|files| drop(files.insert("ca.key", foreign.clone())),
            0,
            "ca.crt cannot be used: it is not the certificate of ca.key",
        );
        check(&|_| {}, 3660, "ca.crt cannot be used: it has expired");
    }

    #[test]
    fn keys_are_not_printed() {
        assert!(!format!("{:?}", new()).contains("PRIVATE"));
    }
}
