//! What an operation of the API takes and gives, before it is written in one version of OpenAPI.

use super::shapes::{
    ANYTHING, CUSTOM_MEDIA, CUSTOM_PATCHES, Code, MEDIA, MEDIA_AND_STREAMS, OK, PATCHES, Payload,
    Shape, TEXT_AND_MEDIA,
};
use super::{Documents, GroupVersionKind, META, list_name, package};
use crate::kind::{Resource, Subresource};
use crate::schema::{Struct, Type};
use crate::value::{Str, Value};

/// An operation.
#[derive(Clone)]
pub(super) struct Operation<'a> {
    /// The method of HTTP, in lower case.
    pub(super) method: &'static str,
    /// Unique in all documents.
    pub(super) id: String,
    /// Its group version, as one word.
    pub(super) tag: Str,
    /// What it does and to which kind; none for discovery.
    pub(super) action: Option<(&'static str, GroupVersionKind<'a>)>,
    /// Sorted.
    pub(super) parameters: Vec<Parameter>,
    /// What it takes.
    pub(super) body: Option<Body>,
    /// The media types that it takes.
    pub(super) consumes: &'static [&'static str],
    /// The media types that it gives.
    pub(super) produces: &'static [&'static str],
    /// How it answers when all is well.
    pub(super) codes: &'static [Code],
    /// What it gives: the name of a struct, or none for text.
    pub(super) gives: Option<Str>,
}

/// A parameter in the path or in the query. Sorts by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parameter {
    pub(super) name: Str,
    /// `path` or `query`.
    pub(super) place: &'static str,
    /// The type in OpenAPI.
    pub(super) ty: &'static str,
}

/// What an operation takes.
#[derive(Clone)]
pub(super) struct Body {
    /// The name of a struct.
    pub(super) name: Str,
    pub(super) is_required: bool,
}

/// What operations work on: the objects of a resource, or a subresource of them.
pub(super) struct Target<'a> {
    documents: &'a Documents<'a>,
    /// The group version as part of an id, and as a tag.
    group_version: (String, Str),
    resource: &'a Resource,
    subresource: Option<&'a Subresource>,
    /// The kind of what is read and written.
    kind: GroupVersionKind<'a>,
    /// The struct of what is read and written.
    object: Str,
}

/// Where an operation is.
pub(super) struct Place {
    pub(super) path: String,
    /// Those in the path.
    pub(super) parameters: Vec<Parameter>,
    /// `Namespaced` or nothing.
    pub(super) scope: &'static str,
    /// At the end of an id.
    pub(super) suffix: &'static str,
}

impl<'a> Target<'a> {
    pub(super) fn new(
        documents: &'a Documents<'a>,
        resource: &'a Resource,
        subresource: Option<&'a Subresource>,
    ) -> Target<'a> {
        let own = GroupVersionKind {
            group: &resource.group,
            version: &resource.version,
            kind: &resource.kind,
        };
        let other = subresource.and_then(|subresource| subresource.kind);
        let (kind, object) = match other {
            None => (own, resource.schema_name.clone()),
            Some((group, version, kind)) => {
                let kind = GroupVersionKind { group, version, kind };
                (kind, documents.struct_name(kind).unwrap_or_else(|| Str::new(kind.kind)))
            }
        };
        let group_version = (
            group_version_id(&resource.group, &resource.version),
            tag(&resource.group, &resource.version),
        );
        Target { documents, group_version, resource, subresource, kind, object }
    }

    /// The struct of the options of a connection, when that is what this is.
    pub(super) fn connect_options(&self) -> Option<&'a Struct> {
        self.subresource?.kind?;
        let id = self.documents.schema.find(&self.object)?;
        let found = self.documents.schema.get(id);
        (self.object.ends_with("Options") && found.field("metadata").is_none()).then_some(found)
    }

    /// The struct of the options of a text that can be read: named after the kind and the
    /// subresource.
    fn text_options(&self) -> Option<&'a Struct> {
        let subresource = self.subresource.filter(|subresource| subresource.kind.is_none())?;
        let package = package(&self.object);
        let name = format!("{}{}Options", self.resource.kind, title(subresource.name));
        let id = self.documents.schema.find(&format!("{package}.{name}"))?;
        Some(self.documents.schema.get(id))
    }

    /// An operation at a place.
    pub(super) fn operation(&self, shape: &Shape, place: &Place) -> Operation<'a> {
        let is_custom = self.documents.is_custom(self.resource);
        let text = self.text_options().filter(|_| shape.action == "get");
        let mut parameters = place.parameters.clone();
        parameters.push(Parameter { name: "pretty".into(), place: "query", ty: "string" });
        for options in shape.options {
            let id = self.documents.schema.find(&format!("{META}.{options}"));
            let options = id.map(|id| self.documents.schema.get(id));
            parameters.extend(options.into_iter().flat_map(query));
        }
        parameters.extend(text.into_iter().flat_map(query));
        parameters.retain(|parameter| !shape.without.contains(&parameter.name.as_str()));
        parameters.sort();
        parameters.dedup();
        Operation {
            method: shape.method,
            id: self.id(shape.words, place),
            tag: self.group_version.1.clone(),
            action: Some((shape.action, self.kind)),
            parameters,
            body: self
                .payload(shape.takes)
                .map(|name| Body { name, is_required: shape.takes != Payload::DeleteOptions }),
            consumes: match (shape.takes, is_custom) {
                (Payload::Patch, true) => &CUSTOM_PATCHES,
                (Payload::Patch, false) => &PATCHES,
                (_, true) => &CUSTOM_MEDIA,
                (_, false) => &ANYTHING,
            },
            produces: match text {
                Some(_) => &TEXT_AND_MEDIA,
                None if is_custom => &CUSTOM_MEDIA,
                None if shape.streams => &MEDIA_AND_STREAMS,
                None => &MEDIA,
            },
            codes: shape.codes,
            gives: if text.is_some() { None } else { self.payload(shape.gives) },
        }
    }

    /// A connection with a method of HTTP.
    pub(super) fn connection(&self, method: &'static str, place: &Place) -> Operation<'a> {
        let mut parameters = place.parameters.clone();
        parameters.extend(self.connect_options().into_iter().flat_map(query));
        parameters.sort();
        Operation {
            method,
            id: self.id(("connect", &title(method), ""), place),
            tag: self.group_version.1.clone(),
            action: Some(("connect", self.kind)),
            parameters,
            body: None,
            consumes: &ANYTHING,
            produces: &ANYTHING,
            codes: &[OK],
            gives: None,
        }
    }

    fn id(&self, words: (&str, &str, &str), place: &Place) -> String {
        let (before, after, last) = words;
        let subresource = self.subresource.map_or_else(String::new, |of| title(of.name));
        let kind = &self.resource.kind;
        let Place { scope, suffix, .. } = place;
        format!("{before}{}{after}{scope}{kind}{subresource}{last}{suffix}", self.group_version.0)
    }

    fn payload(&self, payload: Payload) -> Option<Str> {
        let in_meta = |name: &str| Some(Str::from(format!("{META}.{name}")));
        match payload {
            Payload::Nothing => None,
            Payload::Object => Some(self.object.clone()),
            Payload::List => Some(list_name(self.resource)),
            Payload::Event => in_meta("WatchEvent"),
            Payload::Patch => in_meta("Patch"),
            Payload::DeleteOptions => in_meta("DeleteOptions"),
            Payload::Deleted if self.resource.returns_deleted => Some(self.object.clone()),
            Payload::Deleted | Payload::Status => in_meta("Status"),
        }
    }
}

