//! Failures as values, so that they can be made smaller before the report.

/// Returns a failure, with its text, unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err(format!($($text)+));
        }
    };
}

/// Returns a failure that shows both sides unless they are equal.
macro_rules! ensure_eq {
    ($is:expr, $should_be:expr, $($text:tt)+) => {
        match (&$is, &$should_be) {
            (is, should_be) if is != should_be => {
                return Err(format!("{}:\n  is        {is:?}\n  should be {should_be:?}", format!($($text)+)));
            }
            _ => {}
        }
    };
}
