//! Names, and how values stand by them.

use super::{mark, shown};

/// What is hidden stands between the bars.
fn check(samples: &[(&str, &str)]) {
    for (sample, kind) in samples {
        let parts: Vec<_> = sample.split('|').collect();
        let (text, expected) = match parts[..] {
            [whole] => (whole.to_owned(), whole.to_owned()),
            [before, hidden, after] => (format!("{before}{hidden}{after}"), format!("{before}{}{after}", mark(kind))),
            _ => panic!("bars in {sample}"),
        };
        assert_eq!(shown(&text), expected, "{sample}");
    }
}

#[test]
fn names_have_a_bounded_length() {
    for (length, is_name) in [(0, true), (64, true), (65, false)] {
        let text = format!("{}password=hunter22 y", "x".repeat(length));
        assert_eq!(shown(&text) != text, is_name, "{length}");
    }
}

#[test]
fn a_flag_a_list_and_a_line_give_a_value_each_in_their_way() {
    check(&[
        ("x --token |abc123|", "token"),
        ("x --token  |abc123| y", "token"),
        ("x --token", ""),
        ("x -token abc123", ""),
        ("x token abc123", ""),
        ("[\"--token\", \"|abc123|\"]", "token"),
        ("[\"token\", \"abc123\"]", ""),
        ("[\"--token\", abc123]", ""),
        ("--token, abc123", ""),
        ("password: |hunter22|", "password"),
        ("password: |hunter22|\nnext", "password"),
        ("password: hunter22 and more", ""),
        ("password=|hunter22|", "password"),
        ("password=|hunter22|; x", "password"),
        ("password = hunter22", ""),
        ("password = \"|hunter22|\"", "password"),
        ("password := \"|hunter22|\"", "password"),
        ("password => '|hunter22|'", "password"),
        ("password == hunter22", ""),
        ("password::hunter22", ""),
        ("https://x/?token=|abc|", "token"),
        ("https://x/?a=b&token=|abc|&c", "token"),
        ("X-Auth-Token: |abc|", "token"),
        ("alias password='hunter22'", ""),
        ("alias  password='hunter22'", ""),
        ("aliases; password='|hunter22|'", "password"),
    ]);
}

#[test]
fn a_scheme_stays_and_what_follows_it_goes() {
    check(&[
        ("Authorization: Bearer |abc|", "authorization"),
        ("Authorization: bearer  |abc|", "authorization"),
        ("Authorization: Bearerabc", "authorization"),
        ("token=\"Bearer |abc|\"", "token"),
        ("token=Bearer abc", ""),
        ("Authorization: Bearer", ""),
    ]);
}

#[test]
fn what_says_that_there_is_none_is_no_secret() {
    check(&[
        ("--password=true", ""),
        ("--password=NULL", ""),
        ("--password=12", ""),
        ("--password=|1234|", "password"),
        ("password=hunter", ""),
        ("password=hunte2", ""),
        ("password=1234567", ""),
        ("password=abcdefg", ""),
        ("password='hunter'", ""),
        ("--password=|hunter|", "password"),
        ("--password=a=b", ""),
        ("--password=|ab=|", "password"),
    ]);
}

#[test]
fn what_the_text_uses_by_its_name_stays() {
    check(&[
        ("TOKEN=|s3cretly9|; x $TOKE", "token"),
        ("TOKEN=s3cretly9; x $TOKEN", ""),
        ("TOKEN=s3cretly9; x ${TOKEN}", ""),
        ("TOKEN=s3cretly9; x %TOKEN%", ""),
        ("TOKEN=s3cretly9; x TOKEN", ""),
        ("TOKEN=|s3cretly9|; x MYTOKEN", "token"),
        ("--token |s3cretly9| $HOME", "token"),
        ("--token s3cretly9 $1", ""),
        ("--token s3cretly9 \"$@\"", ""),
        ("--token s3cretly9 ${*}", ""),
        ("--token s3cretly9 !$", ""),
        ("--token=|s3cretly9| $1", "token"),
        // As random as a key, it can be nothing that runs.
        ("TOKEN=|abc123abc123|; x $TOKEN", "token"),
    ]);
}
