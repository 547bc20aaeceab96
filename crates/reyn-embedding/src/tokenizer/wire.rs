//! The fields of a protocol buffer message, one after the other.

use super::vocabulary::VocabularyError;

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    Number(u64),
    /// Four bytes.
    Short([u8; 4]),
    /// Eight bytes, which nothing here needs.
    Long,
    Bytes(&'a [u8]),
}

/// A reader over the bytes of one message.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    fn read(&mut self) -> Option<(u64, Value<'a>)> {
        let tag = self.number()?;
        let value = match tag & 7 {
            0 => Value::Number(self.number()?),
            1 => self.take(8).map(|_| Value::Long)?,
            2 => {
                let length = usize::try_from(self.number()?).ok()?;
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Short(*self.take(4)?.first_chunk()?),
            _ => return None,
        };
        Some((tag >> 3, value))
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), VocabularyError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read().ok_or(VocabularyError::Message);
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_field_is_read() {
        let message = b"\x08\x96\x01\x12\x02hi\x1d\0\0\x80\x3f\x21\0\0\0\0\0\0\0\0";
        let fields: Result<Vec<_>, _> = Fields::new(message).collect();
        assert_eq!(
            fields.unwrap(),
            [
                (1, Value::Number(150)),
                (2, Value::Bytes(b"hi")),
                (3, Value::Short(1.0_f32.to_le_bytes())),
                (4, Value::Long),
            ]
        );
    }

    #[test]
    fn a_length_beyond_the_end_an_endless_number_and_a_group_are_errors() {
        for message in [
            &b"\x12\x05hi"[..],
            &[0xff; 20],
            b"\x0b",
            b"\x08",
            b"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        ] {
            let read: Vec<_> = Fields::new(message).collect();
            assert_eq!(read.last(), Some(&Err(VocabularyError::Message)), "{message:?}");
        }
    }
}
