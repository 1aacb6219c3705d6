//! Carries lines from one side to the other, byte for byte, and lets a sieve look at each.

use std::io::{self, Read};

use serde_json::value::RawValue;

/// A line longer than this ends the stream: it cannot be looked at, and passing it unseen might pass a request.
pub(crate) const LINE_MAX: usize = 256 << 20;

/// What is read at once, at least.
const CHUNK: usize = 256 << 10;

/// What becomes of a line.
pub(crate) enum Fate {
    /// It goes on as it is.
    Pass,
    /// It does not go on.
    Withhold,
    /// These bytes go on in its place.
    Replace(Vec<u8>),
}

/// Looks at lines and passes bytes on.
pub(crate) trait Sieve {
    /// Cheap and without effect: a place in the first line that [`Sieve::look`] has to see, if there is one.
    ///
    /// It is given many lines at once, since most lines concern nobody here.
    fn next_of_interest(&self, lines: &[u8]) -> Option<usize>;
    /// Called once for each line of interest, its line ending included, after all earlier bytes were passed on.
    fn look(&mut self, line: &[u8]) -> Fate;
    /// Called after a line that [`Sieve::look`] let pass has been passed on.
    fn passed(&mut self);
    fn pass(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// What becomes of a line that holds several values: unless one is withheld, it goes on as it is.
pub(crate) fn each(values: &[Box<RawValue>], mut look: impl FnMut(&RawValue) -> Fate) -> Fate {
    let mut others = Vec::new();
    let mut any_withheld = false;
    for value in values {
        match look(value) {
            Fate::Withhold => any_withheld = true,
            Fate::Pass | Fate::Replace(_) => {
                others.extend_from_slice(value.get().as_bytes());
                others.push(b'\n');
            }
        }
    }
    if any_withheld { Fate::Replace(others) } else { Fate::Pass }
}

/// Runs until the input ends, cannot be read, or cannot be passed on.
pub(crate) fn run(mut from: impl Read, sieve: &mut impl Sieve) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let mut filled = 0;
    loop {
        if buffer.len() - filled < CHUNK / 2 {
            if LINE_MAX < filled {
                return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a line is longer than {LINE_MAX} bytes")));
            }
            buffer.resize(buffer.len() * 2, 0);
        }
        let read = match from.read(&mut buffer[filled..]) {
            Ok(0) => {
                // The last line may lack its end; it is a line all the same.
                return sift(&buffer[..filled], sieve);
            }
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let fresh = filled;
        filled += read;
        if let Some(end) = memchr::memrchr(b'\n', &buffer[fresh..filled]) {
            let end = fresh + end + 1;
            sift(&buffer[..end], sieve)?;
            buffer.copy_within(end..filled, 0);
            filled -= end;
            if filled <= CHUNK && 16 * CHUNK < buffer.len() {
                buffer.truncate(CHUNK * 2);
                buffer.shrink_to_fit();
            }
        }
    }
}

/// Passes runs of uninteresting lines on in one piece.
fn sift(lines: &[u8], sieve: &mut impl Sieve) -> io::Result<()> {
    let mut rest = lines;
    while let Some(at) = sieve.next_of_interest(rest) {
        let start = memchr::memrchr(b'\n', &rest[..at]).map_or(0, |before| before + 1);
        let end = memchr::memchr(b'\n', &rest[at..]).map_or(rest.len(), |after| at + after + 1);
        if 0 < start {
            sieve.pass(&rest[..start])?;
        }
        match sieve.look(&rest[start..end]) {
            Fate::Pass => sieve.pass(&rest[start..end])?,
            Fate::Withhold => {}
            Fate::Replace(bytes) => sieve.pass(&bytes)?,
        }
        sieve.passed();
        rest = &rest[end..];
    }
    if rest.is_empty() { Ok(()) } else { sieve.pass(rest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Withholds lines that hold an `h`, replaces those with an `r`, and keeps what passed.
    #[derive(Default)]
    struct Keep {
        out: Vec<u8>,
        pieces: usize,
    }

    impl Sieve for Keep {
        fn next_of_interest(&self, lines: &[u8]) -> Option<usize> {
            lines.iter().position(|byte| b"hri".contains(byte))
        }

        fn look(&mut self, line: &[u8]) -> Fate {
            match line {
                line if line.contains(&b'h') => Fate::Withhold,
                line if line.contains(&b'r') => Fate::Replace(b"R\n".to_vec()),
                _ => Fate::Pass,
            }
        }

        fn passed(&mut self) {}

        fn pass(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.out.extend_from_slice(bytes);
            self.pieces += 1;
            Ok(())
        }
    }

    /// Hands out its bytes in pieces of the given size.
    struct Dribble<'a>(&'a [u8], usize);

    impl Read for Dribble<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(self.0.len()).min(into.len());
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn pumped(bytes: &[u8], piece: usize) -> Keep {
        let mut keep = Keep::default();
        run(Dribble(bytes, piece), &mut keep).expect("pumped");
        keep
    }

    #[test]
    fn lines_split_at_any_byte_arrive_whole_and_in_order() {
        let lines = b"a\n\r\nb\xff\x00\r\nhold\ni\nc\nrepl\nno end";
        for piece in 1..=lines.len() {
            assert_eq!(pumped(lines, piece).out, b"a\n\r\nb\xff\x00\r\ni\nc\nR\nno end", "{piece}");
        }
    }

    #[test]
    fn a_last_line_without_an_end_is_looked_at_too() {
        assert_eq!(pumped(b"a\nhold", 3).out, b"a\n");
    }

    #[test]
    fn uninteresting_lines_go_on_in_one_piece() {
        assert_eq!(pumped(&b"abc\n".repeat(1_000), 1 << 20).pieces, 1);
    }

    #[test]
    fn a_huge_line_passes_untouched() {
        let mut line = vec![b'x'; 64 << 20];
        line.push(b'\n');
        assert!(pumped(&line, 1 << 20).out == line);
    }
}
