//! Rules that several kinds share. Each stands once, in the file of what it is about.
