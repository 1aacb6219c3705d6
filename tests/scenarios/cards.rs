//! What is on a card, in every room: of what real agents ask, and of anything at all.

mod recordings;
