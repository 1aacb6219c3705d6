use super::*;

#[test]
fn what_hides_is_spelled_out() {
    for (text, shown) in [
        ("rm\u{200b} -rf", "rm\\u{200b} -rf"),
        ("\u{202e}txt.exe", "\\u{202e}txt.exe"),
        ("\u{2066}a\u{2069}", "\\u{2066}a\\u{2069}"),
        ("a\u{e0100}", "a\\u{e0100}"),
        ("\u{3164}", "\\u{3164}"),
        ("a\u{a0}b", "a\\u{a0}b"),
        ("\u{1b}[31mred", "\\u{1b}[31mred"),
        ("a\u{85}b\u{2028}c\u{2029}d", "a\\u{85}b\\u{2028}c\\u{2029}d"),
        ("\u{2800}", "\\u{2800}"),
        ("\u{feff}\u{e000}\u{ad}", "\\u{feff}\\u{e000}\\u{ad}"),
        ("one\r\ntwo\tthree", "one\\r\\ntwo\\tthree"),
    ] {
        assert_eq!(Shown::line(text).as_str(), shown, "{text:?}");
    }
}

#[test]
fn what_is_seen_stays() {
    for text in ["touch /srv/a-b_c.txt && echo \"ok\"", "Löschen größer als 5 €", "数据库を削除", "नमस्ते", "✅ مرحبا", "e\u{301}"]
    {
        assert_eq!(Shown::line(text).as_str(), text);
    }
}

#[test]
fn a_flood_of_combining_marks_is_cut_to_what_scripts_need() {
    let flood = format!("a{}", "\u{301}".repeat(50));
    assert_eq!(Shown::line(&flood).as_str(), "a\u{301}\u{301}\u{301}\\u{301}[×47]");
    let zalgo = format!("a{}", "\u{301}\u{302}".repeat(20));
    assert_eq!(Shown::counted_line(&zalgo).1.hidden, 37);
}

#[test]
fn a_block_keeps_its_lines() {
    assert_eq!(Shown::block("a\r\nb\tc\rd\n").as_str(), "a\nb\tc\\rd\n");
}

#[test]
fn a_cut_is_marked() {
    assert_eq!(Shown::line("abcdef").cut(4).as_str(), "abc…");
    assert_eq!(Shown::line("abcd").cut(4).as_str(), "abcd");
    assert_eq!(Shown::line("abcdef").cut_inside(4).as_str(), "ab…f");
    assert_eq!(Shown::line("abcd").cut_inside(4).as_str(), "abcd");
}

#[test]
fn many_of_one_hidden_character_are_spelled_out_once_and_counted() {
    let padded = format!("ok{}; rm -rf ~", "\u{a0}".repeat(300));
    assert_eq!(Shown::counted_line(&padded).0.as_str(), "ok\\u{a0}[×300]; rm -rf ~");
    assert_eq!(Shown::counted_line(&padded).1.hidden, 300);
    assert_eq!(Shown::line("\u{200b}\u{200b}\u{200b}").as_str(), "\\u{200b}\\u{200b}\\u{200b}");
}

#[test]
fn ordinary_spaces_and_empty_lines_push_nothing_out_of_sight() {
    let spaces = |count: usize| format!("ok{}rm", " ".repeat(count));
    assert_eq!(Shown::line(&spaces(40)).as_str(), spaces(40));
    assert_eq!(Shown::line(&spaces(2_000)).as_str(), "ok\\u{20}[×2000]rm");
    assert_eq!(Shown::block(&format!("ok{}rm", "\n".repeat(500))).as_str(), "ok\\u{a}[×500]rm");
    assert_eq!(Shown::block("a\n\n\nb").as_str(), "a\n\n\nb");
    assert_eq!(Shown::counted_block("a\n\tb\r\nc").1, Spelled::default());
}

#[test]
fn a_mark_with_nothing_of_its_own_to_stand_on_is_spelled_out() {
    assert_eq!(Shown::line("\u{301}a").as_str(), "\\u{301}a");
    assert_eq!(Shown::block("a\n\u{301}").as_str(), "a\n\\u{301}");
    let (start, end) = Shown::line("abcde\u{301}").ends(None, 2);
    assert_eq!((start.as_str(), end.as_str()), ("a", ""));
}

#[test]
fn writing_from_right_to_left_is_noticed() {
    assert!(Shown::counted_line("rm א/ב").1.right_to_left);
    assert!(Shown::counted_line("rm م").1.right_to_left);
    assert!(!Shown::counted_line("Löschen 数据").1.right_to_left);
}

#[test]
fn start_and_end_are_what_is_kept() {
    let ends = |max| {
        let (start, end) = Shown::line("abcdef").ends(None, max);
        (start.to_string(), end.to_string())
    };
    for (max, start, end) in [(9, "abcdef", ""), (6, "abcdef", ""), (5, "abc", "ef"), (2, "a", "f"), (1, "a", ""), (0, "", "")] {
        assert_eq!(ends(max), (start.to_owned(), end.to_owned()), "{max}");
    }
}
