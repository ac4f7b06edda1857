//! What belongs to the run is made for each call.

use tinyagents::harness::tool::InjectedArgSpec;
use tinyagents::prelude::*;
use tinyagents::testkit;

/// Owned values of the run.
#[tool]
async fn owned(
    #[inject] run: RunId,
    #[inject] call: ToolCallId,
    #[inject] cancel: CancellationToken,
    #[inject] events: EventSink,
    #[inject] stores: StoreRegistry,
    #[inject] progress: Progress,
    #[inject] thread: Option<ThreadId>,
) -> String {
    let _ = (run, events, stores, progress);
    format!("{call} {} {thread:?}", cancel.is_cancelled())
}

/// The context, with and without the application's data.
#[tool]
async fn context(#[inject] ctx: &RunContext) -> bool {
    ctx.thread_id().is_none()
}

struct Tenant(u32);

/// The application's data.
#[tool]
fn read_tenant(#[inject] ctx: &RunContext<Tenant>) -> u32 {
    ctx.data().0
}

fn fits<S, C>(_: impl Tool<S, C>) {}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    fits::<(), Tenant>(ReadTenant);
    fits::<u8, ()>(Context);
    let kinds: Vec<_> = Owned::spec().injected.iter().map(|arg| (&*arg.name, &*arg.kind)).collect();
    let expected = [
        ("run", "RunId"),
        ("call", "ToolCallId"),
        ("cancel", "CancellationToken"),
        ("events", "EventSink"),
        ("stores", "StoreRegistry"),
        ("progress", "Progress"),
        ("thread", "ThreadId"),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(Context::spec().injected, [InjectedArgSpec { name: "ctx".into(), kind: "context".into() }]);
    assert_eq!(Owned::spec().input_schema["properties"], json!({}));
    let result = testkit::call(&Owned, &(), json!({})).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("call_1 false None")]);
    assert_eq!(testkit::call(&Context, &(), json!({})).await.unwrap().value, Some(json!(true)));
}
