//! A value that must not be shown.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use secrecy::zeroize::Zeroize;
use secrecy::{ExposeSecret, SecretBox};

/// A value that must not be shown to a model, an event or a log.
///
/// It is not `Serialize`, has no JSON schema and its `Debug` text is always the same; to read it, say so with
/// [`expose_secret`](Self::expose_secret). Clones share the value. Texts and bytes (`String`, `Vec<u8>`) are
/// overwritten when the last clone is dropped; of other types the compiler knows no way to.
///
/// ```
/// use tinyagents::harness::credential::Secret;
///
/// let token = Secret::new("sk-123".to_string());
/// assert_eq!(format!("{token:?}"), "Secret([redacted])");
/// assert_eq!(token.expose_secret(), "sk-123");
/// ```
pub struct Secret<T: 'static>(Arc<SecretBox<Held<T>>>);

/// Gives any value the `Zeroize` that a `SecretBox` asks for.
struct Held<T>(T);

impl<T: 'static> Zeroize for Held<T> {
    fn zeroize(&mut self) {
        let value: &mut dyn Any = &mut self.0;
        if let Some(text) = value.downcast_mut::<String>() {
            text.zeroize();
        } else if let Some(bytes) = value.downcast_mut::<Vec<u8>>() {
            bytes.zeroize();
        }
    }
}

impl<T> Secret<T> {
    /// Hides a value.
    pub fn new(value: T) -> Self {
        Self(Arc::new(SecretBox::new(Box::new(Held(value)))))
    }

    /// The value. What is done with it from here on is in the caller's hands.
    pub fn expose_secret(&self) -> &T {
        &self.0.expose_secret().0
    }
}

impl From<&str> for Secret<String> {
    fn from(text: &str) -> Self {
        Self::new(text.to_string())
    }
}

impl From<String> for Secret<String> {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl<T> Clone for Secret<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret([redacted])")
    }
}
