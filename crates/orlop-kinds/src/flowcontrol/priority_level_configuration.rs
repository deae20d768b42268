//! PriorityLevelConfiguration: how many requests run at once, and what the others do.
//!
//! After `pkg/registry/flowcontrol/prioritylevelconfiguration` and
//! `pkg/apis/flowcontrol/validation`.

use orlop_machinery::Value;
use orlop_machinery::field::Errors;
use orlop_machinery::kind::{Column, Context, Defaulter, Kind, Resource, Row, Rules};
use orlop_machinery::node::Node;

use super::conditions::validate_status;
use super::{GROUP_VERSION, PACKAGE, mandatory};
use crate::rules::{generation, status};

pub(crate) static KIND: PriorityLevelConfiguration = PriorityLevelConfiguration;
static STATUS: PriorityLevelConfigurationStatus = PriorityLevelConfigurationStatus;

/// The kind.
pub(crate) struct PriorityLevelConfiguration;

/// Its status.
struct PriorityLevelConfigurationStatus;

const QUEUES_MAX: i64 = 10_000_000;
/// A hand of queues is dealt from a hash of so many bits.
const HASH_BITS_MAX: f64 = 60.0;
/// From an older version of the API; it must not come back.
const PRESERVE_ZERO: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";

impl Kind for PriorityLevelConfiguration {
    fn resource(&self) -> Resource {
        let (kind, plural) = ("PriorityLevelConfiguration", "prioritylevelconfigurations");
        Resource::cluster(GROUP_VERSION, kind, plural, PACKAGE).status(&STATUS)
    }

    fn defaulters(&self) -> &'static [(&'static str, Defaulter)] {
        &[
            ("io.k8s.api.flowcontrol.v1.ExemptPriorityLevelConfiguration", |exempt| {
                exempt.set_default("nominalConcurrencyShares", 0);
                exempt.set_default("lendablePercent", 0);
            }),
            ("io.k8s.api.flowcontrol.v1.LimitedPriorityLevelConfiguration", |limited| {
                limited.set_default("nominalConcurrencyShares", 30);
                limited.set_default("lendablePercent", 0);
            }),
            ("io.k8s.api.flowcontrol.v1.QueuingConfiguration", |queuing| {
                for (field, default) in [("handSize", 8), ("queues", 64), ("queueLengthLimit", 50)]
                {
                    if queuing.at(field).is_empty() {
                        queuing.set(field, default);
                    }
                }
            }),
        ]
    }

    fn columns(&self) -> &'static [Column] {
        const {
            &[
                Column::NAME,
                Column::text("Type"),
                Column::text("NominalConcurrencyShares"),
                Column::text("Queues"),
                Column::text("HandSize"),
                Column::text("QueueLengthLimit"),
                Column::AGE,
            ]
        }
    }

    fn row(&self, context: &Context<'_>, object: &Value) -> Row {
        let limited = object.path(&["spec", "limited"]);
        let queuing = limited.path(&["limitResponse", "queuing"]);
        let number = |from: &Value, field: &str| match from {
            Value::Null => Value::from("<none>"),
            from => from.at(field).int().into(),
        };
        Row::new(vec![
            object.path(&["metadata", "name"]).clone(),
            object.path(&["spec", "type"]).clone(),
            number(limited, "nominalConcurrencyShares"),
            number(queuing, "queues"),
            number(queuing, "handSize"),
            number(queuing, "queueLengthLimit"),
            context.age(object).into(),
        ])
    }
}

impl Rules for PriorityLevelConfiguration {
    fn prepare_create(&self, _context: &Context<'_>, object: &mut Value) {
        status::clear(object);
        generation::start(object);
    }

    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        generation::count_change(new, old, &["spec"]);
        status::keep(new, old, "status");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        let metadata = object.at("metadata");
        if metadata.at("annotations").map().contains_key(PRESERVE_ZERO) {
            let detail = format!("annotation '{PRESERVE_ZERO}' is forbidden");
            errors.forbidden(&metadata.at("annotations"), detail);
        }
        let spec = object.at("spec");
        let name = metadata.value().at("name").str();
        validate_spec(name, &spec, errors);
        validate_mandatory(name, &spec, errors);
        validate_status(&object.at("status"), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["status"]
    }
}

impl Rules for PriorityLevelConfigurationStatus {
    fn prepare_update(&self, _context: &Context<'_>, new: &mut Value, old: &Value) {
        status::keep_metadata(new, old);
        status::keep(new, old, "spec");
    }

    fn validate(&self, _context: &Context<'_>, object: &Node<'_>, errors: &mut Errors) {
        validate_status(&object.at("status"), errors);
    }

    fn reset_fields(&self) -> &'static [&'static str] {
        &["spec", "metadata"]
    }
}

