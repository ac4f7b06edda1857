//! Patterns and formats are shown and enforced; a format that nobody can check is for the model only.

use tinyagents::prelude::*;
use tinyagents::testkit;

/// Texts.
#[tool]
async fn texts(
    #[arg(pattern = r"^[a-z]+-\d{1,3}$")] ticket: Option<String>,
    #[arg(format = "date-time")] at: Option<&str>,
    #[arg(format = "date")] day: Option<&str>,
    #[arg(format = "time")] time: Option<&str>,
    #[arg(format = "uuid")] id: Option<&str>,
    #[arg(format = "ipv4")] v4: Option<&str>,
    #[arg(format = "ipv6")] v6: Option<&str>,
    #[arg(format = "email")] email: Option<&str>,
    #[arg(format = "uri")] link: Option<&str>,
) -> usize {
    [ticket.as_deref(), at, day, time, id, v4, v6, email, link].iter().flatten().count()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let properties = &Texts::spec().input_schema["properties"];
    assert_eq!(properties["ticket"], json!({ "type": "string", "pattern": r"^[a-z]+-\d{1,3}$" }));
    assert_eq!(properties["at"], json!({ "type": "string", "format": "date-time" }));
    assert_eq!(properties["link"], json!({ "type": "string", "format": "uri" }));

    let good = json!({
        "ticket": "bug-12",
        "at": "2024-02-29T23:59:60.5Z",
        "day": "2025-01-31",
        "time": "09:30:00+02:00",
        "id": "123e4567-e89b-12d3-a456-426614174000",
        "v4": "192.0.2.1",
        "v6": "2001:db8::1",
        "email": "ada@example.com",
        "link": "anything: nobody can tell"
    });
    let result = testkit::call(&Texts, &(), good).await.unwrap();
    assert_eq!(result.content, [ContentBlock::text("9")]);
    for (name, value, expected) in [
        ("ticket", "BUG-12", r"a text that matches `^[a-z]+-\\d{1,3}$`"),
        ("at", "2025-02-29T10:00:00Z", "a date and time such as"),
        ("day", "31.01.2025", "a date such as"),
        ("time", "09:30", "a time with its offset, such as"),
        ("id", "123e4567", "a UUID such as"),
        ("v4", "192.0.2.256", "an IPv4 address such as"),
        ("v6", "2001:db8", "an IPv6 address such as"),
        ("email", "ada at example.com", "an email address such as"),
    ] {
        let result = testkit::call(&Texts, &(), json!({ name: value })).await.unwrap();
        let text = format!("{:?}", result.content);
        assert!(result.is_error && text.contains(&format!("`{name}`: expected {expected}")), "{text}");
    }
}
