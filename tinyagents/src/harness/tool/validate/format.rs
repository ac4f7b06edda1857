//! The formats of texts that are enforced; every other one is for the model only.
//!
//! Guarantee: what RFC 3339 (dates and times), RFC 9562 (UUIDs), RFC 2673 and RFC 4291 (addresses) refuse is
//! refused; an email address has the shape that mail is delivered to.
//!
//! Not here: whether what a text names exists.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A format that is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    DateTime,
    Date,
    Time,
    Uuid,
    Ipv4,
    Ipv6,
    /// Either; what schemars writes for `IpAddr`.
    Ip,
    Email,
}

impl Format {
    /// The format of a keyword's value, if it is enforced.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "date-time" => Self::DateTime,
            "date" => Self::Date,
            "time" => Self::Time,
            "uuid" => Self::Uuid,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "ip" => Self::Ip,
            "email" => Self::Email,
            _ => return None,
        })
    }

    /// What is expected, with one that would do.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::DateTime => "a date and time such as \"2025-01-31T09:30:00Z\"",
            Self::Date => "a date such as \"2025-01-31\"",
            Self::Time => "a time with its offset, such as \"09:30:00Z\"",
            Self::Uuid => "a UUID such as \"123e4567-e89b-12d3-a456-426614174000\"",
            Self::Ipv4 => "an IPv4 address such as \"192.0.2.1\"",
            Self::Ipv6 => "an IPv6 address such as \"2001:db8::1\"",
            Self::Ip => "an IP address such as \"192.0.2.1\" or \"2001:db8::1\"",
            Self::Email => "an email address such as \"ada@example.com\"",
        }
    }

    pub(super) fn accepts(self, text: &str) -> bool {
        match self {
            Self::DateTime => text
                .split_once(['T', 't'])
                .is_some_and(|(date, time)| is_date(date).is_some() && is_time(time).is_some()),
            Self::Date => is_date(text).is_some(),
            Self::Time => is_time(text).is_some(),
            Self::Uuid => is_uuid(text),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Ip => text.parse::<IpAddr>().is_ok(),
            Self::Email => is_email(text),
        }
    }
}

/// Exactly `digits` digits at the start: their number, and the rest.
fn number(text: &str, digits: usize) -> Option<(u32, &str)> {
    let (number, rest) = text.split_at_checked(digits)?;
    let all_digits = number.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| number.parse().ok()).flatten().map(|number| (number, rest))
}

fn is_date(text: &str) -> Option<()> {
    let (year, rest) = number(text, 4)?;
    let (month, rest) = number(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = number(rest.strip_prefix('-')?, 2)?;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return None,
    };
    (rest.is_empty() && (1..=days).contains(&day)).then_some(())
}

fn is_time(text: &str) -> Option<()> {
    let (hour, rest) = number(text, 2)?;
    let (minute, rest) = number(rest.strip_prefix(':')?, 2)?;
    let (second, rest) = number(rest.strip_prefix(':')?, 2)?;
    let rest = match rest.strip_prefix('.') {
        None => rest,
        Some(fraction) => {
            let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if rest.len() == fraction.len() {
                return None;
            }
            rest
        }
    };
    let offset = match rest {
        "Z" | "z" => 0,
        _ => {
            let sign = if rest.strip_prefix('-').is_some() { -1 } else { 1 };
            let (hours, rest) = number(rest.strip_prefix(['+', '-'])?, 2)?;
            let (minutes, rest) = number(rest.strip_prefix(':')?, 2)?;
            if hours > 23 || minutes > 59 || !rest.is_empty() {
                return None;
            }
            sign * i64::from(hours * 60 + minutes)
        }
    };
    // A leap second is the last one of a day, as Greenwich has it.
    let at_greenwich = (i64::from(hour * 60 + minute) - offset).rem_euclid(24 * 60);
    let is_leap = second == 60 && at_greenwich == 23 * 60 + 59;
    (hour < 24 && minute < 60 && (second < 60 || is_leap)).then_some(())
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let plain = |c: char| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    let atoms = local.split('.').all(|atom| !atom.is_empty() && atom.chars().all(plain));
    let quoted = local.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let quoted = quoted.is_some_and(|inner| !inner.contains('"') && !inner.chars().any(char::is_control));
    let literal = domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let at_address = literal.is_some_and(|address| match address.strip_prefix("IPv6:") {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => address.parse::<Ipv4Addr>().is_ok(),
    });
    let label = |label: &str| {
        let ends = !label.starts_with('-') && !label.ends_with('-');
        !label.is_empty() && ends && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    (atoms || quoted) && (at_address || domain.split('.').all(label))
}
