//! What the flow control objects are.
//!
//! After `staging/src/k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap/default.go` of Kubernetes
//! 1.36.

use orlop_machinery::Value;

/// An object that should be there.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) kind: &'static str,
    pub(super) name: &'static str,
    pub(super) upkeep: Upkeep,
    /// With all defaults.
    pub(super) spec: Value,
}

/// What happens to an object that somebody has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Upkeep {
    /// It is made what it was.
    Mandatory,
    /// It stays.
    Suggested,
}

use Upkeep::{Mandatory, Suggested};

/// Name, upkeep, shares, lendable percent, and queues, hand size and queue length, without which
/// what is too much is refused.
type Level = (&'static str, Upkeep, i64, i64, Option<(i64, i64, i64)>);

const LEVELS: [Level; 7] = [
    ("catch-all", Mandatory, 5, 0, None),
    ("system", Suggested, 30, 33, Some((64, 6, 50))),
    ("node-high", Suggested, 40, 25, Some((64, 6, 50))),
    ("leader-election", Suggested, 10, 0, Some((16, 4, 50))),
    ("workload-high", Suggested, 40, 50, Some((128, 6, 50))),
    ("workload-low", Suggested, 100, 90, Some((128, 6, 50))),
    ("global-default", Suggested, 20, 50, Some((128, 6, 50))),
];

/// A flow schema.
struct Schema {
    name: &'static str,
    upkeep: Upkeep,
    level: &'static str,
    precedence: i64,
    distinguisher: Option<&'static str>,
    subjects: &'static [Subject],
    rules: Rules,
}

/// Who sends a request.
enum Subject {
    Group(&'static str),
    User(&'static str),
    /// All service accounts of kube-system.
    SystemServiceAccounts,
}

/// What a request is about.
enum Rules {
    /// Anything.
    All,
    /// The paths of health checks.
    Probes,
    /// Leases, with these verbs.
    Leases(&'static [&'static str]),
    /// What nodes say about themselves.
    NodeHealth,
}

const BY_USER: Option<&str> = Some("ByUser");
const BY_NAMESPACE: Option<&str> = Some("ByNamespace");
const EVERYBODY: &[Subject] =
    &[Subject::Group("system:unauthenticated"), Subject::Group("system:authenticated")];
const NODES: &[Subject] = &[Subject::Group("system:nodes")];

const fn suggest(
    name: &'static str,
    level: &'static str,
    precedence: i64,
    distinguisher: Option<&'static str>,
    subjects: &'static [Subject],
) -> Schema {
    let (upkeep, rules) = (Suggested, Rules::All);
    Schema { name, upkeep, level, precedence, distinguisher, subjects, rules }
}

const SCHEMAS: [Schema; 11] = [
    Schema { upkeep: Mandatory, ..suggest("exempt", "exempt", 1, None, MASTERS) },
    Schema { upkeep: Mandatory, ..suggest("catch-all", "catch-all", 10000, BY_USER, EVERYBODY) },
    Schema { rules: Rules::Probes, ..suggest("probes", "exempt", 2, None, EVERYBODY) },
    Schema {
        rules: Rules::Leases(&["get", "create", "update"]),
        ..suggest("system-leader-election", "leader-election", 100, BY_USER, LEADERS)
    },
    Schema {
        rules: Rules::NodeHealth,
        ..suggest("system-node-high", "node-high", 400, BY_USER, NODES)
    },
    suggest("system-nodes", "system", 500, BY_USER, NODES),
    suggest("kube-controller-manager", "workload-high", 800, BY_NAMESPACE, CONTROLLER_MANAGER),
    suggest("kube-scheduler", "workload-high", 800, BY_NAMESPACE, SCHEDULER),
    suggest(
        "kube-system-service-accounts",
        "workload-high",
        900,
        BY_NAMESPACE,
        &[Subject::SystemServiceAccounts],
    ),
    suggest("service-accounts", "workload-low", 9000, BY_USER, SERVICE_ACCOUNTS),
    suggest("global-default", "global-default", 9900, BY_USER, EVERYBODY),
];

const MASTERS: &[Subject] = &[Subject::Group("system:masters")];
const CONTROLLER_MANAGER: &[Subject] = &[Subject::User("system:kube-controller-manager")];
const SCHEDULER: &[Subject] = &[Subject::User("system:kube-scheduler")];
const SERVICE_ACCOUNTS: &[Subject] = &[Subject::Group("system:serviceaccounts")];
const LEADERS: &[Subject] = &[
    Subject::User("system:kube-controller-manager"),
    Subject::User("system:kube-scheduler"),
    Subject::SystemServiceAccounts,
];

/// All objects that should be there.
pub(super) fn wanted() -> Vec<Wanted> {
    let exempt = Value::from([("nominalConcurrencyShares", 0), ("lendablePercent", 0)]);
    let exempt = Wanted {
        kind: "PriorityLevelConfiguration",
        name: "exempt",
        upkeep: Mandatory,
        spec: Value::from([("type", Value::from("Exempt")), ("exempt", exempt)]),
    };
    let levels = LEVELS.into_iter().map(priority_level);
    std::iter::once(exempt).chain(levels).chain(SCHEMAS.iter().map(flow_schema)).collect()
}

fn priority_level((name, upkeep, shares, lendable, queuing): Level) -> Wanted {
    let response = match queuing {
        None => Value::from([("type", "Reject")]),
        Some((queues, hand_size, length)) => {
            let queuing = Value::from([
                ("queues", queues),
                ("handSize", hand_size),
                ("queueLengthLimit", length),
            ]);
            Value::from([("type", Value::from("Queue")), ("queuing", queuing)])
        }
    };
    let limited = Value::from([
        ("nominalConcurrencyShares", Value::from(shares)),
        ("limitResponse", response),
        ("lendablePercent", lendable.into()),
    ]);
    let spec = Value::from([("type", Value::from("Limited")), ("limited", limited)]);
    Wanted { kind: "PriorityLevelConfiguration", name, upkeep, spec }
}

fn flow_schema(schema: &Schema) -> Wanted {
    let mut rule = rules(&schema.rules);
    let subjects: Vec<Value> = schema.subjects.iter().map(subject).collect();
    rule.set("subjects", subjects);
    let mut spec = Value::from([
        ("priorityLevelConfiguration", Value::from([("name", schema.level)])),
        ("matchingPrecedence", schema.precedence.into()),
        ("rules", vec![rule].into()),
    ]);
    if let Some(distinguisher) = schema.distinguisher {
        spec.set("distinguisherMethod", Value::from([("type", distinguisher)]));
    }
    Wanted { kind: "FlowSchema", name: schema.name, upkeep: schema.upkeep, spec }
}

fn subject(subject: &Subject) -> Value {
    let of = |kind: &str, field: &str, named: Value| {
        Value::from([("kind", Value::from(kind)), (field, named)])
    };
    match subject {
        Subject::Group(name) => of("Group", "group", Value::from([("name", *name)])),
        Subject::User(name) => of("User", "user", Value::from([("name", *name)])),
        Subject::SystemServiceAccounts => {
            let account = Value::from([("namespace", "kube-system"), ("name", "*")]);
            of("ServiceAccount", "serviceAccount", account)
        }
    }
}

fn rules(rules: &Rules) -> Value {
    let any = |verbs: &[&str], paths: &[&str]| {
        Value::from([("verbs", verbs.to_vec()), ("nonResourceURLs", paths.to_vec())])
    };
    match rules {
        Rules::All => Value::from([
            ("resourceRules", vec![resources(&["*"], "*", &["*"], true)]),
            ("nonResourceRules", vec![any(&["*"], &["*"])]),
        ]),
        Rules::Probes => Value::from([(
            "nonResourceRules",
            vec![any(&["get"], &["/healthz", "/readyz", "/livez"])],
        )]),
        Rules::Leases(verbs) => Value::from([("resourceRules", vec![leases(verbs)])]),
        Rules::NodeHealth => {
            let nodes = resources(&["*"], "", &["nodes", "nodes/status"], true);
            Value::from([("resourceRules", vec![nodes, leases(&["*"])])])
        }
    }
}

fn leases(verbs: &[&str]) -> Value {
    resources(verbs, "coordination.k8s.io", &["leases"], false)
}

fn resources(verbs: &[&str], group: &str, resources: &[&str], is_of_cluster: bool) -> Value {
    let mut rule = Value::from([
        ("verbs", verbs.to_vec()),
        ("apiGroups", vec![group]),
        ("resources", resources.to_vec()),
        ("namespaces", vec!["*"]),
    ]);
    if is_of_cluster {
        rule.set("clusterScope", true);
    }
    rule
}
