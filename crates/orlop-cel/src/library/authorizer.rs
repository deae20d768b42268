//! What somebody may do: `authorizer.group("apps").resource("deployments").check("get")`.
//!
//! After `staging/src/k8s.io/apiserver/pkg/cel/library/authz.go`. Who decides is given with the
//! variable: something that implements [`Authorize`]. As upstream, none of these values can be
//! compared.

use std::any::Any;
use std::sync::Arc;

use orlop_machinery::field_selector::{FieldSelector, FieldSelectorError};
use orlop_machinery::label_selector::{LabelSelector, LabelSelectorError};
use orlop_machinery::names;

use crate::cost::{
    CallEstimate, CallSite, CostEstimate, LIST_CREATE, STRING_TRAVERSAL_FACTOR, STRUCT_CREATE,
    SizeEstimate,
};
use crate::error::EvalError;
use crate::function::{CallFn, Context, Function, Library, Overload, T};
use crate::ty::Type;
use crate::value::{Opaque, Value};

use super::argument::{exactly, opaque, text};
use super::price;

/// The library of authorization checks.
pub static AUTHORIZER: Library = Library {
    name: "kubernetes.authz",
    functions: &[
        Function { name: "path", overloads: &[step("authorizer_path", OF_ALL, PATH, path)] },
        Function { name: "group", overloads: &[step("authorizer_group", OF_ALL, GROUP, group)] },
        Function {
            name: "serviceAccount",
            overloads: &[step(
                "authorizer_serviceaccount",
                &[ALL, T::String, T::String],
                ALL,
                service_account,
            )],
        },
        Function {
            name: "resource",
            overloads: &[step("groupcheck_resource", &[GROUP, T::String], RESOURCE, resource)],
        },
        Function {
            name: "subresource",
            overloads: &[step("resourcecheck_subresource", OF_RESOURCE, RESOURCE, subresource)],
        },
        Function {
            name: "namespace",
            overloads: &[step("resourcecheck_namespace", OF_RESOURCE, RESOURCE, namespace)],
        },
        Function {
            name: "name",
            overloads: &[step("resourcecheck_name", OF_RESOURCE, RESOURCE, name)],
        },
        Function {
            name: "fieldSelector",
            overloads: &[Overload::member(
                "authorizer_fieldselector",
                OF_RESOURCE,
                RESOURCE,
                field_selector,
            )
            .costs(selector_cost, selector_estimate)],
        },
        Function {
            name: "labelSelector",
            overloads: &[Overload::member(
                "authorizer_labelselector",
                OF_RESOURCE,
                RESOURCE,
                label_selector,
            )
            .costs(selector_cost, selector_estimate)],
        },
        Function {
            name: "check",
            overloads: &[
                Overload::member("pathcheck_check", &[PATH, T::String], DECISION, check_path)
                    .costs(check_cost, check_estimate),
                Overload::member("resourcecheck_check", OF_RESOURCE, DECISION, check_resource)
                    .costs(check_cost, check_estimate),
            ],
        },
        Function { name: "errored", overloads: &[fact("decision_errored", T::Bool, errored)] },
        Function { name: "error", overloads: &[fact("decision_error", T::String, error)] },
        Function { name: "allowed", overloads: &[fact("decision_allowed", T::Bool, allowed)] },
        Function { name: "reason", overloads: &[fact("decision_reason", T::String, reason)] },
    ],
    constants: &[],
    macros: &[],
};

const ALL_TYPE: &str = "kubernetes.authorization.Authorizer";
const PATH_TYPE: &str = "kubernetes.authorization.PathCheck";
const GROUP_TYPE: &str = "kubernetes.authorization.GroupCheck";
const RESOURCE_TYPE: &str = "kubernetes.authorization.ResourceCheck";
const DECISION_TYPE: &str = "kubernetes.authorization.Decision";
const ALL: T = T::Opaque(ALL_TYPE);
const PATH: T = T::Opaque(PATH_TYPE);
const GROUP: T = T::Opaque(GROUP_TYPE);
const RESOURCE: T = T::Opaque(RESOURCE_TYPE);
const DECISION: T = T::Opaque(DECISION_TYPE);
const OF_ALL: &[T] = &[ALL, T::String];
const OF_RESOURCE: &[T] = &[RESOURCE, T::String];

/// What a check costs: an expression can afford two.
const CHECK_COST: u64 = 350_000;
/// The shortest requirement of a selector has two characters.
const REQUIREMENTS_PER_CHARACTER: f64 = 0.5;
/// A requirement is a struct and a list of values.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
const REQUIREMENT_COST: f64 = (LIST_CREATE + STRUCT_CREATE) as f64;

