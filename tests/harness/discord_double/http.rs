//! HTTP/1.1 by hand, as much as one client speaks: a library would keep right what the double has to break.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const HEAD_BYTES_MAX: usize = 64 * 1024;
const HEADERS_MAX: usize = 64;

/// What a client sent.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without the query.
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) authorization: Option<String>,
    content_type: String,
    body: Vec<u8>,
}

/// A part of a multipart body that is a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedFile {
    /// The part's name: `files[0]`.
    pub part: String,
    pub name: String,
    pub content: Vec<u8>,
}

/// What is sent back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// `None`: the client has closed the connection.
    pub(crate) async fn read(stream: &mut (impl AsyncRead + Unpin), unread: &mut Vec<u8>) -> io::Result<Option<Self>> {
        loop {
            if let Some((request, head_length, body_length)) = parse_head(unread)? {
                while unread.len() < head_length + body_length {
                    if stream.read_buf(unread).await? == 0 {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                let rest = unread.split_off(head_length + body_length);
                let body = std::mem::replace(unread, rest).split_off(head_length);
                return Ok(Some(Self { body, ..request }));
            }
            if HEAD_BYTES_MAX < unread.len() {
                return Err(invalid("the head of the request has no end"));
            }
            if stream.read_buf(unread).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// The JSON, and the files beside it.
    pub(crate) fn content(&self) -> Result<(Value, Vec<UploadedFile>), String> {
        if self.body.is_empty() {
            return Ok((Value::Null, Vec::new()));
        }
        if let Some(boundary) = self.content_type.strip_prefix("multipart/form-data; boundary=") {
            return multipart(&self.body, boundary.trim_matches('"'));
        }
        if !self.content_type.starts_with("application/json") {
            return Err(format!("a body of type {:?}", self.content_type));
        }
        Ok((parse_json(&self.body)?, Vec::new()))
    }
}

impl Reply {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::text(status, "application/json", &body.to_string())
    }

    pub(crate) fn empty() -> Self {
        Self::text(204, "application/json", "")
    }

    pub(crate) fn text(status: u16, content_type: &'static str, body: &str) -> Self {
        Self { status, content_type, headers: Vec::new(), body: body.as_bytes().to_vec() }
    }

    pub(crate) async fn write(&self, stream: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let mut head = vec![format!("HTTP/1.1 {} x", self.status), format!("content-type: {}", self.content_type)];
        if self.status != 204 {
            head.push(format!("content-length: {}", self.body.len()));
        }
        head.extend(self.headers.iter().map(|(name, value)| format!("{name}: {value}")));
        let head = head.join("\r\n") + "\r\n\r\n";
        stream.write_all(&[head.as_bytes(), &self.body].concat()).await?;
        stream.flush().await
    }
}

/// The request without its body, and how long both are.
fn parse_head(bytes: &[u8]) -> io::Result<Option<(Request, usize, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head_length) = head.parse(bytes).map_err(invalid)? else { return Ok(None) };
    let header = |name: &str| {
        let found = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(found.value).ok()
    };
    if header("transfer-encoding").is_some() {
        return Err(invalid("only bodies of a known length are understood"));
    }
    let body_length = header("content-length").unwrap_or("0").parse().map_err(invalid)?;
    let target = head.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let request = Request {
        method: head.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        authorization: header("authorization").map(str::to_owned),
        content_type: header("content-type").unwrap_or_default().to_owned(),
        body: Vec::new(),
    };
    Ok(Some((request, head_length, body_length)))
}

fn multipart(body: &[u8], boundary: &str) -> Result<(Value, Vec<UploadedFile>), String> {
    let (mut json, mut files) = (Value::Null, Vec::new());
    let mut rest = body;
    while let Some((part, after)) = split_once(rest, format!("--{boundary}").as_bytes()) {
        rest = after;
        // What precedes the first boundary is empty.
        let Some((head, content)) = split_once(part, b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(head);
        let content = content.strip_suffix(b"\r\n").ok_or("a part has no end")?;
        let (name, file_name) = (parameter(&head, " name").ok_or("a part has no name")?, parameter(&head, " filename"));
        if name == "payload_json" {
            json = parse_json(content)?;
        } else {
            files.push(UploadedFile { part: name, name: file_name.unwrap_or_default(), content: content.to_vec() });
        }
    }
    Ok((json, files))
}

fn parameter(head: &str, name: &str) -> Option<String> {
    let (_, value) = head.split_once(&format!("{name}=\""))?;
    Some(value.split_once('"')?.0.to_owned())
}

fn split_once<'a>(bytes: &'a [u8], at: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let found = memchr::memmem::find(bytes, at)?;
    Some((&bytes[..found], &bytes[found + at.len()..]))
}

fn parse_json(bytes: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("a body that is not JSON: {error}"))
}

fn invalid(problem: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}
