//! Output is bounded for the model and whole for the application.

use super::{CallSite, Executor};
use crate::harness::event::AgentEvent;
use crate::harness::message::{ArtifactRef, ContentBlock, NO_OUTPUT, is_blank};
use crate::harness::tool::ToolResult;

impl<S: Send + Sync + 'static, C: Send + Sync + 'static> Executor<S, C> {
    /// Makes sure that a result is neither empty nor over the bound. What is cut off is kept as an artifact, if
    /// there is a store for it; otherwise the notice says that it is gone.
    pub(super) async fn bound(&self, at: &CallSite, max: Option<u64>, result: &mut ToolResult) {
        if is_blank(&result.content) {
            result.content = vec![ContentBlock::text(NO_OUTPUT)];
            return;
        }
        let max = max.unwrap_or(self.policy.max_result_bytes);
        let size: usize = result.content.iter().map(size).sum();
        if u64::try_from(size).unwrap_or(u64::MAX) <= max {
            return;
        }
        let (media_type, whole) = whole(&result.content);
        let kept = self.keep(at, media_type, &whole).await;
        let notice = match &kept {
            Ok(Some(artifact)) => format!("the whole output is kept as artifact `{}`", artifact.key),
            Ok(None) => "the rest was not kept".to_string(),
            Err(()) => "the rest could not be kept".to_string(),
        };
        result.artifacts.extend(kept.ok().flatten());
        result.content =
            vec![ContentBlock::text(cut(&whole, usize::try_from(max).unwrap_or(usize::MAX), &notice))];
    }

    async fn keep(&self, at: &CallSite, media_type: &str, whole: &str) -> Result<Option<ArtifactRef>, ()> {
        let Some(store) = self.stores.artifacts() else { return Ok(None) };
        let key = format!("{}/{}/{}", self.ctx.run_id(), at.turn, at.index);
        let put = async { store.put(&key, media_type, whole.as_bytes().to_vec()).await };
        let put = self.in_time("the artifact store", put).await;
        match put.and_then(|put| put.map_err(|error| error.to_string())) {
            Ok(()) => Ok(Some(ArtifactRef { key, media_type: media_type.into(), bytes: whole.len() as u64 })),
            Err(error) => {
                at.events.emit_with(|| AgentEvent::Custom {
                    name: "artifact.failed".into(),
                    data: serde_json::json!({ "key": key, "error": error }),
                });
                Err(())
            }
        }
    }
}

fn size(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text { text } | ContentBlock::Reasoning { text } => text.len(),
        ContentBlock::Json { value } => value.to_string().len(),
        ContentBlock::Image { data, .. } => data.len(),
    }
}

/// The output as one text: plain if it is text, else all blocks as JSON.
fn whole(content: &[ContentBlock]) -> (&'static str, String) {
    let has_image = content.iter().any(|block| matches!(block, ContentBlock::Image { .. }));
    if has_image {
        if let Ok(json) = serde_json::to_string(content) {
            return ("application/json", json);
        }
    }
    ("text/plain; charset=utf-8", crate::harness::message::text_of(content))
}

/// Two thirds head and one third tail, cut between characters, with a notice of what is missing.
fn cut(whole: &str, max: usize, notice: &str) -> String {
    let tail = max / 3;
    let mut head_end = max - tail;
    while !whole.is_char_boundary(head_end) {
        head_end -= 1;
    }
    let mut tail_start = whole.len().saturating_sub(tail).max(head_end);
    while !whole.is_char_boundary(tail_start) {
        tail_start += 1;
    }
    let (head, rest) = whole.split_at(head_end);
    let tail = rest.get(tail_start - head_end..).unwrap_or_default();
    let missing = rest.len() - tail.len();
    format!("{head}\n[… {missing} of {} bytes left out; {notice} …]\n{tail}", whole.len())
}
