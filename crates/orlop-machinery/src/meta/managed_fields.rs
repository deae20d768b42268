//! Rules of the form of `managedFields`, and of the names of managers.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go`.

use crate::field::{At, Errors};
use crate::node::Node;
use crate::text::is_printable;

/// The longest name of a manager.
pub const FIELD_MANAGER_MAX: usize = 128;
const SUBRESOURCE_MAX: usize = 256;

/// The entries of `managedFields` are well-formed. What fields they name is not looked at.
pub fn validate_managed_fields(entries: &Node<'_>, errors: &mut Errors) {
    for entry in entries.items() {
        let operation = entry.at("operation");
        if !matches!(operation.str(), "Apply" | "Update") {
            errors.invalid_value(&operation, operation.str(), "must be `Apply` or `Update`");
        }
        let fields_type = entry.at("fieldsType");
        if !matches!(fields_type.str(), "" | "FieldsV1") {
            errors.invalid(&fields_type, "must be `FieldsV1`");
        }
        let manager = entry.at("manager");
        validate_field_manager(&manager, manager.str(), errors);
        let subresource = entry.at("subresource");
        if subresource.str().len() > SUBRESOURCE_MAX {
            errors.too_long(&subresource, SUBRESOURCE_MAX);
        }
    }
}

/// The name of a manager is not too long and can be printed. It may be empty.
pub fn validate_field_manager(at: &impl At, manager: &str, errors: &mut Errors) {
    if manager.len() > FIELD_MANAGER_MAX {
        errors.too_long(at, FIELD_MANAGER_MAX);
    }
    // Each error shows the whole name: of one that is too long anyway, one is enough.
    let told_max = if manager.len() > FIELD_MANAGER_MAX { 1 } else { FIELD_MANAGER_MAX };
    let bad = manager.char_indices().filter(|(_, c)| !is_printable(*c));
    for (position, c) in bad.take(told_max) {
        let code = u32::from(c);
        let detail = format!("invalid character U+{code:04X} (at position {position})");
        errors.invalid_value(at, manager, detail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Path;
    use crate::json;

    fn check(text: &str, expect: &[&str]) {
        let value = json::parse(text.as_bytes()).unwrap();
        let mut errors = Errors::new();
        validate_managed_fields(&Node::new(&value, Path::field("f")), &mut errors);
        assert_eq!(errors.to_string().lines().collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn an_entry_is_of_an_apply_or_an_update() {
        check(
            r#"[{"operation": "Apply"}, {"operation": "Update", "fieldsType": "FieldsV1"}]"#,
            &[],
        );
        let operation = "f[0].operation: Invalid value: \"\": must be `Apply` or `Update`";
        check("[{}]", &[operation]);
        let kind = "f[0].fieldsType: Invalid value: \"V2\": must be `FieldsV1`";
        check(r#"[{"operation": "Apply", "fieldsType": "V2"}]"#, &[kind]);
    }

    #[test]
    fn a_manager_is_short_and_printable() {
        let with =
            |field: &str, text: &str| format!(r#"[{{"operation": "Apply", "{field}": "{text}"}}]"#);
        check(&with("manager", &"x".repeat(128)), &[]);
        let long = "f[0].manager: Too long: may not be more than 128 bytes";
        check(&with("manager", &"x".repeat(129)), &[long]);
        let first = "f[0].manager: Invalid value: \"\u{e4}\\tb\\u200b\": invalid character U+0009 \
                     (at position 2)";
        let second = first.replace("0009 (at position 2)", "200B (at position 4)");
        check(&with("manager", r"\u00e4\tb\u200b"), &[first, &second]);
        let tabs = "\\t".repeat(200);
        let bad = format!(
            "f[0].manager: Invalid value: \"{tabs}\": invalid character U+0009 (at position 0)"
        );
        check(&with("manager", &tabs), &[long, &bad]);
        check(&with("subresource", &"x".repeat(256)), &[]);
        let long = "f[0].subresource: Too long: may not be more than 256 bytes";
        check(&with("subresource", &"x".repeat(257)), &[long]);
    }
}
