//! Frames, in which packets are sent: a header of 3 bytes of length and 1 of sequence number, then
//! payload.

use crate::error::Violation;

/// A frame of this length says that its packet goes on in the next frame.
pub const FULL_FRAME: usize = 0xff_ffff;
/// No packet is longer: the protocol's limit for `max_allowed_packet`, 1 GiB.
const LONGEST_PACKET: u64 = 1 << 30;
/// Bytes of a packet's start that are kept if it arrives in pieces: enough for an error's code and
/// message.
pub const PREFIX: usize = 512;

/// A packet that arrives in pieces. Of its payload only the first [`PREFIX`] bytes are kept.
#[derive(Debug, Default)]
pub struct Partial {
    header: [u8; 4],
    header_len: usize,
    /// Payload of the current frame still to come.
    left: usize,
    /// The current frame is full: the packet goes on in another frame.
    goes_on: bool,
    /// Bytes of payload so far, over all frames of the packet.
    length: u64,
    prefix: Vec<u8>,
    /// How many bytes of payload are kept beyond [`PREFIX`].
    more: usize,
    active: bool,
}

impl Partial {
    /// Whether a packet has begun and not ended.
    pub fn active(&self) -> bool {
        self.active
    }

    /// Takes what is there of a frame's header. Returns the frame's sequence number once the header is
    /// whole.
    pub fn take_header(&mut self, input: &mut &[u8]) -> Result<Option<u8>, Violation> {
        self.active = true;
        if self.header_len == 4 {
            return Ok(None);
        }
        let (taken, rest) = input.split_at((4 - self.header_len).min(input.len()));
        self.header[self.header_len..self.header_len + taken.len()].copy_from_slice(taken);
        self.header_len += taken.len();
        *input = rest;
        if self.header_len < 4 {
            return Ok(None);
        }
        self.left = frame_length(self.header);
        self.goes_on = self.left == FULL_FRAME;
        if self.length + self.left as u64 > LONGEST_PACKET {
            return Err(Violation("a packet above 1 GiB"));
        }
        Ok(Some(self.header[3]))
    }

    /// Takes what is there of a frame's payload. Returns whether the packet is whole.
    pub fn take_payload(&mut self, input: &mut &[u8]) -> bool {
        if self.header_len < 4 {
            return false;
        }
        let (taken, rest) = input.split_at(self.left.min(input.len()));
        let room = (PREFIX + self.more).saturating_sub(self.prefix.len());
        self.prefix.extend_from_slice(&taken[..room.min(taken.len())]);
        self.left -= taken.len();
        self.length += taken.len() as u64;
        *input = rest;
        if self.left > 0 {
            return false;
        }
        self.header_len = 0;
        !self.goes_on
    }

    /// Ends the packet: returns its first bytes and its length, and is ready for the next one.
    pub fn finish(&mut self) -> (Vec<u8>, u64) {
        let whole = (std::mem::take(&mut self.prefix), self.length);
        self.clear();
        whole
    }

    /// Keeps more of the packets that follow.
    pub fn keep(&mut self, more: usize) {
        self.more = more;
    }

    /// Takes back the buffer that [`Partial::finish`] gave, so that none is allocated.
    pub fn reuse(&mut self, mut prefix: Vec<u8>) {
        prefix.clear();
        self.prefix = prefix;
    }

    pub fn clear(&mut self) {
        self.header_len = 0;
        self.left = 0;
        self.goes_on = false;
        self.length = 0;
        self.prefix.clear();
        self.active = false;
    }
}

/// The packet at the start of the input, if all of it is there in one frame: its sequence number, its
/// payload, and what follows it.
pub fn whole_packet(input: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let &[a, b, c, sequence, ref rest @ ..] = input else {
        return None;
    };
    let length = frame_length([a, b, c, sequence]);
    if length == FULL_FRAME || length > rest.len() {
        return None;
    }
    let (payload, rest) = rest.split_at(length);
    Some((sequence, payload, rest))
}

fn frame_length(header: [u8; 4]) -> usize {
    u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize
}

/// A length-encoded integer and what follows it.
pub fn length_encoded(input: &[u8]) -> Result<(u64, &[u8]), Violation> {
    const SHORT: Violation = Violation("a number cut short");
    let (&first, rest) = input.split_first().ok_or(SHORT)?;
    let size = match first {
        0..=0xfa => return Ok((u64::from(first), rest)),
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        _ => return Err(Violation("no number")),
    };
    if rest.len() < size {
        return Err(SHORT);
    }
    let (number, rest) = rest.split_at(size);
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(number);
    Ok((u64::from_le_bytes(bytes), rest))
}
