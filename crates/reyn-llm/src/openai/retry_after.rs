//! How long a server asks to wait, in any of the forms in which servers say it.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;

/// The headers that say how long to wait, as text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WaitHeaders<'a> {
    /// `retry-after-ms`.
    pub(super) milliseconds: Option<&'a str>,
    /// `retry-after`: seconds or a date.
    pub(super) retry_after: Option<&'a str>,
    /// `date`: the server's own time.
    pub(super) date: Option<&'a str>,
}

/// The wait that the headers ask for, else the one that the message names, e.g. `try again in 17s`.
///
/// A date counts from the server's own time, or from `now` when the server does not tell its time.
pub(super) fn retry_after(headers: WaitHeaders<'_>, message: &str, now: Timestamp) -> Option<Duration> {
    let milliseconds = headers.milliseconds.and_then(|text| text.trim().parse::<f64>().ok());
    milliseconds
        .and_then(|milliseconds| duration(milliseconds / 1000.0))
        .or_else(|| from_header(headers.retry_after?, headers.date, now))
        .or_else(|| from_message(message))
}

fn duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

fn from_header(text: &str, date: Option<&str>, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return duration(seconds);
    }
    let at = parse_date(text)?;
    let now = date.and_then(parse_date).unwrap_or(now);
    Some(Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO))
}

fn parse_date(text: &str) -> Option<Timestamp> {
    rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

/// Reads `again in 17s`, `retry in 1m30.5s`, `retry after 20 ms`, `again in 5 seconds`.
fn from_message(message: &str) -> Option<Duration> {
    let message = message.to_ascii_lowercase();
    ["again in ", "retry in ", "retry after ", "again after "].iter().find_map(|words| {
        let (_, rest) = message.split_once(words)?;
        spoken_duration(rest)
    })
}

fn spoken_duration(mut text: &str) -> Option<Duration> {
    let mut seconds = None;
    // Hours, minutes, seconds and milliseconds at most.
    for _ in 0..4 {
        let number_end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let Ok(number) = text[..number_end].parse::<f64>() else { break };
        let rest = text[number_end..].trim_start();
        let unit_end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let Some(unit) = unit_seconds(&rest[..unit_end]) else { break };
        seconds = Some(seconds.unwrap_or(0.0) + number * unit);
        text = rest[unit_end..].trim_start();
    }
    duration(seconds?)
}

fn unit_seconds(unit: &str) -> Option<f64> {
    match unit {
        "ms" | "millisecond" | "milliseconds" => Some(0.001),
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1.0),
        "m" | "min" | "mins" | "minute" | "minutes" => Some(60.0),
        "h" | "hour" | "hours" => Some(3600.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: &str = "Sun, 06 Nov 1994 12:00:00 GMT";

    fn wait_ms(headers: WaitHeaders<'_>, message: &str) -> Option<u128> {
        let now = "1994-11-06T11:00:00Z".parse().unwrap();
        retry_after(headers, message, now).map(|wait| wait.as_millis())
    }

    #[test]
    fn headers_name_seconds_milliseconds_or_a_date() {
        let header = |retry_after| WaitHeaders { retry_after, ..WaitHeaders::default() };
        for (headers, expected) in [
            (header(Some("2")), Some(2_000)),
            (header(Some(" 0.5 ")), Some(500)),
            (header(Some("0")), Some(0)),
            (header(Some("-1")), None),
            (header(Some("soon")), None),
            (header(Some(NOON)), Some(3_600_000)),
            (WaitHeaders { date: Some("Sun, 06 Nov 1994 11:59:50 GMT"), ..header(Some(NOON)) }, Some(10_000)),
            (WaitHeaders { date: Some("Sun, 06 Nov 1994 12:00:50 GMT"), ..header(Some(NOON)) }, Some(0)),
            (WaitHeaders { milliseconds: Some("250"), ..header(Some("9")) }, Some(250)),
            (WaitHeaders { milliseconds: Some("x"), ..header(Some("9")) }, Some(9_000)),
            (WaitHeaders::default(), None),
        ] {
            assert_eq!(wait_ms(headers, ""), expected, "{headers:?}");
        }
    }

    #[test]
    fn a_message_names_the_wait_when_no_header_does() {
        for (message, expected) in [
            ("Rate limit reached. Please try again in 17s. Visit", Some(17_000)),
            ("Please try again in 17 s", Some(17_000)),
            ("try again in 1.5 seconds", Some(1_500)),
            ("Try Again in 20ms.", Some(20)),
            ("Please retry in 1m30.5s", Some(90_500)),
            ("retry after 2 minutes", Some(120_000)),
            ("try again in 1h2m", Some(3_720_000)),
            ("try again in a moment", None),
            ("try again in 5 parsecs", None),
            ("too many requests", None),
        ] {
            assert_eq!(wait_ms(WaitHeaders::default(), message), expected, "{message}");
        }
        let headers = WaitHeaders { retry_after: Some("3"), ..WaitHeaders::default() };
        assert_eq!(wait_ms(headers, "try again in 17s"), Some(3_000));
    }
}
