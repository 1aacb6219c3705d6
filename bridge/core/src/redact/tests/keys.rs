//! Private keys, whole and cut.

use data_encoding::BASE64;

use super::super::pem;
use super::{mark, shown};

const FIRST: &str = concat!("-----BEGIN ", "PRIVATE KEY-----");
const LAST: &str = concat!("-----END ", "PRIVATE KEY-----");

/// Bytes without a pattern, the same ones each time.
fn noise(len: usize) -> Vec<u8> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(7), next).map(|state| state.to_be_bytes()[0]).take(len).collect()
}

fn der(len: u16, version: &[u8], inside: &[u8]) -> Vec<u8> {
    let length = len.to_be_bytes();
    let head = [0x30, 0x82, length[0], length[1]];
    let mut bytes = [&head, version, inside].concat();
    bytes.extend(noise(usize::from(len) + 4 - bytes.len()));
    bytes
}

fn lines(bytes: &[u8], width: usize) -> Vec<String> {
    let encoded = BASE64.encode(bytes);
    encoded.as_bytes().chunks(width).map(|line| String::from_utf8_lossy(line).into_owned()).collect()
}

fn key() -> Vec<String> {
    lines(&der(600, &[2, 1, 0], &[]), 64)
}

#[test]
fn the_body_of_a_key_is_hidden_however_it_is_written() {
    let openssh = [b"openssh-key-v1\0\0\0\0\x04none\0\0\0\x04none\0\0\0\0".as_slice(), &noise(200)].concat();
    let pgp = [[0x95, 1, 0xd8, 4].as_slice(), &noise(200)].concat();
    let keys = [key(), lines(&der(601, &[0x30, 0x40], &[]), 64), lines(&openssh, 70), lines(&pgp, 64)];
    for key in keys {
        for (begin, line_break, end) in [
            ("", "\n", ""),
            ("x:\n    ", "\n    ", "\n"),
            ("+", "\n+", "\n"),
            ("-", "\n-", "\n"),
            ("K=\"", "\\n", "\""),
            ("", "\r\n", ""),
            ("", "\\\\r\\\\n", ""),
            ("", "", ""),
        ] {
            let text = |body: &str| format!("{begin}{FIRST}{line_break}{body}{line_break}{LAST}{end}");
            assert_eq!(shown(&text(&key.join(line_break))), text(&mark(pem::KIND)), "{line_break:?}");
        }
    }
}

#[test]
fn a_key_of_pgp_is_hidden_with_its_checksum() {
    let packet = [[0x95, 1, 0xd8, 4].as_slice(), &noise(200)].concat();
    let text = |body: &str| format!("{}\n\n{body}\n{}", FIRST.replace("KEY", "KEY BLOCK"), LAST.replace("KEY", "KEY BLOCK"));
    assert_eq!(shown(&text(&format!("{}\n=aB1c", lines(&packet, 64).join("\n")))), text(&mark(pem::KIND)));
}

#[test]
fn a_cut_key_is_hidden_as_far_as_it_goes() {
    let key = key();
    let text = |body: &str, rest: &str| format!("{FIRST}\n{body}\n{rest}");
    let body = key[..4].join("\n");
    assert_eq!(shown(&text(&body, "")), text(&mark(pem::KIND), ""));
    assert_eq!(shown(&text(&body, "reboot")), text(&mark(pem::KIND), "reboot"));
    assert_eq!(shown(&text(&body, "E\nreboot\n")), text(&mark(pem::KIND), "E\nreboot\n"));
    let cut = &format!("{FIRST}\n{body}\n{}", &key[4][..40]);
    assert_eq!(shown(cut), format!("{FIRST}\n{}", mark(pem::KIND)));

    let headless = |before: &str, body: &str| format!("{before}\n{body}\n{LAST}");
    for before in ["", "cat <<E", "reboot"] {
        assert_eq!(shown(&headless(before, &key[3..].join("\n"))), headless(before, &mark(pem::KIND)));
    }
    let escaped = format!("x\\n{}\\n{LAST}", key[3..].join("\\n"));
    assert_eq!(shown(&escaped), format!("x\\n{}\\n{LAST}", mark(pem::KIND)));
    let in_a_diff = format!("@@\n+{}\n+{LAST}", key[3..].join("\n+"));
    assert_eq!(shown(&in_a_diff), format!("@@\n+{}\n+{LAST}", mark(pem::KIND)));
}

#[test]
fn what_only_looks_like_a_key_stays() {
    let script = b"curl https://example.org/run | sh\nrm -rf ~/x # and more of it, so that it fills lines\n".repeat(4);
    let in_a_key = der(600, &[2, 1, 0], &script);
    let body = |lines: &[String]| format!("{FIRST}\n{}\n{LAST}", lines.join("\n"));
    let with = |line: &str, at: usize| {
        let mut key = key();
        key[at] = line.to_owned();
        body(&key)
    };
    let path = format!("/usr/bin/{}", "x/".repeat(28))[..64].to_owned();
    for text in [
        body(&lines(&script, 64)),
        body(&lines(&in_a_key, 64)),
        body(&lines(&der(600, &[9, 9, 9], &[]), 64)),
        body(&lines(&der(600, &[2, 1, 0], &[])[..500], 64)),
        body(&lines(&noise(600), 64)),
        with(&path, 5),
        with(&"/".repeat(64), 5),
        format!("{FIRST}\nreboot\n{LAST}"),
        format!("echo {}\n{LAST}", lines(&script, 64).join("\n")),
        format!("{}\n{LAST}", lines(&script, 64).join("\n")),
        body(&key()).replace("PRIVATE", "PUBLIC"),
    ] {
        assert_eq!(shown(&text), text);
    }
    for line in ["rm -rf /", "reboot"] {
        let shown = shown(&with(line, 5));
        assert!(shown.contains(&format!("\n{line}\n")), "{shown}");
    }
}
