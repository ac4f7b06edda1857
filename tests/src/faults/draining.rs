//! A turn that cannot go on.