fn validate_spec(name: &str, spec: &Node<'_>, errors: &mut Errors) {
    let (ty, limited, exempt) = (spec.at("type"), spec.at("limited"), spec.at("exempt"));
    if (name == "exempt") != (ty.str() == "Exempt") {
        errors.invalid(&ty, "must be 'Exempt' if and only if `name` is 'exempt'");
    }
    match ty.str() {
        "Exempt" => {
            if limited.is_set() {
                errors.forbidden(&limited, "must be nil if the type is not Limited");
            }
            validate_shares(&exempt, errors);
            validate_lendable(&exempt, errors);
        }
        "Limited" => {
            if exempt.is_set() {
                errors.forbidden(&exempt, "must be nil if the type is Limited");
            }
            if limited.is_set() {
                validate_limited(&limited, errors);
            } else {
                errors.required(&limited, "must not be empty when type is Limited");
            }
        }
        "" => errors.required(&ty, ""),
        _ => errors.not_supported(&ty, &["Exempt", "Limited"]),
    }
}

fn validate_limited(limited: &Node<'_>, errors: &mut Errors) {
    validate_shares(limited, errors);
    let response = limited.at("limitResponse");
    let (ty, queuing) = (response.at("type"), response.at("queuing"));
    match ty.str() {
        "Reject" if queuing.is_set() => {
            let detail = "must be nil if limited.limitResponse.type is not Limited";
            errors.forbidden(&queuing, detail);
        }
        "Reject" => {}
        "Queue" if queuing.is_set() => validate_queuing(&queuing, errors),
        "Queue" => {
            let detail = "must not be empty if limited.limitResponse.type is Limited";
            errors.required(&queuing, detail);
        }
        "" => errors.required(&ty, ""),
        _ => errors.not_supported(&ty, &["Queue", "Reject"]),
    }
    validate_lendable(limited, errors);
    let borrowing = limited.at("borrowingLimitPercent");
    if borrowing.is_set() && borrowing.int() < 0 {
        errors.invalid(&borrowing, "if specified, must be a non-negative integer");
    }
}

fn validate_shares(level: &Node<'_>, errors: &mut Errors) {
    let shares = level.at("nominalConcurrencyShares");
    if shares.int() < 0 {
        errors.invalid(&shares, "must be a non-negative integer");
    }
}

fn validate_lendable(level: &Node<'_>, errors: &mut Errors) {
    let percent = level.at("lendablePercent");
    if !(0..=100).contains(&percent.int()) {
        errors.invalid(&percent, "must be between 0 and 100, inclusive");
    }
}

fn validate_queuing(queuing: &Node<'_>, errors: &mut Errors) {
    let (length, queues, hand) =
        (queuing.at("queueLengthLimit"), queuing.at("queues"), queuing.at("handSize"));
    if length.int() <= 0 {
        errors.invalid(&length, "must be positive");
    }
    if queues.int() <= 0 {
        errors.invalid(&queues, "must be positive");
    } else if queues.int() > QUEUES_MAX {
        errors.invalid(&queues, format!("must not be greater than {QUEUES_MAX}"));
    }
    let (deck_size, hand_size) = (queues.int(), hand.int());
    if hand_size <= 0 {
        errors.invalid(&hand, "must be positive");
    } else if hand_size > deck_size {
        errors.invalid(&hand, format!("should not be greater than queues ({deck_size})"));
    } else if entropy_bits(deck_size, hand_size) > HASH_BITS_MAX {
        let detail = format!(
            "required entropy bits of deckSize {deck_size} and handSize {hand_size} should not be \
             greater than {HASH_BITS_MAX}"
        );
        errors.invalid(&hand, detail);
    }
}

/// How many bits of a hash it takes to deal a hand from a deck.
fn entropy_bits(deck_size: i64, hand_size: i64) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "both are below ten million")]
    let (deck, hand) = (deck_size as f64, hand_size as f64);
    (deck.log2() * hand).ceil()
}

/// Of the exempt level only what it lends may change, of the last one nothing.
fn validate_mandatory(name: &str, spec: &Node<'_>, errors: &mut Errors) {
    let Some(fixed) = mandatory::priority_level(name) else { return };
    if name == "exempt" {
        let is_free = |field: &str| field == "exempt";
        let rest = |from: &Value| {
            let mut rest = from.map().clone();
            rest.retain(|field, _| !is_free(field));
            rest
        };
        if rest(spec.value()) != rest(fixed) {
            let detail = format!(
                "spec of '{name}' except the 'spec.exempt' field must equal the fixed value"
            );
            errors.invalid(spec, detail);
        }
    } else if spec.value() != fixed {
        errors.invalid(spec, format!("spec of '{name}' must equal the fixed value"));
    }
}
