//! README.md stays true where a machine can tell.

use std::fs;
use std::path::{Path, PathBuf};

use bridge_config::Environment;

#[test]
fn every_path_of_the_code_map_exists() {
    let readme = readme();
    let map = readme.split("| where | what |").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("the code map");
    let named = map.lines().filter_map(|line| line.split('|').nth(1)).flat_map(|cell| cell.split('`').skip(1).step_by(2));
    let missing: Vec<_> = named.filter(|path| !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_link_into_the_project_leads_somewhere() {
    let readme = readme();
    let targets = readme.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let inside = targets.filter(|target| !target.starts_with("http") && !target.starts_with('#'));
    let missing: Vec<_> = inside.filter(|path| !root().join(path).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_configuration_it_shows_is_understood() {
    let readme = readme();
    let mut shown = 0;
    for block in readme.split("```toml\n").skip(1) {
        let text = block.split("```").next().expect("its end");
        let text: String = text.lines().flat_map(|line| [line.trim_start(), "\n"]).collect();
        let home = [("HOME".to_owned(), "/home/ada".to_owned())].into_iter().collect::<Environment>();
        let config = bridge_config::parse(Path::new("/etc/countersign.toml"), &text, &home, &|_, _| Ok("secret".to_owned()));
        assert_eq!(config.expect("understood").warnings, Vec::<String>::new());
        shown += 1;
    }
    assert!(0 < shown);
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("README.md")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