/// Reads what can be found at a place: a struct of [`META`].
pub(super) fn discovery(id: String, tag: Str, gives: &str) -> Operation<'static> {
    Operation {
        method: "get",
        id,
        tag,
        action: None,
        parameters: Vec::new(),
        body: None,
        consumes: &MEDIA,
        produces: &MEDIA,
        codes: &[OK],
        gives: Some(Str::from(format!("{META}.{gives}"))),
    }
}

/// The fields of options as parameters: those that hold text, a number or a truth, or a list of
/// such.
fn query(options: &Struct) -> impl Iterator<Item = Parameter> {
    options.in_order().filter(|field| field.tag.is_some()).filter_map(|field| {
        let ty = match &field.ty {
            Type::List(list) => &list.item,
            ty => ty,
        };
        let ty = match ty {
            Type::Bool => "boolean",
            Type::Int32 | Type::Int64 => "integer",
            Type::Float64 => "number",
            Type::String => "string",
            _ => return None,
        };
        Some(Parameter { name: field.name.clone(), place: "query", ty })
    })
}

/// `AppsV1`: the group version as part of an id.
pub(super) fn group_version_id(group: &str, version: &str) -> String {
    let mut id = words_of_group(group, true);
    push_word(&mut id, version, true);
    id
}

/// `apps_v1`, or `apps` without a version.
pub(super) fn tag(group: &str, version: &str) -> Str {
    let mut tag = words_of_group(group, false);
    if !version.is_empty() {
        tag.push('_');
        push_word(&mut tag, version, false);
    }
    Str::from(tag)
}

fn words_of_group(group: &str, starts_with_capital: bool) -> String {
    let mut words = String::new();
    let group = if group.is_empty() { "core" } else { group };
    let short = group.strip_suffix(".k8s.io").unwrap_or(group);
    push_word(&mut words, short, starts_with_capital);
    words
}

/// Adds letters and digits; what stands between them makes the next letter a capital.
fn push_word(words: &mut String, text: &str, starts_with_capital: bool) {
    let mut is_capital = starts_with_capital;
    for (at, letter) in text.char_indices() {
        if letter.is_alphabetic() || letter == '_' || (at != 0 && letter.is_ascii_digit()) {
            words.push(if is_capital { letter.to_ascii_uppercase() } else { letter });
            is_capital = false;
        } else {
            is_capital = true;
        }
    }
}

/// The word with a capital and then small letters.
fn title(word: &str) -> String {
    super::schemas::capitalize(&word.to_ascii_lowercase())
}

/// What both versions of OpenAPI write alike.
pub(super) fn render_head(operation: &Operation<'_>) -> Vec<(Str, Value)> {
    let mut entries = vec![
        (Str::const_new("operationId"), Value::from(operation.id.as_str())),
        (Str::const_new("tags"), vec![operation.tag.clone()].into()),
    ];
    if let Some((action, kind)) = operation.action {
        entries.push((Str::const_new("x-kubernetes-action"), action.into()));
        entries.push((Str::const_new("x-kubernetes-group-version-kind"), kind.into()));
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_become_words_of_ids_and_tags() {
        let check = |group: &str, id: &str, word: &str| {
            assert_eq!(group_version_id(group, "v1"), id);
            assert_eq!(tag(group, "v1"), word);
        };
        check("", "CoreV1", "core_v1");
        check("apps", "AppsV1", "apps_v1");
        check("rbac.authorization.k8s.io", "RbacAuthorizationV1", "rbacAuthorization_v1");
        check("stable.example-1.com", "StableExample1ComV1", "stableExample1Com_v1");
        assert_eq!(tag("apps", ""), "apps");
    }
}