/// Who decides what somebody may do.
pub trait Authorize: Send + Sync {
    /// Decides.
    fn authorize(&self, request: &AuthorizationRequest) -> AuthorizationDecision;
}

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// Its name.
    pub name: String,
    /// Its groups.
    pub groups: Vec<String>,
    /// What else is known of it.
    pub extra: Vec<(String, Vec<String>)>,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct AuthorizationRequest {
    /// For whom.
    pub user: User,
    /// What is to be done.
    pub verb: String,
    /// To what.
    pub target: Target,
}

/// What something is to be done to.
#[derive(Clone, Debug)]
pub enum Target {
    /// A path that is no resource.
    Path(String),
    /// A resource, in any version.
    Resource(ResourceTarget),
}

/// A resource that something is to be done to. What is empty is not given.
#[derive(Clone, Debug, Default)]
pub struct ResourceTarget {
    /// Its group.
    pub group: String,
    /// Its name in the plural.
    pub resource: String,
    /// The part of it.
    pub subresource: String,
    /// Where.
    pub namespace: String,
    /// Which.
    pub name: String,
    /// To which objects only, if that could be read.
    pub field_selector: Option<Result<FieldSelector, FieldSelectorError>>,
    /// To which objects only, if that could be read.
    pub label_selector: Option<Result<LabelSelector, LabelSelectorError>>,
}

/// What was decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorizationDecision {
    /// Whether it is allowed; not, when nobody has an opinion.
    pub is_allowed: bool,
    /// Why.
    pub reason: String,
    /// What went wrong while deciding.
    pub error: Option<String>,
}

/// Somebody, and who decides.
#[derive(Clone)]
pub struct Authorizer {
    user: User,
    by: Arc<dyn Authorize>,
}

#[derive(Clone, Debug)]
struct PathCheck {
    authorizer: Authorizer,
    path: String,
}

#[derive(Clone, Debug)]
struct GroupCheck {
    authorizer: Authorizer,
    group: String,
}

/// A check of a resource: the value of a variable such as `authorizer.requestResource`.
#[derive(Clone, Debug)]
pub struct ResourceCheck {
    authorizer: Authorizer,
    target: ResourceTarget,
}

impl Authorizer {
    /// Checks what a user may do.
    #[must_use]
    pub fn new(user: User, by: Arc<dyn Authorize>) -> Authorizer {
        Authorizer { user, by }
    }

    /// Checks for this resource.
    #[must_use]
    pub fn check(&self, target: ResourceTarget) -> ResourceCheck {
        ResourceCheck { authorizer: self.clone(), target }
    }

    /// The type of a variable that holds one.
    #[must_use]
    pub fn ty() -> Type {
        ALL.ty()
    }

    fn decide(&self, verb: &str, target: Target) -> AuthorizationDecision {
        let (user, verb) = (self.user.clone(), verb.to_owned());
        self.by.authorize(&AuthorizationRequest { user, verb, target })
    }
}

impl ResourceCheck {
    /// The type of a variable that holds one.
    #[must_use]
    pub fn ty() -> Type {
        RESOURCE.ty()
    }
}

impl std::fmt::Debug for Authorizer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Authorizer").field("user", &self.user).finish_non_exhaustive()
    }
}

/// The same for all of them but the name.
macro_rules! opaque_type {
    ($type:ty, $name:expr) => {
        impl Opaque for $type {
            fn type_name(&self) -> &'static str {
                $name
            }

            fn equals(&self, _: &dyn Opaque) -> Option<bool> {
                None
            }

            fn as_any(&self) -> &dyn Any {
                self
            }
        }
    };
}

opaque_type!(Authorizer, ALL_TYPE);
opaque_type!(PathCheck, PATH_TYPE);
opaque_type!(GroupCheck, GROUP_TYPE);
opaque_type!(ResourceCheck, RESOURCE_TYPE);
opaque_type!(AuthorizationDecision, DECISION_TYPE);

const fn step(id: &'static str, params: &'static [T], result: T, call: CallFn) -> Overload {
    Overload::member(id, params, result, call).costs(price::one, price::one_estimate)
}

const fn fact(id: &'static str, result: T, call: CallFn) -> Overload {
    step(id, &[DECISION], result, call)
}

fn path<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [authorizer, path] = exactly(args)?;
    let path = text(path)?;
    if path.trim().is_empty() {
        return Err(EvalError::fixed("path must not be empty"));
    }
    let authorizer = opaque::<Authorizer>(authorizer)?.clone();
    Ok(Value::opaque(PathCheck { authorizer, path: path.to_string() }))
}

