//! Recordings of real agents.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dir {
    AgentToClient,
    ClientToAgent,
    Note,
}

/// A line of a recording.
#[derive(Clone, Debug)]
pub struct Frame {
    pub dir: Dir,
    /// What was sent, members in their order; `null` for a note.
    pub json: Value,
    /// The line as it is sent in a replay, without its end.
    pub text: String,
    pub note: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Capture {
    /// `AGENT__CASE`
    pub name: String,
    pub frames: Vec<Frame>,
}

impl Capture {
    /// All of them, in the order of their names.
    pub fn all() -> Vec<Self> {
        let files = fs::read_dir(directory()).expect("the recordings are there");
        let mut paths: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    pub fn named(name: &str) -> Self {
        Self::read(&directory().join(name).with_extension("jsonl"))
    }

    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        Self { name, frames: text.lines().map(Frame::parse).collect() }
    }
}

impl Frame {
    fn parse(line: &str) -> Self {
        let mut line: Value = serde_json::from_str(line).expect("a line of a recording is JSON");
        let dir = match line["dir"].as_str() {
            Some("agent->client") => Dir::AgentToClient,
            Some("client->agent") => Dir::ClientToAgent,
            Some("note") => Dir::Note,
            other => panic!("a recording has no direction {other:?}"),
        };
        let json = line["frame"].take();
        // What was not JSON was recorded as a string.
        let text = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
        let note = line["note"].as_str().map(str::to_owned);
        Self { dir, json, text, note }
    }

    pub fn method(&self) -> Option<&str> {
        self.json["method"].as_str()
    }

    pub fn id(&self) -> Option<&Value> {
        self.json.get("id")
    }
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("captures")
}
