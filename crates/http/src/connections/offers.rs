//! Offers to speak another protocol. This server takes none, so each is ignored (RFC 9110, section 7.8).
//!
//! The HTTP server by itself ends the connection after its answer, without saying so, and takes all that follows an offer of
//! `websocket` for a body. Some clients, such as that of Java, make an offer with each request.

/// Writes spaces over the offers in the beginning of a head. An offer beyond these bytes stays: the answer to its request ends
/// the connection, and says so. Bytes behind the head stay as they are.
pub(super) fn ignore(head: &mut [u8]) {
    for line in head.split_mut(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            return;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = line.split_at_mut(colon);
        if name.eq_ignore_ascii_case(b"upgrade") {
            erase(value);
        } else if name.eq_ignore_ascii_case(b"connection") {
            value.split_mut(|byte| *byte == b',' || *byte == b':').filter(|option| is_offer(option)).for_each(erase);
        }
    }
}

fn is_offer(option: &[u8]) -> bool {
    option.trim_ascii().eq_ignore_ascii_case(b"upgrade")
}

fn erase(text: &mut [u8]) {
    text.iter_mut().filter(|byte| !b":\r".contains(byte)).for_each(|byte| *byte = b' ');
}
