//! A reference from an object to one that it goes with.
//!
//! After `staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/controller_ref.go`.

use std::borrow::Cow;

use crate::group_version::GroupVersionKind;
use crate::meta::Meta;
use crate::value::Value;

/// An item of `metadata.ownerReferences`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerReference<'a> {
    /// The version in which the owner is named.
    pub api_version: Cow<'a, str>,
    /// The owner's kind.
    pub kind: &'a str,
    /// The owner's name.
    pub name: &'a str,
    /// The owner's uid: another object of the same name is not the owner.
    pub uid: &'a str,
    /// Whether the owner controls the object. At most one does.
    pub controller: Option<bool>,
    /// Whether the owner may not be deleted in the foreground before the object is.
    pub block_owner_deletion: Option<bool>,
}

impl<'a> OwnerReference<'a> {
    /// Reads an item.
    #[must_use]
    pub fn of(item: &'a Value) -> OwnerReference<'a> {
        OwnerReference {
            api_version: Cow::Borrowed(item.at("apiVersion").str()),
            kind: item.at("kind").str(),
            name: item.at("name").str(),
            uid: item.at("uid").str(),
            controller: item.at("controller").as_bool(),
            block_owner_deletion: item.at("blockOwnerDeletion").as_bool(),
        }
    }

    /// What a controller puts into the objects that it makes.
    #[must_use]
    pub fn to_controller(owner: Meta<'a>, kind: &'a GroupVersionKind) -> OwnerReference<'a> {
        OwnerReference {
            api_version: Cow::Owned(kind.api_version()),
            kind: &kind.kind,
            name: owner.name(),
            uid: owner.uid(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }

    /// The item.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut item = Value::from([
            ("apiVersion", self.api_version.as_ref()),
            ("kind", self.kind),
            ("name", self.name),
            ("uid", self.uid),
        ]);
        let flags =
            [("controller", self.controller), ("blockOwnerDeletion", self.block_owner_deletion)];
        for (field, flag) in flags {
            if let Some(flag) = flag {
                item.set(field, flag);
            }
        }
        item
    }

    /// Whether the owner controls the object.
    #[must_use]
    pub fn is_controller(&self) -> bool {
        self.controller == Some(true)
    }

    /// What kind the owner is.
    #[must_use]
    pub fn group_version_kind(&self) -> GroupVersionKind {
        GroupVersionKind::from_api_version_and_kind(&self.api_version, self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn a_controller_refers_to_itself_in_its_own_version() {
        let owner = json::parse(br#"{"metadata": {"name": "web", "uid": "1"}}"#).unwrap();
        let kind = GroupVersionKind::new("apps", "v1", "ReplicaSet");
        let reference = OwnerReference::to_controller(Meta::of(&owner), &kind);
        let expect = br#"{"apiVersion": "apps/v1", "blockOwnerDeletion": true,
            "controller": true, "kind": "ReplicaSet", "name": "web", "uid": "1"}"#;
        assert_eq!(reference.to_value(), json::parse(expect).unwrap());
        assert!(reference.is_controller());
        assert_eq!(reference.group_version_kind(), kind);
    }

    #[test]
    fn unset_and_false_flags_are_told_apart() {
        for text in [
            r#"{"apiVersion": "v1", "kind": "A", "name": "a", "uid": "1"}"#,
            r#"{"apiVersion": "v1", "kind": "A", "name": "a", "uid": "1", "controller": false,
                "blockOwnerDeletion": false}"#,
        ] {
            let item = json::parse(text.as_bytes()).unwrap();
            assert_eq!(OwnerReference::of(&item).to_value(), item);
        }
    }
}
