//! Which objects a client wants to see: where they are, and what selectors say.
//!
//! After `staging/src/k8s.io/apiserver/pkg/storage/selection_predicate.go`.

use std::sync::Arc;

use orlop_machinery::Str;
use orlop_machinery::field_selector::FieldSelector;
use orlop_machinery::label_selector::LabelSelector;
use orlop_machinery::status::Status;
use orlop_machinery::text::quote;
use orlop_storage::KeyRange;

use crate::definition::Definition;
use crate::object::Object;

/// Which keys of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of them.
    All,
    /// Those of a namespace.
    Namespace(Str),
    /// One key.
    One(String),
}

/// Which objects among those.
pub(crate) struct Filter {
    definition: Arc<Definition>,
    labels: LabelSelector,
    fields: FieldSelector,
    /// For each requirement on fields, where its value comes from.
    sources: Vec<Source>,
}

/// Where the value of a selectable field comes from.
#[derive(Clone, Copy)]
enum Source {
    Name,
    Namespace,
    /// The place in what the kind lists.
    Listed(usize),
}

const NAME: &str = "metadata.name";
const NAMESPACE: &str = "metadata.namespace";

impl Scope {
    /// The keys that a request for `namespace` (empty for all) and a selector can be about.
    pub(crate) fn new(definition: &Definition, namespace: &str, fields: &FieldSelector) -> Scope {
        let namespace = match namespace {
            "" if definition.is_namespaced() => fields.requires_exact_match(NAMESPACE),
            namespace => Some(namespace),
        };
        let namespace = namespace.unwrap_or_default();
        let is_placed = !definition.is_namespaced() || !namespace.is_empty();
        match fields.requires_exact_match(NAME) {
            Some(name) if is_placed && !name.is_empty() && !name.contains('/') => {
                Scope::One(definition.key(namespace, name))
            }
            _ if definition.is_namespaced() && !namespace.is_empty() => {
                Scope::Namespace(Str::new(namespace))
            }
            _ => Scope::All,
        }
    }

    /// The keys in the store.
    pub(crate) fn range(&self, definition: &Definition) -> KeyRange {
        match self {
            Scope::All => KeyRange::prefix(definition.storage.prefix.clone()),
            Scope::Namespace(namespace) => KeyRange::prefix(definition.prefix(namespace)),
            Scope::One(key) => KeyRange::key(key.clone()),
        }
    }
}

impl Filter {
    /// What selectors say about objects of a definition.
    ///
    /// # Errors
    ///
    /// When a field cannot be asked for.
    pub(crate) fn new(
        definition: &Arc<Definition>,
        labels: LabelSelector,
        fields: FieldSelector,
    ) -> Result<Filter, Status> {
        let source = |name: &str| source(definition, name);
        let terms = fields.requirements().iter();
        let sources = terms.map(|term| source(&term.field)).collect::<Result<_, Status>>()?;
        Ok(Filter { definition: definition.clone(), labels, fields, sources })
    }

    /// Whether every object is wanted.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }

    /// Whether an object is wanted.
    pub(crate) fn matches(&self, object: &Object) -> bool {
        let has_labels =
            self.labels.is_everything() || self.labels.matches_by(|key| object.label(key));
        has_labels && self.has_fields(object)
    }

    fn has_fields(&self, object: &Object) -> bool {
        if self.fields.is_everything() {
            return true;
        }
        if self.fields.is_nothing() {
            return false;
        }
        self.fields.requirements().iter().zip(&self.sources).all(|(term, source)| {
            let value = match source {
                Source::Name => self.names(object).1,
                Source::Namespace => self.names(object).0,
                Source::Listed(place) => object.fields(&self.definition)[*place].as_bytes(),
            };
            (value == term.value.as_bytes()) != term.is_negated
        })
    }

