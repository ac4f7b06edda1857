//! From the plan to tokens, without a decision.
//!
//! Guarantee: every name that is not the user's own goes through `__private`, and every name that is introduced
//! is either hygienic or begins with `__`, so nothing a user shadows or names alike matters.
//!
//! Not here: anything the plan does not say. Spans are the user's place with the macro's hygiene
//! (`resolved_at`): errors point at the user's code, and lints know that the macro wrote it.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;

use super::kind::Pass;
use super::lower::{Arg, Body, Fallback, Field, Origin, Passed, Plan, Setting};
use super::method::Method;

/// Writes the function and its tool.
pub(crate) fn tokens(plan: &Plan) -> TokenStream {
    let Plan { krate, function, vis, type_ident, carried, .. } = plan;
    let cfg = plan.carried.iter().filter(|attr| attr.path().is_ident("cfg"));
    // Imported under one short name, since it is written dozens of times a tool.
    let p = &private(Span::call_site());
    let args = plan.args.iter().enumerate().map(|(index, arg)| constant(p, index, arg));
    let table = table(p, plan);
    let inherent = inherent(p, plan);
    // At the function's name, where the compiler then says that a type of this name exists already.
    let span = located(plan.function_ident.span());
    let declared = Method::declaration(plan.method.as_ref(), krate, vis, type_ident, span);
    let owner = plan.method.as_ref().map(|method| method.items(p, type_ident));
    let implementation = implementation(p, plan);
    quote! {
        #function

        #(#carried)*
        #declared

        #(#cfg)*
        #[allow(deprecated, unused_imports, dead_code, clippy::must_use_candidate)]
        const _: () = {
            use #krate::__private as #p;
            use #p::methods::*;

            #owner
            #(#args)*
            #table
            #inherent
            #implementation
        };
    }
}

