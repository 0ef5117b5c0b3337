//! Times in files: checks, and advice for other notations.

use serde_json::Value;

use super::fields::slip;
use super::refusal::{INVALID_TIME, Refusal};
use model::{Millis, Time};

/// The beginning of 1990. An earlier time is nearly always in seconds.
pub(super) const EARLY: Millis = 631_152_000_000;

const EXPECTED: &str = "a time is whole milliseconds since 1970";
const POSTGRESQL: &str = "floor(extract(epoch from t) * 1000)::bigint";

/// A time in a field of a CSV file.
pub(super) fn of_text(name: &str, text: &str) -> Result<Millis, Refusal> {
    let millis = if is_digits(text) { text.parse::<Millis>().ok() } else { None };
    match millis.and_then(|millis| Time::try_from(millis).ok()) {
        Some(Time(millis)) => Ok(millis),
        None => Err(refusal(name, text, hint(text).or_else(|| slip(text).map(str::to_owned)))),
    }
}

/// The refusal of a JSON value that is not a time.
pub(super) fn refused_json(name: &str, value: &Value) -> Refusal {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let is_quoted = value.is_string() && is_digits(&text);
    refusal(name, &text, if is_quoted { Some("remove the quotes".to_owned()) } else { hint(&text) })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn refusal(name: &str, text: &str, hint: Option<String>) -> Refusal {
    let refusal = Refusal::of_field(INVALID_TIME, name, EXPECTED, text);
    match hint {
        Some(hint) => refusal.with_hint(&hint),
        None => refusal,
    }
}

/// The advice for a text that is a time in another notation.
fn hint(text: &str) -> Option<String> {
    if let Some((whole, part)) = text.split_once('.')
        && is_digits(whole)
        && is_digits(part)
    {
        return Some(match whole.len() {
            // Seconds of these years have ten digits, milliseconds thirteen.
            ..=11 => {
                format!(
                    "this value looks like seconds: multiply it by 1000 and remove the fraction (PostgreSQL: \
                     {POSTGRESQL})"
                )
            }
            _ => "remove the point and the digits after it".to_owned(),
        });
    }
    let mut parts = text.splitn(3, '-');
    let is_date = parts.next().is_some_and(|year| year.len() == 4 && is_digits(year))
        && parts.next().is_some_and(|month| month.len() == 2 && is_digits(month));
    is_date.then(|| format!("this value looks like a date; convert it (PostgreSQL: {POSTGRESQL})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_times_come_with_advice() {
        assert_eq!(of_text("since", "1689089522123"), Ok(1_689_089_522_123));
        let begin = "invalid_time: since: a time is whole milliseconds since 1970, not ";
        let date =
            "; this value looks like a date; convert it (PostgreSQL: floor(extract(epoch from t) * 1000)::bigint)";
        let seconds = "; this value looks like seconds: multiply it by 1000 and remove the fraction (PostgreSQL: \
                       floor(extract(epoch from t) * 1000)::bigint)";
        for (text, then) in [
            ("2026-01-02 03:04:05.678+00", date.to_owned()),
            ("2026-01-02T03:04:05Z", date.to_owned()),
            ("2026-01", date.to_owned()),
            ("1689089522.123", seconds.to_owned()),
            ("1689089522123.0", "; remove the point and the digits after it".to_owned()),
            (" 5", "; remove the space".to_owned()),
            ("5;6", "; separate the columns by commas".to_owned()),
            ("soon", String::new()),
            ("-5", String::new()),
            ("+5", String::new()),
            ("1.", String::new()),
            (".5", String::new()),
            ("1e12", String::new()),
            ("01-02-2026", String::new()),
            ("9223372036854775808", String::new()),
        ] {
            let refusal = of_text("since", text).expect_err(text).to_string();
            assert_eq!(refusal, format!("{begin}\"{text}\"{then}"));
        }
        for (json, then) in [
            (r#""2026-01-02""#, format!("\"2026-01-02\"{date}")),
            ("1689089522.123", format!("\"1689089522.123\"{seconds}")),
            (r#""1689089522123""#, "\"1689089522123\"; remove the quotes".to_owned()),
            ("-3", "\"-3\"".to_owned()),
            ("true", "\"true\"".to_owned()),
        ] {
            let refusal = refused_json("since", &serde_json::from_str(json).expect(json)).to_string();
            assert_eq!(refusal, format!("{begin}{then}"));
        }
    }
}
