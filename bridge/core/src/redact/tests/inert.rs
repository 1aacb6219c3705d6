//! Where what may be hidden ends and what may not begins.

use super::super::inert::*;

#[test]
fn a_variable_is_a_name_of_a_bounded_length() {
    let longest = "N".repeat(64);
    for (text, name) in [
        ("NAME}/x", Some("NAME")),
        ("_x-y", Some("_x")),
        ("a1", Some("a1")),
        ("1a", None),
        ("-a", None),
        ("", None),
        ("é", None),
        (&longest, Some(&*longest)),
        (&format!("{longest}."), Some(&*longest)),
        (&format!("{longest}N"), None),
    ] {
        assert_eq!(variable(text), name, "{text}");
    }
}

#[test]
fn what_steers_or_leads_somewhere_is_no_value() {
    for (value, hidden) in [
        ("hunter2", true),
        ("", false),
        ("-rf", false),
        ("/etc", false),
        (".x", false),
        ("@file", false),
        ("=x", false),
        (":x", false),
        ("+x", false),
        ("%x", false),
        ("^x", false),
        ("a::b", false),
        ("http://b", false),
        ("a..b", false),
        ("a b", false),
        ("a%PATH%b", false),
        ("a%20%30b", true),
        ("a%PATH", true),
        // Places, and what is as random as a key.
        ("src/run", false),
        ("example.org", false),
        ("aB1/aB2cdefghij", false),
        ("aB1/aB2cdefghijk", true),
        ("aB1/aBccdefghijk", false),
        ("ab1/ab2cdefghijk", false),
        ("aB2cdefghijk1.abcdefg", true),
        ("aB2cdefghijk1.abcdef", false),
    ] {
        assert_eq!(is_value(value), hidden, "{value}");
    }
    assert!(is_value(&"a1B".repeat(1_365)) && !is_value(&"a1B".repeat(1_366)), "of 4,095 bytes, and of 4,098");
}

#[test]
fn a_plain_word_is_short_and_of_letters() {
    for (word, is_plain) in [
        ("make", true),
        ("run_all-x", true),
        ("a-b_c", true),
        ("a-b_c-d", false),
        ("abcdefghijklmnopqrst", true),
        ("abcdefghijklmnopqrstu", false),
        ("v2", false),
    ] {
        assert_eq!(is_plain_word(word), is_plain, "{word}");
    }
}

#[test]
fn random_is_long_and_of_letters_and_digits() {
    for (value, random) in [
        ("abc123abc123", true),
        ("abc123abc12", false),
        ("abcdefghi123", true),
        ("abcdefghij12", false),
        ("123456789abc", true),
        ("1234567890ab", false),
        ("abc-123_abc123", true),
        ("abc.123abc123", false),
        ("abc/123abc123", false),
        ("abc:123abc123", false),
        ("abc@123abc123", false),
        ("abc=123abc123", false),
        ("abc+123abc123", false),
        ("abc%123abc123", false),
        ("abc^123abc123", false),
    ] {
        assert_eq!(is_random(value), random, "{value}");
    }
}

#[test]
fn text_is_what_is_printable_for_the_most_part() {
    for (bytes, text) in [
        (&b"abcdef"[..], true),
        (b"abcde", false),
        (b"a b\nc d", true),
        (b"abcdefgh\0\0", false),
        (b"abcdefghi\0", true),
        (b"\0\x01\x02\x03\x04\x05", false),
    ] {
        assert_eq!(is_text(bytes), text, "{bytes:?}");
    }
    // In any window of 48.
    assert!(is_text(&[&[0; 48][..], b"abcdef"].concat()) && !is_text(&[&[0; 47][..], b"abcde"].concat()));
}

#[test]
fn what_decodes_to_text_is_readable() {
    for (value, readable) in [
        ("cm0gLXJmIC8", true),
        ("cm0gLXJmIC8=", true),
        ("726d202d7266202f", true),
        ("726D202D7266202F", true),
        ("cm0gLX", false),
        ("3q2+78r+ur4", false),
        ("deadbeefcafe", false),
    ] {
        assert_eq!(is_encoded_text(value), readable, "{value}");
    }
    for (value, bytes) in
        [("AQID", &[1, 2, 3][..]), ("AQI=", &[1, 2]), ("AQI", &[1, 2]), ("AQ", &[1]), ("-_-_", &[251, 255, 191])]
    {
        assert_eq!(from_base64(value).as_deref(), Some(bytes), "{value}");
    }
    assert_eq!(from_base64("a b"), None);
}

#[test]
fn a_run_is_no_longer_than_was_asked_for() {
    let is_a = |byte| byte == b'a';
    assert_eq!([run("xaab", 1, 9, is_a), run("xaab", 1, 1, is_a), run("xaab", 0, 9, is_a), run("x", 1, 9, is_a)], [2, 1, 0, 0]);
    assert_eq!([run_before("xaab", 3, 9, is_a), run_before("xaab", 3, 1, is_a), run_before("xaab", 4, 9, is_a)], [2, 1, 0]);
}
