//! The list of the kinds of a group.

/// Declares the files of a group's kinds and makes the list of them. Each file has a
/// `pub(crate) static KIND`.
macro_rules! kinds {
    ($($name:ident),* $(,)?) => {
        $(pub(crate) mod $name;)*

        /// The kinds of this group.
        pub(crate) static KINDS: &[&dyn orlop_machinery::kind::Kind] = &[$(&$name::KIND),*];
    };
}
