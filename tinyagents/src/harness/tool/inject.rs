//! How the runtime gives values to a tool, out of the model's sight.
//!
//! Guarantee: what a value needs of the harness is known when its tool is registered, so a run that could not make
//! it does not start.
//!
//! Not here: the values that the library makes itself (`injected`).

use std::any::{TypeId, type_name};

use super::{ToolCall, ToolError, ToolRuntime};

/// A state that holds a `T` which tools may borrow with `#[inject] part: &T`.
///
/// Every state provides itself; `#[derive(ToolState)]` makes a struct provide each of its fields.
#[diagnostic::on_unimplemented(
    message = "the harness state `{Self}` does not provide `{T}`",
    label = "a tool injects `&{T}`, which this state does not have",
    note = "add a field of type `{T}` to the state and put `#[derive(ToolState)]` on it, or use a harness whose \
            state is `{T}`"
)]
pub trait Provide<T: ?Sized> {
    /// Lends the part.
    fn provide(&self) -> &T;
}

#[diagnostic::do_not_recommend]
impl<T> Provide<T> for T {
    fn provide(&self) -> &T {
        self
    }
}

/// What an injected value can be made from.
pub struct InjectContext<'a, State, Ctx = ()> {
    /// The application's state.
    pub state: &'a State,
    /// The call's runtime.
    pub runtime: &'a ToolRuntime<'a, Ctx>,
    /// The call.
    pub call: &'a ToolCall,
}

/// A value that `#[inject] name: Self` makes from the run, for each call.
///
/// ```
/// use tinyagents::harness::tool::{Inject, InjectContext, ToolError};
///
/// /// The tenant that the run works for.
/// struct Tenant(String);
///
/// impl<State, Ctx> Inject<State, Ctx> for Tenant {
///     fn inject(cx: &InjectContext<'_, State, Ctx>) -> Result<Self, ToolError> {
///         let tenant = cx.runtime.ctx.config().metadata.get("tenant").and_then(|value| value.as_str());
///         tenant.map(|name| Self(name.into())).ok_or_else(|| ToolError::fatal("the run has no tenant"))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected into a tool",
    label = "the runtime does not know how to make this value",
    note = "to lend a part of the harness state write `&{Self}`; to make the value for each call implement \
            `tinyagents::harness::tool::Inject` for it",
    note = "a value that is found by a name, such as a `Secret` or a `StoreHandle`, needs the name: \
            `#[inject(\"NAME\")]`"
)]
pub trait Inject<State, Ctx = ()>: Sized {
    /// Makes the value.
    ///
    /// # Errors
    ///
    /// Any [`ToolError`]; it becomes the call's result.
    fn inject(cx: &InjectContext<'_, State, Ctx>) -> Result<Self, ToolError>;

    /// Adds what the value needs of the harness. Needs nothing by default; a type that is made of others passes the
    /// question on to them.
    fn needs(needs: &mut Needs) {
        let _ = needs;
    }
}

/// A value that `#[inject("key")] name: Self` makes from the run and a key, for each call.
///
/// The key is a constant of the tool: no model sees or chooses it.
///
/// ```
/// use tinyagents::harness::credential::Secret;
/// use tinyagents::harness::tool::{InjectContext, InjectKeyed, Needs, ToolError};
///
/// /// A client of a service, with a credential of its own.
/// struct Client(Secret<String>);
///
/// impl<State, Ctx> InjectKeyed<State, Ctx> for Client {
///     fn inject(cx: &InjectContext<'_, State, Ctx>, key: &'static str) -> Result<Self, ToolError> {
///         Ok(Self(InjectKeyed::inject(cx, key)?))
///     }
///
///     fn needs(key: &'static str, needs: &mut Needs) {
///         needs.credential(key);
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected by a key",
    label = "the runtime does not know how to find this value by a name",
    note = "if the value is not found by a name, write `#[inject]` without a key; to find it by one implement \
            `tinyagents::harness::tool::InjectKeyed` for it"
)]
pub trait InjectKeyed<State, Ctx = ()>: Sized {
    /// Makes the value.
    ///
    /// # Errors
    ///
    /// Any [`ToolError`]; it becomes the call's result.
    fn inject(cx: &InjectContext<'_, State, Ctx>, key: &'static str) -> Result<Self, ToolError>;

    /// Adds what the value needs of the harness. Needs nothing by default.
    fn needs(key: &'static str, needs: &mut Needs) {
        let _ = (key, needs);
    }
}

/// What a tool's injected values need of the harness. A run that cannot give it does not start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    credentials: Vec<&'static str>,
    resources: Vec<(TypeId, &'static str)>,
}

impl Needs {
    /// Needs the credential of this name.
    pub fn credential(&mut self, name: &'static str) -> &mut Self {
        if !self.credentials.contains(&name) {
            self.credentials.push(name);
        }
        self
    }

    /// Needs a [`Resource`](crate::harness::resource::Resource) of this type.
    pub fn resource<T: 'static>(&mut self) -> &mut Self {
        let entry = (TypeId::of::<T>(), type_name::<T>());
        if !self.resources.contains(&entry) {
            self.resources.push(entry);
        }
        self
    }

    /// The names of the credentials, in the order in which they were added.
    pub fn credentials(&self) -> &[&'static str] {
        &self.credentials
    }

    /// The types of the resources, with their names for people.
    pub(crate) fn resources(&self) -> &[(TypeId, &'static str)] {
        &self.resources
    }
}