fn group<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [authorizer, group] = exactly(args)?;
    let authorizer = opaque::<Authorizer>(authorizer)?.clone();
    Ok(Value::opaque(GroupCheck { authorizer, group: text(group)?.to_string() }))
}

/// The user that the service account is.
fn service_account<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [authorizer, namespace, name] = exactly(args)?;
    let (authorizer, namespace, name) =
        (opaque::<Authorizer>(authorizer)?, text(namespace)?, text(name)?);
    if !names::name_is_dns_subdomain(name, false).is_empty() {
        return Err(EvalError::fixed("Invalid service account name"));
    }
    if !names::name_is_dns_label(namespace, false).is_empty() {
        return Err(EvalError::fixed("Invalid service account namespace"));
    }
    let user = User {
        name: format!("system:serviceaccount:{}:{}", &**namespace, &**name),
        groups: vec![
            "system:serviceaccounts".to_owned(),
            format!("system:serviceaccounts:{}", &**namespace),
        ],
        extra: Vec::new(),
    };
    Ok(Value::opaque(Authorizer { user, by: Arc::clone(&authorizer.by) }))
}

fn resource<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [check, resource] = exactly(args)?;
    let (check, resource) = (opaque::<GroupCheck>(check)?, text(resource)?);
    if resource.trim().is_empty() {
        return Err(EvalError::fixed("resource must not be empty"));
    }
    let (group, resource) = (check.group.clone(), resource.to_string());
    let target = ResourceTarget { group, resource, ..ResourceTarget::default() };
    Ok(Value::opaque(check.authorizer.check(target)))
}

fn subresource<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    narrow(args, |target, value| target.subresource = value.to_owned())
}

fn namespace<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    narrow(args, |target, value| target.namespace = value.to_owned())
}

fn name<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    narrow(args, |target, value| target.name = value.to_owned())
}

fn field_selector<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    narrow(args, |target, value| {
        target.field_selector = (!value.is_empty()).then(|| value.parse());
    })
}

fn label_selector<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    narrow(args, |target, value| {
        target.label_selector = (!value.is_empty()).then(|| value.parse());
    })
}

/// The same check with one thing changed.
fn narrow<'a>(
    args: &[Value<'a>],
    change: fn(&mut ResourceTarget, &str),
) -> Result<Value<'a>, EvalError> {
    let [check, value] = exactly(args)?;
    let mut check = opaque::<ResourceCheck>(check)?.clone();
    change(&mut check.target, text(value)?);
    Ok(Value::opaque(check))
}

fn check_path<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [check, verb] = exactly(args)?;
    let (check, verb) = (opaque::<PathCheck>(check)?, text(verb)?);
    Ok(Value::opaque(check.authorizer.decide(verb, Target::Path(check.path.clone()))))
}

fn check_resource<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [check, verb] = exactly(args)?;
    let (check, verb) = (opaque::<ResourceCheck>(check)?, text(verb)?);
    Ok(Value::opaque(check.authorizer.decide(verb, Target::Resource(check.target.clone()))))
}

fn errored<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    decision(args).map(|decision| Value::Bool(decision.error.is_some()))
}

fn error<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    decision(args).map(|decision| Value::string(decision.error.as_deref().unwrap_or_default()))
}

fn allowed<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    decision(args).map(|decision| Value::Bool(decision.is_allowed))
}

fn reason<'a>(_: &mut Context<'_>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    decision(args).map(|decision| Value::string(decision.reason.as_str()))
}

fn decision<'v>(args: &'v [Value<'_>]) -> Result<&'v AuthorizationDecision, EvalError> {
    let [decision] = exactly(args)?;
    opaque(decision)
}

fn check_cost(_: &[Value<'_>], _: &Value<'_>) -> u64 {
    CHECK_COST
}

fn check_estimate(_: &dyn CallSite) -> Option<CallEstimate> {
    Some(price::costing(CostEstimate::fixed(CHECK_COST)))
}

fn selector_cost(args: &[Value<'_>], _: &Value<'_>) -> u64 {
    selector_estimated(SizeEstimate::fixed(price::size_of(args, 1))).max
}

fn selector_estimate(site: &dyn CallSite) -> Option<CallEstimate> {
    Some(price::costing(selector_estimated(site.size(1))))
}

/// Reading a selector, and making a list of its requirements.
fn selector_estimated(size: SizeEstimate) -> CostEstimate {
    let requirements = size.traversal(REQUIREMENTS_PER_CHARACTER).scaled(REQUIREMENT_COST);
    let reading = size.traversal(STRING_TRAVERSAL_FACTOR);
    CostEstimate::fixed(LIST_CREATE).plus(reading).plus(requirements)
}
