//! What the query of a request asks for.

use orlop_machinery::Str;
use orlop_machinery::field_selector::FieldSelector;
use orlop_machinery::label_selector::LabelSelector;

/// The options of a list or watch.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListOptions {
    pub label_selector: LabelSelector,
    pub field_selector: FieldSelector,
    pub watch: bool,
    pub allow_watch_bookmarks: bool,
    pub resource_version: Str,
    pub resource_version_match: Str,
    pub timeout_seconds: Option<i64>,
    pub limit: i64,
    pub continue_token: Str,
    pub send_initial_events: Option<bool>,
    pub history: bool,
}
