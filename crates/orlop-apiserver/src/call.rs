//! A request on its way: what the steps before have found out, for the steps after.

use std::sync::{Arc, Mutex};

use crate::authz::Authorized;
use crate::body::RequestBody;
use crate::definition::Definition;
use crate::output::Output;
use crate::request::RequestInfo;
use crate::user::User;

/// A request for a resource that is served, from somebody who may ask for it.
pub(crate) struct Call {
    /// What the path and the method say.
    pub info: RequestInfo,
    /// Method, URI and headers as they came.
    pub parts: http::request::Parts,
    /// The body, until somebody reads it.
    pub body: Option<RequestBody>,
    /// Who asks.
    pub user: User,
    /// That they may.
    pub authorized: Authorized,
    /// What they ask for.
    pub definition: Arc<Definition>,
    /// The form they want it in.
    pub output: Output,
    /// What they should know besides.
    pub warnings: Warnings,
}

/// Warnings for the client, in the order in which they came up.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<Vec<String>>);

/// The most warnings of one answer.
const WARNINGS_MAX: usize = 128;

impl Call {
    /// The query of the request, as it came.
    pub(crate) fn query(&self) -> &str {
        self.parts.uri.query().unwrap_or_default()
    }
}

impl Warnings {
    /// Adds one, unless it is there already.
    pub(crate) fn add(&self, warning: impl Into<String>) {
        let warning = warning.into();
        let mut warnings = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if warnings.len() < WARNINGS_MAX && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// Takes all of them out.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}
