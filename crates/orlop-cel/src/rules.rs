//! Rules of custom resources: `x-kubernetes-validations`.

pub mod field_path;
