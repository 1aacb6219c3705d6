//! The pure crates stay pure: no runtime, no SDK, no clock, no randomness, no I/O.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Everything the three crates may be built from. Each computes, and does nothing else.
const ALLOWED: [&str; 36] = [
    "bridge-core",
    "bridge-model",
    "policy", // ours
    "serde",
    "serde_core",
    "serde_derive",
    "serde_json",
    "itoa",
    "ryu",
    "zmij",
    "memchr",
    "indexmap",
    "equivalent",
    "hashbrown", // JSON
    "thiserror",
    "thiserror-impl",
    "proc-macro2",
    "quote",
    "syn",
    "unicode-ident", // derives
    "similar",
    "bstr",
    "unicode-segmentation", // diffs
    "aho-corasick",
    "data-encoding", // secrets
    "icu_properties",
    "icu_properties_data",
    "icu_collections",
    "icu_locale_core",
    "icu_provider",
    "displaydoc",
    "zerofrom",
    "zerovec",
    "yoke",
    "potential_utf",
    "writeable", // Unicode
];

const ALSO_ALLOWED: [&str; 36] = [
    "foldhash",
    "synstructure",
    "utf_types",
    "zerotrie",
    "tinystr",
    "litemap",
    "stable_deref_trait",
    "utf8_iter",
    "zerovec-derive",
    "zerofrom-derive",
    "yoke-derive",
    // Hosts of addresses.
    "url",
    "form_urlencoded",
    "idna",
    "idna_adapter",
    "icu_normalizer",
    "icu_normalizer_data",
    "percent-encoding",
    "smallvec",
    // Limits per minute, whose clock is the bridge's own time.
    "governor",
    "nonzero_ext",
    "portable-atomic",
    "spinning_top",
    "lock_api",
    "scopeguard",
    "allocator-api2",
    "rustc-std-workspace-alloc",
    "web-time",
    // Digests of cards.
    "sha2",
    "block-buffer",
    "cfg-if",
    "cpufeatures",
    "crypto-common",
    "digest",
    "generic-array",
    "typenum",
];

/// What none of their own lines may name.
const FORBIDDEN: [&str; 9] =
    ["std::time::Instant", "SystemTime", "std::env", "std::fs", "std::net", "std::thread", "std::process", "std::io", "async fn"];

#[test]
fn the_pure_crates_are_built_from_nothing_that_acts() {
    let allowed: BTreeSet<_> = ALLOWED.into_iter().chain(ALSO_ALLOWED).collect();
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--package", "bridge-core", "--edges", "normal", "--prefix", "none", "--offline"])
        .output();
    let tree = String::from_utf8(tree.expect("cargo runs").stdout).expect("text");
    let found: BTreeSet<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(found.contains("policy") && found.contains("bridge-model"), "cargo tree said {tree:?}");
    let strangers: Vec<_> = found.difference(&allowed).collect();
    assert!(strangers.is_empty(), "new dependencies of the pure crates: {strangers:?}");
}

#[test]
fn no_line_of_theirs_reaches_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files: Vec<_> =
        ["bridge/model/src", "bridge/core/src", "policy/src"].iter().flat_map(|folder| sources(&root.join(folder))).collect();
    assert!(10 < files.len());
    for file in files {
        let text = fs::read_to_string(&file).expect("readable");
        for name in FORBIDDEN {
            assert!(!text.contains(name), "{} names {name}", file.display());
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}
