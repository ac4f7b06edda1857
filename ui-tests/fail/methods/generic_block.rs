//! Blocks of generic types: a parameter, a lifetime, and a lifetime that is left out.

use tinyagents::prelude::*;

struct Store<T>(T);

#[tools]
impl<T: Send + Sync + 'static> Store<T> {
    /// Get.
    #[tool]
    async fn get(&self) {
        let _ = &self.0;
    }
}

struct View<'a>(&'a str);

#[tools]
impl<'a> View<'a> {
    /// Get.
    #[tool]
    async fn get(&self) -> String {
        self.0.into()
    }
}

struct Other<'a>(&'a str);

#[tools]
impl Other<'_> {
    /// Get.
    #[tool]
    async fn get(&self) -> String {
        self.0.into()
    }
}

fn main() {
    let _ = (Store(1).get(), View("").get(), Other("").get());
}
