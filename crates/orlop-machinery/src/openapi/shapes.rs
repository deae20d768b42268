//! What operations of one kind have in common, whatever they work on.
//!
//! After the cases of `registerResourceHandlers` in upstream's
//! `apiserver/pkg/endpoints/installer.go`.

/// A status code with its name.
pub(super) type Code = (&'static str, &'static str);

/// What all operations of one kind have in common.
pub(super) struct Shape {
    pub(super) method: &'static str,
    pub(super) action: &'static str,
    /// The words of the id before the group version, after it, and after the kind.
    pub(super) words: (&'static str, &'static str, &'static str),
    /// The structs of the package of options whose fields are parameters.
    pub(super) options: &'static [&'static str],
    /// Fields of them that are not.
    pub(super) without: &'static [&'static str],
    pub(super) takes: Payload,
    pub(super) gives: Payload,
    pub(super) codes: &'static [Code],
    pub(super) streams: bool,
}

/// What an operation takes or gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Payload {
    Nothing,
    Object,
    List,
    Event,
    Patch,
    DeleteOptions,
    Status,
    /// The object or a status, as the kind does it.
    Deleted,
}

pub(super) const OK: Code = ("200", "OK");
const CREATED: Code = ("201", "Created");
const ACCEPTED: Code = ("202", "Accepted");

/// The ways in which objects are encoded.
pub(super) const MEDIA: [&str; 3] =
    ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/// The same, and the ways in which a stream of objects is encoded.
pub(super) const MEDIA_AND_STREAMS: [&str; 5] = [
    MEDIA[0],
    MEDIA[1],
    MEDIA[2],
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
];

pub(super) const TEXT_AND_MEDIA: [&str; 4] = ["text/plain", MEDIA[0], MEDIA[1], MEDIA[2]];

pub(super) const PATCHES: [&str; 4] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

/// The ways in which custom resources are encoded.
pub(super) const CUSTOM_MEDIA: [&str; 2] = [MEDIA[0], MEDIA[1]];

/// How custom resources can be patched.
pub(super) const CUSTOM_PATCHES: [&str; 3] = [PATCHES[0], PATCHES[1], PATCHES[3]];

/// Whatever comes.
pub(super) const ANYTHING: [&str; 1] = ["*/*"];

const BLANK: Shape = Shape {
    method: "get",
    action: "get",
    words: ("read", "", ""),
    options: &[],
    without: &[],
    takes: Payload::Nothing,
    gives: Payload::Object,
    codes: &[OK],
    streams: false,
};

pub(super) const GET: Shape = BLANK;

pub(super) const LIST: Shape = Shape {
    action: "list",
    words: ("list", "", ""),
    options: &["ListOptions"],
    gives: Payload::List,
    streams: true,
    ..BLANK
};

pub(super) const WATCH: Shape =
    Shape { action: "watch", words: ("watch", "", ""), gives: Payload::Event, ..LIST };

pub(super) const WATCH_LIST: Shape =
    Shape { action: "watchlist", words: ("watch", "", "List"), gives: Payload::Event, ..LIST };

pub(super) const POST: Shape = Shape {
    method: "post",
    action: "post",
    words: ("create", "", ""),
    options: &["CreateOptions"],
    takes: Payload::Object,
    codes: &[OK, CREATED, ACCEPTED],
    ..BLANK
};

pub(super) const PUT: Shape = Shape {
    method: "put",
    action: "put",
    words: ("replace", "", ""),
    options: &["UpdateOptions"],
    takes: Payload::Object,
    codes: &[OK, CREATED],
    ..BLANK
};

pub(super) const PATCH: Shape = Shape {
    method: "patch",
    action: "patch",
    words: ("patch", "", ""),
    options: &["PatchOptions"],
    takes: Payload::Patch,
    codes: &[OK, CREATED],
    ..BLANK
};

pub(super) const DELETE: Shape = Shape {
    method: "delete",
    action: "delete",
    words: ("delete", "", ""),
    options: &["DeleteOptions"],
    takes: Payload::DeleteOptions,
    gives: Payload::Deleted,
    codes: &[OK, ACCEPTED],
    ..BLANK
};

pub(super) const DELETE_COLLECTION: Shape = Shape {
    action: "deletecollection",
    words: ("delete", "Collection", ""),
    options: &["DeleteOptions", "ListOptions"],
    without: &["watch", "allowWatchBookmarks"],
    gives: Payload::Status,
    codes: &[OK],
    ..DELETE
};
