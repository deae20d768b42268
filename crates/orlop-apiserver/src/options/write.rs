//! What a create, an update and a patch ask for.
//!
//! After `CreateOptions`, `UpdateOptions` and `PatchOptions` of
//! `staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/types.go`.

use orlop_machinery::field::Errors;
use orlop_machinery::meta::{
    validate_apply_options, validate_create_options, validate_patch_options,
    validate_update_options,
};
use orlop_machinery::node::Node;
use orlop_machinery::status::Status;
use orlop_machinery::strict::FieldValidation;
use orlop_machinery::{Str, Value};

use super::refuse;
use crate::query::Query;

/// What a write asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WriteOptions {
    /// Whether nothing is to be kept.
    pub dry_run: bool,
    /// Who writes; empty when the request does not say.
    pub field_manager: Str,
    /// What happens to fields that nobody knows.
    pub field_validation: FieldValidation,
    /// Whether an apply takes fields from their managers, if it says.
    pub force: Option<bool>,
}

/// The write whose options they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteVerb {
    /// A new object.
    Create,
    /// An object instead of another.
    Update,
    /// A patch that is not an apply.
    Patch,
    /// An apply.
    Apply,
}

impl WriteVerb {
    fn kind(self) -> &'static str {
        match self {
            WriteVerb::Create => "CreateOptions",
            WriteVerb::Update => "UpdateOptions",
            WriteVerb::Patch | WriteVerb::Apply => "PatchOptions",
        }
    }

    fn rule(self) -> fn(&Node<'_>, &mut Errors) {
        match self {
            WriteVerb::Create => validate_create_options,
            WriteVerb::Update => validate_update_options,
            WriteVerb::Patch => validate_patch_options,
            WriteVerb::Apply => validate_apply_options,
        }
    }

    fn knows_force(self) -> bool {
        matches!(self, WriteVerb::Patch | WriteVerb::Apply)
    }
}

impl WriteOptions {
    /// Reads and judges the parameters of a write.
    ///
    /// # Errors
    ///
    /// An invalid request, as upstream says it.
    pub(crate) fn parse(query: &str, verb: WriteVerb) -> Result<WriteOptions, Status> {
        let query = Query::parse(query);
        let dry_run: Vec<&str> = query.all("dryRun").collect();
        let field_manager = query.text("fieldManager");
        let field_validation = query.text("fieldValidation");
        let force = query.truth("force").filter(|_| verb.knows_force());
        let value = Value::from([
            ("dryRun", Value::from(dry_run.clone())),
            ("fieldManager", Value::from(field_manager)),
            ("fieldValidation", Value::from(field_validation)),
            ("force", Value::from(force)),
        ]);
        let mut errors = Errors::new();
        verb.rule()(&Node::root(&value), &mut errors);
        refuse(verb.kind(), &errors)?;
        Ok(WriteOptions {
            dry_run: !dry_run.is_empty(),
            field_manager: Str::new(field_manager),
            field_validation: FieldValidation::parse(field_validation).unwrap_or_default(),
            force,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refuses(verb: WriteVerb, query: &str, expect: &str) {
        let status = WriteOptions::parse(query, verb).unwrap_err();
        assert_eq!((status.code, status.message.as_str()), (422, expect), "{query}");
    }

    #[test]
    fn all_parameters_are_read() {
        let check = |query: &str, verb: WriteVerb, expect: WriteOptions| {
            assert_eq!(WriteOptions::parse(query, verb).unwrap(), expect, "{query}");
        };
        for verb in [WriteVerb::Create, WriteVerb::Update, WriteVerb::Patch] {
            check("", verb, WriteOptions::default());
            let expect = WriteOptions {
                dry_run: true,
                field_manager: "me".into(),
                field_validation: FieldValidation::Strict,
                force: None,
            };
            check("dryRun=All&fieldManager=me&fieldValidation=Strict", verb, expect);
        }
        let expect = WriteOptions {
            field_manager: "me".into(),
            force: Some(true),
            ..WriteOptions::default()
        };
        check("fieldManager=me&force=true", WriteVerb::Apply, expect);
        check("force=true", WriteVerb::Create, WriteOptions::default());
    }

    #[test]
    fn what_makes_no_sense_is_invalid() {
        refuses(
            WriteVerb::Create,
            "dryRun=Some",
            "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: \
             supported values: \"All\"",
        );
        refuses(
            WriteVerb::Update,
            "dryRun=",
            "UpdateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"\"]: \
             supported values: \"All\"",
        );
        refuses(
            WriteVerb::Patch,
            "force=false",
            "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for \
             non-apply patch",
        );
        refuses(
            WriteVerb::Apply,
            "force=true",
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required \
             for apply patch",
        );
        refuses(
            WriteVerb::Create,
            "fieldValidation=strict",
            "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \
             \"strict\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"",
        );
        let long = format!("fieldManager={}", "a".repeat(129));
        let status = WriteOptions::parse(&long, WriteVerb::Create).unwrap_err();
        assert!(status.message.contains("may not be more than 128 bytes"), "{status}");
    }
}
