//! A request on its way: what the steps before have found out, for the steps after.

use std::sync::{Arc, Mutex, PoisonError};

use orlop_machinery::apply::manager_name;
use orlop_machinery::kind::Rules;

use crate::authz::Authorized;
use crate::body::RequestBody;
use crate::definition::Definition;
use crate::output::Output;
use crate::registry::Write;
use crate::request::RequestInfo;
use crate::user::User;

/// A request for a resource that is served, from somebody who may ask for it.
pub(crate) struct Call {
    /// What the path and the method say.
    pub info: RequestInfo,
    /// Method, URI and headers as they came.
    pub parts: Arc<http::request::Parts>,
    /// The body, until somebody reads it.
    pub body: Unread,
    /// Who asks.
    pub user: User,
    /// That they may.
    #[expect(dead_code, reason = "a proof: there is no call without it")]
    pub authorized: Authorized,
    /// What they ask for.
    pub definition: Arc<Definition>,
    /// The form they want it in.
    pub output: Output,
    /// What they should know besides.
    pub warnings: Arc<Warnings>,
}

/// A body that can be taken once.
pub(crate) struct Unread(Mutex<Option<RequestBody>>);

impl Unread {
    /// A body that nobody has read.
    pub(crate) fn new(body: RequestBody) -> Unread {
        Unread(Mutex::new(Some(body)))
    }

    /// The body, the first time.
    pub(crate) fn take(&self) -> Option<RequestBody> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Warnings for the client, in the order in which they came up.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<Vec<String>>);

/// The most warnings of one answer.
const WARNINGS_MAX: usize = 128;

impl Call {
    /// A write at an endpoint of what is asked for.
    pub(crate) fn write<'a>(
        &'a self,
        definition: &'a Definition,
        rules: &'a dyn Rules,
        is_dry_run: bool,
    ) -> Write<'a> {
        Write {
            definition,
            rules,
            subresource: &self.info.subresource,
            namespace: &self.info.namespace,
            user: &self.user,
            is_dry_run,
            warnings: &self.warnings,
        }
    }

    /// Who manages the fields that this request writes: who it says, else the program that sent
    /// it.
    pub(crate) fn manager_name(&self, field_manager: &str) -> String {
        let header = self.parts.headers.get(http::header::USER_AGENT);
        let user_agent = header.and_then(|value| value.to_str().ok()).unwrap_or_default();
        manager_name(field_manager, user_agent)
    }

    /// The query of the request, as it came.
    pub(crate) fn query(&self) -> &str {
        self.parts.uri.query().unwrap_or_default()
    }
}

impl Warnings {
    /// Adds one, unless it is there already.
    pub(crate) fn add(&self, warning: impl Into<String>) {
        let warning = warning.into();
        let mut warnings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if warnings.len() < WARNINGS_MAX && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// Takes all of them out.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
