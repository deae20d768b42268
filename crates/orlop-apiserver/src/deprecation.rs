//! Temporary.
pub(crate) fn warn(
    _s: &crate::server::Inner,
    _d: &crate::definition::Definition,
    _i: &crate::request::RequestInfo,
    _w: &crate::call::Warnings,
) {
}