/// The constant that describes a parameter: the one place where its type is bound.
fn constant(p: &TokenStream, index: usize, arg: &Arg) -> TokenStream {
    let Arg { cfg, name, description, owned, default, .. } = arg;
    let ident = entry(index);
    let ty = owned.tokens(p);
    let (first, last) = owned.ends();
    let p_first = private(first);
    let plain = arg.with.is_none() && arg.schema_with.is_none();
    let of = match (&arg.with, &arg.schema_with, default) {
        _ if arg.flat => quote_spanned!(located(last)=> ::Arg::flattened(#name)),
        (None, None, None) => quote_spanned!(located(last)=> ::Arg::of(#name, #description)),
        (None, None, Some(_)) => quote_spanned!(located(last)=> ::Arg::defaulted(#name, #description)),
        (Some(_), None, _) => quote_spanned!(located(last)=> ::Arg::shown(#name, #description)),
        (None, Some(_), _) => quote_spanned!(located(last)=> ::Arg::readable(#name, #description)),
        (Some(_), Some(_), _) => quote_spanned!(located(last)=> ::Arg::bare(#name, #description)),
    };
    let [value, property] = ["value", "property"].map(local);
    let schema_with = arg.schema_with.as_ref().map(|function| quote!(.schema_with(#function)));
    let words = arg.words.iter().map(|(method, value)| {
        let method = format_ident!("{method}");
        quote!(#property.#method(#value);)
    });
    let words = (!arg.words.is_empty()).then(|| quote!(.words(|#property| { #(#words)* })));
    let aliases = &arg.aliases;
    let aliases = (!aliases.is_empty()).then(|| quote!(.aliases(&[#(#aliases),*])));
    let not_secret = arg.not_secret.then(|| quote!(.not_secret()));
    let mut made = quote!(#p_first #of #schema_with #words #aliases #not_secret);
    // What gives a value stands outermost, where the constant's type reaches it: a value of another type is then
    // the error, at the value.
    if let Some((function, _)) = &arg.with {
        let read = quote_spanned!(located(syn::spanned::Spanned::span(function))=> #function(#value));
        made = quote!(#p::Arg::with(#made, |#value| #read));
    }
    match default {
        None if arg.with.as_ref().is_some_and(|(_, optional)| *optional) => {
            made = quote!(#p::Arg::or(#made, || #p::None));
        }
        None => {}
        Some(default) => {
            let default = match default {
                Fallback::Value(value) => value.clone(),
                Fallback::OfType => quote_spanned!(located(first)=> #p_first::Default::default()),
                Fallback::From(text) => {
                    let p = private(text.span());
                    quote_spanned!(located(text.span())=> #p::From::from(#text))
                }
            };
            let or = format_ident!("{}", if plain { "or" } else { "or_shown" });
            made = quote!(#p::Arg::#or(#made, || #default));
        }
    }
    quote! {
        #(#cfg)*
        const #ident: #p::Arg<#ty> = #made;
    }
}

fn table(p: &TokenStream, plan: &Plan) -> TokenStream {
    let Plan { name, description, .. } = plan;
    let args = plan.args.iter().enumerate().map(|(index, arg)| {
        let (cfg, ident) = (&arg.cfg, entry(index));
        quote!(#(#cfg)* &#ident)
    });
    let injected = plan.injected.iter().map(|(name, kind)| quote!((#name, #kind)));
    let injected = (!plan.injected.is_empty()).then(|| quote!(.injected(&[#(#injected),*])));
    let format = format_ident!("{}", plan.format);
    let format = (plan.format != "Json").then(|| quote!(.format(#p::Shown::#format)));
    let policy = local("policy");
    let settings = plan.policy.iter().map(|(field, setting)| assignment(p, &policy, *field, setting));
    let classified = format_ident!("{}", if plan.classified { "classified" } else { "unclassified" });
    let policy = match (plan.classified, plan.policy.is_empty()) {
        (false, true) => None,
        (true, true) => Some(quote!(.classified(|_| {}))),
        (_, false) => Some(quote!(.#classified(|#policy| { #(#settings)* }))),
    };
    let output = plan.schema_of_output.as_ref().map(|ty| {
        let generator = local("generator");
        quote!(.output(|#generator| (&&&#p::Probe::<#ty>::new()).schema(#generator)))
    });
    let flag = |set: bool, name: &str| {
        let name = format_ident!("{name}");
        set.then(|| quote!(.#name()))
    };
    let (blocking, recursive) = (flag(plan.blocking, "blocking"), flag(plan.recursive, "recursive"));
    let effect = plan.effect.as_ref().map(|function| quote!(.effect(#function)));
    let grant_keys = plan.grant_keys.as_ref().map(|function| quote!(.grant_keys(#function)));
    quote! {
        static __TOOL: #p::ToolDef = #p::Decl::new(#name, #description)
            #injected #format #policy #output #blocking #recursive #effect #grant_keys.tool(&[#(#args),*]);
    }
}

fn assignment(p: &TokenStream, policy: &Ident, field: Field, setting: &Setting) -> TokenStream {
    let value = match setting {
        Setting::True => quote!(true),
        Setting::Some(number) => {
            let number = Literal::u64_unsuffixed(*number);
            quote!(#p::Some(#number))
        }
        Setting::Count(number) => {
            let number = Literal::u32_unsuffixed(*number);
            quote!(#number)
        }
        Setting::Variant(ty, variant) => {
            let (ty, variant) = (format_ident!("{ty}"), format_ident!("{variant}"));
            quote!(#p::#ty::#variant)
        }
        Setting::SomeVariant(ty, variant) => {
            let (ty, variant) = (format_ident!("{ty}"), format_ident!("{variant}"));
            quote!(#p::Some(#p::#ty::#variant))
        }
        Setting::Texts(texts) => quote!(#p::texts(&[#(#texts),*])),
    };
    let (part, name) = (field.0, format_ident!("{}", field.1));
    let part = (!part.is_empty()).then(|| format_ident!("{part}")).map(|part| quote!(.#part));
    quote!(#policy #part.#name = #value;)
}

fn inherent(p: &TokenStream, plan: &Plan) -> TokenStream {
    let Plan { vis, type_ident, name, .. } = plan;
    let parameters = plan.args.iter().map(|arg| {
        let (cfg, name) = (&arg.cfg, &arg.name);
        quote!(#(#cfg)* #name)
    });
    // What a flattened struct adds is not known here.
    let parameters = plan.args.iter().all(|arg| !arg.flat).then(|| {
        quote! {
            /// The parameters that the model fills, in declared order.
            #vis const PARAMETERS: &'static [&'static str] = &[#(#parameters),*];
        }
    });
    quote! {
        impl #type_ident {
            /// The name by which a model calls the tool.
            #vis const NAME: &'static str = #name;
            #parameters

            /// What the tool declares of its safety.
            #vis fn policy() -> #p::ToolPolicy {
                __TOOL.policy()
            }

            /// The tool's specification, built once.
            #vis fn spec() -> &'static #p::ToolSpec {
                __TOOL.spec()
            }
        }
    }
}

fn implementation(p: &TokenStream, plan: &Plan) -> TokenStream {
    let Plan { type_ident, provided, made, .. } = plan;
    let mut keyed: Vec<&TokenStream> = Vec::new();
    for (ty, _) in &plan.keyed {
        if !keyed.iter().any(|other| other.to_string() == ty.to_string()) {
            keyed.push(ty);
        }
    }
    let (context, declared) = match &plan.context {
        Some(data) => (data.clone(), None),
        None => (quote!(__C), Some(quote!(__C: #p::Send + #p::Sync,))),
    };
    let generic = plan.context.is_none().then(|| quote!(, __C));
    let needs = needs(p, plan, &context);
    let call = call(p, plan, &context);
    quote! {
        impl<__S #generic> #p::Tool<__S, #context> for #type_ident
        where
            __S: #p::Send + #p::Sync #(+ #p::Provide<#provided>)*,
            #declared
            #(#made: #p::Inject<__S, #context>,)*
            #(#keyed: #p::InjectKeyed<__S, #context>,)*
        {
            fn spec(&self) -> #p::ToolSpec {
                __TOOL.to_spec()
            }

            fn __generated(&self) -> #p::Option<&'static #p::ToolDef> {
                #p::Some(&__TOOL)
            }

            #needs
            #call
        }
    }
}

/// What the injected values need of the harness.
fn needs(p: &TokenStream, plan: &Plan, context: &TokenStream) -> Option<TokenStream> {
    let Plan { made, keyed, .. } = plan;
    if made.is_empty() && keyed.is_empty() {
        return None;
    }
    let needs = local("needs");
    let keyed = keyed
        .iter()
        .map(|(ty, key)| quote!(<#ty as #p::InjectKeyed<__S, #context>>::needs(#key, &mut #needs);));
    Some(quote! {
        fn needs(&self) -> #p::Needs {
            let mut #needs = #p::Needs::default();
            #(<#made as #p::Inject<__S, #context>>::needs(&mut #needs);)*
            #(#keyed)*
            #needs
        }
    })
}

/// The trait's `call` as `async_trait` declares it.
fn call(p: &TokenStream, plan: &Plan, context: &TokenStream) -> TokenStream {
    let [state, runtime, call] = ["state", "runtime", "call"].map(local);
    let [me, a, b, c] =
        ["'__me", "'__a", "'__b", "'__c"].map(|name| syn::Lifetime::new(name, Span::call_site()));
    let body = body(p, plan, context, [&state, &runtime, &call]);
    quote! {
        fn call<#me: #c, #a: #c, #b: #c, #c>(
            &#me self,
            #state: &#a __S,
            #runtime: #p::ToolRuntime<#b, #context>,
            #call: #p::ToolCall,
        ) -> #p::Called<#c> {
            #body
        }
    }
}

fn body(
    p: &TokenStream,
    plan: &Plan,
    context: &TokenStream,
    [state, runtime, call]: [&Ident; 3],
) -> TokenStream {
    let [arguments, cx, output] = ["arguments", "cx", "output"].map(local);
    let needs_cx = plan.passed.iter().any(|passed| !matches!(passed.source, Origin::Model { .. }));
    let cx_name = if needs_cx { quote!(#cx) } else { quote!(_) };
    let at = located(plan.function_ident.span());
    let receiver = plan.method.as_ref().and_then(|method| method.receiver(p));
    let moves = receiver.as_ref().map(|_| quote!(move));
    let function = Method::path(plan.method.as_ref(), &plan.function_ident);
    let closed = |output: TokenStream| closed(p, plan, &output);
    let p_at = private(plan.function_ident.span());
    let names: Vec<_> = (0..plan.passed.len()).map(|index| local(&format!("a{index}"))).collect();
    let lets = plan.passed.iter().zip(&names).map(|(passed, name)| {
        let cfg = &passed.cfg;
        let value = value(p, passed, &arguments, &cx, context);
        quote!(#(#cfg)* let #name = #value;)
    });
    let lent = plan.passed.iter().zip(&names).map(|(passed, name)| lent(passed, name));
    let lent = receiver.clone().into_iter().chain(lent);
    let values = plan.passed.iter().map(|passed| {
        let (cfg, value) = (&passed.cfg, value(p, passed, &arguments, &cx, context));
        quote!(#(#cfg)* #value)
    });
    let values = receiver.into_iter().chain(values);
    let borrowed =
        |passed: &Passed| matches!(passed.source, Origin::Model { pass, .. } if pass != Pass::Move);
    let lends = plan.passed.iter().any(borrowed);
    // An error about the whole expression is reported from its first token to its last.
    let call_at = Ident::new(&call.to_string(), call.span().located_at(plan.function_ident.span()));
    match plan.body {
        Body::Async => {
            let closed = closed(quote!(#output));
            quote_spanned! {at=>
                let #call = __TOOL.open(#state, #runtime, #call);
                #call_at.run(
                    #moves |#arguments, #cx_name| #p_at::Ok(#function(#(#values),*)),
                    |#output| #closed,
                )
            }
        }
        Body::Sync => {
            let reads = match lends {
                true => {
                    let closed = closed(quote!(#function(#(#lent),*)));
                    quote!(#(#lets)* #closed)
                }
                false => {
                    let closed = closed(quote!(#output));
                    quote!(let #output = #function(#(#values),*); #closed)
                }
            };
            quote_spanned! {at=>
                let #call = __TOOL.open(#state, #runtime, #call);
                #call.run_sync(#moves |#arguments, #cx_name| {
                    #reads
                })
            }
        }
        Body::Lending => {
            let closed = closed(quote!(#function(#(#lent),*).await));
            let cx = needs_cx.then(|| {
                quote! {
                    let #cx = &#p::InjectContext { state: #state, runtime: &#runtime, call: &#call };
                }
            });
            quote_spanned! {at=>
                #p_at::boxed(async move {
                    let #arguments = &__TOOL.decode(&#call)?;
                    #cx
                    #(#lets)*
                    __TOOL.finish(&#call, #closed)
                })
            }
        }
    }
}

/// Turns what the function returned into the call's output; a type that is none is the return type's error.
fn closed(p: &TokenStream, plan: &Plan, returned: &TokenStream) -> TokenStream {
    let [good, bad] = ["good", "bad"].map(local);
    let made = quote_spanned!(located(plan.output_span)=> #good.output());
    // A block gives the value a place of its own, so that every way of taking it is tried (see `Fault`). An error that
    // borrows cannot be kept, so it is only shown.
    let shown = if plan.fault_borrows { quote!((&#bad)) } else { quote!({ #bad }) };
    let fault = quote_spanned!(located(plan.fault_span)=> #shown.fault());
    quote! {
        match #p::Returned(#returned).split() {
            #p::Ok(#good) => #made,
            #p::Err(#bad) => #p::Err(#fault),
        }
    }
}

/// How an argument's value is got.
fn value(
    p: &TokenStream,
    passed: &Passed,
    arguments: &Ident,
    cx: &Ident,
    context: &TokenStream,
) -> TokenStream {
    match &passed.source {
        Origin::Model { index, text, .. } => {
            let entry = entry(*index);
            if *text { quote!(#arguments.read_str(&#entry)?) } else { quote!(#arguments.read(&#entry)?) }
        }
        Origin::State(ty) => quote!(#p::Provide::<#ty>::provide(#cx.state)),
        Origin::Context => quote!(#cx.runtime.ctx),
        Origin::Made(ty) => quote!(<#ty as #p::Inject<__S, #context>>::inject(#cx)?),
        Origin::Keyed(ty, key) => quote!(<#ty as #p::InjectKeyed<__S, #context>>::inject(#cx, #key)?),
    }
}

/// How a value is passed on.
fn lent(passed: &Passed, name: &Ident) -> TokenStream {
    let cfg = &passed.cfg;
    let pass = match &passed.source {
        Origin::Model { pass, .. } => *pass,
        Origin::State(_) | Origin::Context | Origin::Made(_) | Origin::Keyed(..) => Pass::Move,
    };
    match pass {
        Pass::Move => quote!(#(#cfg)* #name),
        Pass::Borrow => quote!(#(#cfg)* &#name),
        Pass::Deref => quote!(#(#cfg)* #name.as_deref()),
        Pass::AsRef => quote!(#(#cfg)* #name.as_ref()),
    }
}

/// The short name of `__private`, at a place.
fn private(span: Span) -> TokenStream {
    quote_spanned!(located(span)=> __t)
}

fn entry(index: usize) -> Ident {
    format_ident!("__A{index}", span = Span::call_site())
}

/// A local variable that a function of the user with the same name does not meet.
fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site()).unraw()
}

/// The user's place with the macro's hygiene.
fn located(span: Span) -> Span {
    span.resolved_at(Span::call_site())
}
