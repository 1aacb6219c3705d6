//! The binary; everything it does is in the library.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    countersign::run().await
}
