//! One tree from the file and the environment.

use std::collections::BTreeMap;

use config::{FileFormat, Value};
use toml::de::DeTable;

use crate::environment::{Environment, PREFIX};
use crate::problem::{ConfigError, Origin, Problems};

/// The file with the environment laid over it.
pub(crate) fn merge(text: &str, environment: &Environment, problems: &Problems) -> Result<BTreeMap<String, Value>, ConfigError> {
    check_syntax(text, problems);
    check_names(environment, problems);
    problems.check()?;

    let overrides = environment.overrides().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let built = config::Config::builder()
        .add_source(config::File::from_str(text, FileFormat::Toml))
        .add_source(config::Environment::with_prefix("COUNTERSIGN").separator("__").source(Some(overrides)))
        .build();
    match built.and_then(|built| built.cache.into_table()) {
        Ok(table) => Ok(table.into_iter().collect()),
        // Only a number that does not fit comes here: the syntax was checked, so no excerpt of the file is in the text.
        Err(error) => {
            problems.add(Origin::File, "a number", error.to_string(), "write one that fits into 64 bits");
            problems.check().map(|()| BTreeMap::new())
        }
    }
}

/// Reports every syntax error by its line. The parser's own report quotes the line, and a secret may stand on it.
fn check_syntax(text: &str, problems: &Problems) {
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| 1 + before.matches('\n').count());
        problems.add(Origin::File, &format!("line {line}"), error.message(), "see https://toml.io for the syntax");
    }
    // The `config` crate takes a key at the top as a path: `"a.b"` would reach into `a`, `"a[9]"` would make a list.
    for key in table.into_inner().keys().filter(|key| !is_plain(key.get_ref())) {
        problems.add(Origin::File, key.get_ref(), "is not a known key", "remove it");
    }
}

fn check_names(environment: &Environment, problems: &Problems) {
    let names: Vec<&str> = environment.overrides().map(|(name, _)| name).collect();
    for name in &names {
        let path = name.strip_prefix(PREFIX).unwrap_or_default();
        if !path.split("__").all(|step| is_plain(step) && step.to_uppercase() == step) {
            let advice = "write the key's path in capitals with two underscores between steps, such as COUNTERSIGN__LOG__LEVEL";
            problems.add(Origin::Environment, name, "does not name a setting", advice);
        }
        // A section that is replaced as a whole would take the file's settings in it along.
        if names.iter().any(|other| other.strip_prefix(name).is_some_and(|rest| rest.starts_with("__"))) {
            let advice = "unset it, and override the settings in it one by one";
            problems.add(Origin::Environment, name, "is a section, not a setting", advice);
        }
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}
