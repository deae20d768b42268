//! Reads the text format of protobuf, as far as the conformance files use it.
//!
//! A message is its fields in order, repeated ones repeatedly; nothing here knows what the fields
//! mean. Text is bytes, because a bytes field is written the same way.

/// The fields of a message, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Message {
    fields: Vec<(String, Field)>,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Field {
    /// Quoted text.
    Text(Vec<u8>),
    /// A number or a name.
    Word(String),
    /// Fields of its own.
    Message(Message),
}

impl Message {
    /// Reads a whole file.
    ///
    /// # Panics
    ///
    /// When the file is not in the text format.
    pub(crate) fn read(text: &str) -> Message {
        let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
        let message = reader.message(None);
        assert_eq!(reader.at, text.len(), "something stands behind the last field");
        message
    }

    /// All fields, in order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &Field)> {
        self.fields.iter().map(|(name, field)| (name.as_str(), field))
    }

    /// All values of a field that holds messages.
    pub(crate) fn messages<'m>(&'m self, name: &str) -> impl Iterator<Item = &'m Message> {
        self.fields.iter().filter_map(move |(found, field)| match field {
            Field::Message(message) if found == name => Some(message),
            _ => None,
        })
    }

    /// The message of a field.
    pub(crate) fn message(&self, name: &str) -> Option<&Message> {
        self.messages(name).next()
    }

    /// The text of a field, empty where it is not set.
    pub(crate) fn text(&self, name: &str) -> String {
        match self.field(name) {
            Some(Field::Text(text)) => String::from_utf8(text.clone()).expect("text is UTF-8"),
            Some(Field::Word(word)) => word.clone(),
            _ => String::new(),
        }
    }

    /// Whether a boolean field is set to true.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.field(name) == Some(&Field::Word("true".to_owned()))
    }

    fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|(found, _)| found == name).map(|(_, field)| field)
    }
}

struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    /// Fields up to the closing byte, or to the end of the file.
    fn message(&mut self, end: Option<u8>) -> Message {
        let mut message = Message::default();
        loop {
            match self.peek() {
                found if found == end => {
                    self.at += usize::from(end.is_some());
                    return message;
                }
                Some(b',' | b';') => self.at += 1,
                Some(_) => self.field(&mut message),
                None => panic!("a message has no end"),
            }
        }
    }

    fn field(&mut self, message: &mut Message) {
        let name = self.name();
        if self.peek() == Some(b':') {
            self.at += 1;
        }
        if self.peek() == Some(b'[') {
            self.at += 1;
            while self.peek() != Some(b']') {
                let value = self.value();
                message.fields.push((name.clone(), value));
                if self.peek() == Some(b',') {
                    self.at += 1;
                }
            }
            self.at += 1;
        } else {
            let value = self.value();
            message.fields.push((name, value));
        }
    }

    /// A name, or in brackets the type of an `Any` or the name of an extension.
    fn name(&mut self) -> String {
        let is_bracketed = self.peek() == Some(b'[');
        self.at += usize::from(is_bracketed);
        let name = self.word();
        if is_bracketed {
            assert_eq!(self.peek(), Some(b']'), "a bracket is not closed behind {name}");
            self.at += 1;
        }
        name
    }

    fn value(&mut self) -> Field {
        match self.peek() {
            Some(b'{') => {
                self.at += 1;
                Field::Message(self.message(Some(b'}')))
            }
            Some(b'<') => {
                self.at += 1;
                Field::Message(self.message(Some(b'>')))
            }
            Some(b'"' | b'\'') => {
                let mut text = Vec::new();
                // Texts next to each other are one.
                while let Some(quote @ (b'"' | b'\'')) = self.peek() {
                    self.text(quote, &mut text);
                }
                Field::Text(text)
            }
            _ => Field::Word(self.word()),
        }
    }

    fn word(&mut self) -> String {
        self.peek();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./+-".contains(byte);
        let length = self.bytes[self.at..].iter().take_while(|byte| is_part(byte)).count();
        assert!(length > 0, "no word at byte {}", self.at);
        let word = &self.bytes[self.at..self.at + length];
        self.at += length;
        String::from_utf8(word.to_vec()).expect("a word is ASCII")
    }

    fn text(&mut self, quote: u8, text: &mut Vec<u8>) {
        self.at += 1;
        loop {
            match self.next() {
                b'\\' => self.escape(text),
                byte if byte == quote => return,
                byte => text.push(byte),
            }
        }
    }

    fn escape(&mut self, text: &mut Vec<u8>) {
        match self.next() {
            b'a' => text.push(7),
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'v' => text.push(11),
            b'x' | b'X' => {
                let code = self.digits(16, 2);
                text.push(u8::try_from(code).expect("two digits are a byte"));
            }
            b'u' => self.rune(4, text),
            b'U' => self.rune(8, text),
            b'0'..=b'7' => {
                self.at -= 1;
                let code = self.digits(8, 3);
                text.push(u8::try_from(code).expect("an octal escape is a byte"));
            }
            other => text.push(other),
        }
    }

    fn rune(&mut self, digits: usize, text: &mut Vec<u8>) {
        let rune = char::from_u32(self.digits(16, digits)).expect("an escape is a character");
        text.extend_from_slice(rune.encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// The value of at most so many digits.
    fn digits(&mut self, radix: u32, max: usize) -> u32 {
        let mut value = 0;
        for _ in 0..max {
            let digit = self.bytes.get(self.at).and_then(|byte| char::from(*byte).to_digit(radix));
            let Some(digit) = digit else { break };
            value = value * radix + digit;
            self.at += 1;
        }
        value
    }

    fn next(&mut self) -> u8 {
        let byte = self.bytes[self.at];
        self.at += 1;
        byte
    }

    /// The next byte that is no space and in no comment.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.bytes.get(self.at)? {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'#' => {
                    let line = &self.bytes[self.at..];
                    let end = line.iter().position(|byte| *byte == b'\n');
                    self.at += end.unwrap_or(line.len());
                }
                byte => return Some(byte),
            }
        }
    }
}

#[test]
fn a_message_is_its_fields_in_order() {
    let message = Message::read(
        "name: \"a\\n\\x41\\101\\u00e9\" 'b' # comment\nlist: [1, -2]; inner { x: <> } [a.b/c]: {}",
    );
    assert_eq!(message.text("name"), "a\nAA\u{e9}b");
    let words: Vec<_> = message.fields().filter(|(name, _)| *name == "list").collect();
    assert_eq!(words.len(), 2);
    assert_eq!(message.message("inner").unwrap().messages("x").count(), 1);
    assert!(message.message("a.b/c").is_some());
}
