//! What shows that somebody knows the hash of a page's word, without telling it.

use hmac::{Hmac, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::id::TokenHash;

/// A session's public id.
pub(super) fn id(word: &TokenHash) -> [u8; 16] {
    let hash = Sha256::new().chain_update("countersign-id").chain_update(word).finalize();
    let mut id = [0; 16];
    id.copy_from_slice(&hash[..16]);
    id
}

/// For this nonce, which the page has drawn.
pub(super) fn of(word: &TokenHash, nonce: &str) -> Vec<u8> {
    // A key of any length is one.
    let Ok(proof) = Hmac::<Sha256>::new_from_slice(word) else { return Vec::new() };
    proof.chain_update("countersign-proof").chain_update(nonce).finalize().into_bytes().to_vec()
}
