//! Server-sent events: bytes in, events out.
//!
//! Guarantee: how the bytes are cut into pieces never changes the events; the work is linear in the bytes; a line
//! or an event over the limit is refused before it is stored.
//!
//! Not here: reconnecting, `id` and `retry`: a reply is read once.

use std::collections::VecDeque;

/// One event.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Event {
    /// The event's type; empty if it was not given.
    pub(crate) name: String,
    /// The data lines, joined by newlines.
    pub(crate) data: String,
}

/// Why bytes are no event stream.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(crate) enum SseError {
    #[error("an event is longer than {0} bytes")]
    TooLong(usize),
    #[error("an event is not UTF-8")]
    NotUtf8,
}

/// Collects bytes into events.
#[derive(Debug)]
pub(crate) struct EventReader {
    limit: usize,
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    first_line: bool,
    /// The last byte was a carriage return: a line feed right after it ends no further line.
    after_return: bool,
    ready: VecDeque<Event>,
}

impl EventReader {
    /// A reader that refuses lines and events of more than `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            event: Event::default(),
            has_data: false,
            first_line: true,
            after_return: false,
            ready: VecDeque::new(),
        }
    }

    /// Takes the next bytes.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Result<(), SseError> {
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                bytes = bytes.split_at(1).1;
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                return self.extend_line(bytes);
            };
            let (piece, rest) = bytes.split_at(end);
            self.extend_line(piece)?;
            self.end_line()?;
            self.after_return = rest.first() == Some(&b'\r');
            bytes = rest.split_at(1).1;
        }
        Ok(())
    }

    /// The next complete event.
    pub(crate) fn next(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    /// What was not yet ended when the bytes did: some servers leave out the last empty line.
    pub(crate) fn finish(&mut self) -> Result<Option<Event>, SseError> {
        if !self.line.is_empty() {
            self.end_line()?;
        }
        self.end_event();
        Ok(self.next())
    }

    fn extend_line(&mut self, piece: &[u8]) -> Result<(), SseError> {
        if self.line.len() + piece.len() > self.limit {
            return Err(SseError::TooLong(self.limit));
        }
        self.line.extend_from_slice(piece);
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), SseError> {
        let line = std::mem::take(&mut self.line);
        let mut text = line.as_slice();
        if std::mem::take(&mut self.first_line) {
            text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
        }
        if text.is_empty() {
            self.end_event();
        } else if let Some(value) = field(text, b"data") {
            if self.event.data.len() + value.len() > self.limit {
                return Err(SseError::TooLong(self.limit));
            }
            if std::mem::replace(&mut self.has_data, true) {
                self.event.data.push('\n');
            }
            self.event.data.push_str(std::str::from_utf8(value).map_err(|_| SseError::NotUtf8)?);
        } else if let Some(value) = field(text, b"event") {
            self.event.name = std::str::from_utf8(value).map_err(|_| SseError::NotUtf8)?.to_owned();
        }
        // The buffer goes back, so that a long reply does not allocate for every line.
        self.line = line;
        self.line.clear();
        Ok(())
    }

    fn end_event(&mut self) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            self.ready.push_back(event);
        }
    }
}

/// The value of a line, if the line is of that field.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(name)?;
    if rest.is_empty() {
        return Some(rest);
    }
    let value = rest.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}