    /// Namespace and name of an object: its key has them.
    fn names<'a>(&self, object: &'a Object) -> (&'a [u8], &'a [u8]) {
        let key = object.key();
        let rest = key.get(self.definition.storage.prefix.len()..).unwrap_or_default();
        match rest.iter().position(|byte| *byte == b'/') {
            Some(slash) if self.definition.is_namespaced() => (&rest[..slash], &rest[slash + 1..]),
            _ => (&[], rest),
        }
    }
}

fn source(definition: &Definition, name: &str) -> Result<Source, Status> {
    let listed = definition.kind.selectable_names();
    match name {
        NAME => return Ok(Source::Name),
        // Kinds of the cluster that list their fields do not list this one.
        NAMESPACE if definition.is_namespaced() || listed.is_empty() => {
            return Ok(Source::Namespace);
        }
        _ => {}
    }
    let place = listed.iter().position(|field| *field == name);
    place.map(Source::Listed).ok_or_else(|| {
        Status::bad_request(match listed.as_slice() {
            [] => format!(
                "{} is not a known field selector: only {}, {}",
                quote(name),
                quote(NAME),
                quote(NAMESPACE)
            ),
            _ => format!("field label not supported: {name}"),
        })
    })
}

#[cfg(test)]
mod tests {
    use orlop_storage::Revision;

    use super::*;
    use crate::catalog::Catalog;

    fn definition(plural: &str) -> Arc<Definition> {
        Catalog::built_in().find("", "v1", plural).unwrap().clone()
    }

    fn pod() -> Object {
        let stored = concat!(
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","#,
            r#""labels":{"app":"web"}},"spec":{"nodeName":"one","containers":null},"status":{}}"#
        );
        Object::written(b"/registry/pods/n/a", stored.as_bytes(), Revision(1))
    }

    #[test]
    fn selectors_see_labels_names_and_fields() {
        let check = |labels: &str, fields: &str, expect: bool| {
            let (labels, fields) = (labels.parse().unwrap(), fields.parse().unwrap());
            let filter = Filter::new(&definition("pods"), labels, fields).unwrap();
            assert_eq!(filter.matches(&pod()), expect);
        };
        check("", "", true);
        check("app=web", "spec.nodeName=one,metadata.name=a,metadata.namespace=n", true);
        check("app=other", "", false);
        check("!app", "", false);
        check("", "spec.nodeName!=one", false);
        check("", "metadata.name=b", false);
        check("", "metadata.namespace!=n", false);
    }

    #[test]
    fn unknown_fields_are_refused_in_upstreams_words() {
        let check = |plural: &str, fields: &str, expect: &str| {
            let fields = fields.parse().unwrap();
            let filter = Filter::new(&definition(plural), LabelSelector::everything(), fields);
            assert_eq!(filter.err().unwrap().message, expect);
        };
        check("pods", "spec.foo=1", "field label not supported: spec.foo");
        check(
            "namespaces",
            "metadata.namespace=a",
            "field label not supported: metadata.namespace",
        );
        check(
            "configmaps",
            "a=1",
            r#""a" is not a known field selector: only "metadata.name", "metadata.namespace""#,
        );
    }

    #[test]
    fn a_name_and_its_namespace_are_one_key() {
        let check = |plural: &str, namespace: &str, fields: &str, expect: Scope| {
            let fields = fields.parse().unwrap();
            assert_eq!(Scope::new(&definition(plural), namespace, &fields), expect);
        };
        check("pods", "", "", Scope::All);
        check("pods", "n", "", Scope::Namespace("n".into()));
        check("pods", "", "metadata.namespace=n", Scope::Namespace("n".into()));
        check("pods", "", "metadata.name=a", Scope::All);
        check("pods", "n", "metadata.name=a", Scope::One("/registry/pods/n/a".into()));
        check("nodes", "", "metadata.name=a", Scope::One("/registry/minions/a".into()));
        check("nodes", "", "metadata.name=a/b", Scope::All);
    }
}
