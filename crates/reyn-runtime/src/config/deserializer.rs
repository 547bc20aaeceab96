//! A tree of [`Node`]s as a serde source whose errors say which node is wrong, and why.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::node::{Members, Node, NodeValue, Step};
use super::yaml::resolve;

/// Why a tree is not what a type needs.
#[derive(Debug)]
pub(super) struct Failure {
    /// What is wrong.
    pub cause: Cause,
    /// The node, from the innermost step outwards.
    pub steps: Vec<Step>,
}

/// What can be wrong with a node.
#[derive(Debug)]
pub(super) enum Cause {
    /// The last step is a key that its map does not have.
    UnknownKey {
        /// The keys that it has.
        valid: &'static [&'static str],
    },
    /// The value is none of the words that are possible.
    UnknownWord {
        /// The word.
        word: String,
        /// The possible ones.
        valid: &'static [&'static str],
    },
    /// The value is of another kind, or outside what the type holds.
    Mismatch {
        /// What is there.
        found: Found,
        /// What must be there.
        expected: String,
    },
    /// A key without which the map says nothing.
    MissingKey(&'static str),
    /// Anything else.
    Other(String),
}

/// What stands where something else is needed.
#[derive(Debug)]
pub(super) enum Found {
    /// A kind of value.
    Kind(&'static str),
    /// A value, which may be a secret.
    Value(String),
}

impl Failure {
    fn new(cause: Cause) -> Self {
        Self { cause, steps: vec![] }
    }

    fn within(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// The node, from the root inwards.
    pub(super) fn path(&self) -> Vec<Step> {
        self.steps.iter().rev().cloned().collect()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.cause)
    }
}

impl std::error::Error for Failure {}

fn found(unexpected: Unexpected<'_>) -> Found {
    match unexpected {
        Unexpected::Bool(value) => Found::Value(value.to_string()),
        Unexpected::Unsigned(value) => Found::Value(value.to_string()),
        Unexpected::Signed(value) => Found::Value(value.to_string()),
        Unexpected::Float(value) => Found::Value(value.to_string()),
        Unexpected::Char(value) => Found::Value(value.to_string()),
        Unexpected::Str(text) => Found::Value(text.to_owned()),
        Unexpected::Bytes(_) => Found::Kind("bytes"),
        Unexpected::Unit | Unexpected::Option => Found::Kind("nothing"),
        Unexpected::Seq => Found::Kind("a list"),
        Unexpected::Map => Found::Kind("a map"),
        Unexpected::NewtypeStruct
        | Unexpected::Enum
        | Unexpected::UnitVariant
        | Unexpected::NewtypeVariant
        | Unexpected::TupleVariant
        | Unexpected::StructVariant
        | Unexpected::Other(_) => Found::Kind("something else"),
    }
}

/// What a type calls what it needs, in words for people.
fn expectation(expected: &dyn Expected) -> String {
    let said = expected.to_string();
    match said.as_str() {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0 up".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a string" => "text".to_owned(),
        "a sequence" => "a list".to_owned(),
        _ if said.starts_with("struct ") || said == "a map" => "a map of keys".to_owned(),
        _ => said,
    }
}

impl Error for Failure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Cause::Other(message.to_string()))
    }
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(Cause::Mismatch { found: found(unexpected), expected: expectation(expected) })
    }
    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }
    fn unknown_variant(word: &str, valid: &'static [&'static str]) -> Self {
        Self::new(Cause::UnknownWord { word: word.to_owned(), valid })
    }
    fn unknown_field(_: &str, valid: &'static [&'static str]) -> Self {
        Self::new(Cause::UnknownKey { valid })
    }
    fn missing_field(field: &'static str) -> Self {
        Self::new(Cause::MissingKey(field))
    }
}

impl Node {
    fn unexpected(&self) -> Unexpected<'_> {
        match &self.value {
            NodeValue::Null => Unexpected::Unit,
            NodeValue::Bool(value) => Unexpected::Bool(*value),
            NodeValue::Unsigned(value) => Unexpected::Unsigned(*value),
            NodeValue::Signed(value) => Unexpected::Signed(*value),
            NodeValue::Float(value) => Unexpected::Float(*value),
            NodeValue::Text(text) => Unexpected::Str(text),
            NodeValue::List(_) => Unexpected::Seq,
            NodeValue::Map(_) => Unexpected::Map,
        }
    }

    fn visit<'de, V: Visitor<'de>>(&'de self, value: &NodeValue, visitor: V) -> Result<V::Value, Failure> {
        match value {
            NodeValue::Bool(value) => visitor.visit_bool(*value),
            NodeValue::Unsigned(value) => visitor.visit_u64(*value),
            NodeValue::Signed(value) => visitor.visit_i64(*value),
            NodeValue::Float(value) => visitor.visit_f64(*value),
            NodeValue::Null | NodeValue::Text(_) | NodeValue::List(_) | NodeValue::Map(_) => {
                self.deserialize_any(visitor)
            }
        }
    }

    /// A number or a truth value. `${NAME}` stands for one too, so expanded text is read as written.
    fn visit_scalar<'de, V: Visitor<'de>>(&'de self, visitor: V) -> Result<V::Value, Failure> {
        if let (NodeValue::Text(text), Some(_)) = (&self.value, &self.template) {
            return self.visit(&resolve(text), visitor);
        }
        self.visit(&self.value, visitor)
    }

    fn visit_members<'de, V: Visitor<'de>>(
        &'de self,
        without_null: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match &self.value {
            NodeValue::Map(members) => visitor.visit_map(MemberAccess::new(members, without_null)),
            NodeValue::Null => visitor.visit_map(MemberAccess::empty()),
            NodeValue::Bool(_)
            | NodeValue::Unsigned(_)
            | NodeValue::Signed(_)
            | NodeValue::Float(_)
            | NodeValue::Text(_)
            | NodeValue::List(_) => Err(Failure::invalid_type(self.unexpected(), &visitor)),
        }
    }
}

macro_rules! scalars {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
            self.visit_scalar(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match &self.value {
            NodeValue::Null => visitor.visit_unit(),
            NodeValue::Bool(value) => visitor.visit_bool(*value),
            NodeValue::Unsigned(value) => visitor.visit_u64(*value),
            NodeValue::Signed(value) => visitor.visit_i64(*value),
            NodeValue::Float(value) => visitor.visit_f64(*value),
            NodeValue::Text(text) => visitor.visit_borrowed_str(text),
            NodeValue::List(items) => visitor.visit_seq(ItemAccess { items, next: 0 }),
            NodeValue::Map(members) => visitor.visit_map(MemberAccess::new(members, &[])),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        if matches!(self.value, NodeValue::Null) { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.visit_members(fields, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.visit_members(&[], visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        match &self.value {
            NodeValue::Text(word) => visitor.visit_enum(Word(word)),
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Unsigned(_)
            | NodeValue::Signed(_)
            | NodeValue::Float(_)
            | NodeValue::List(_)
            | NodeValue::Map(_) => {
                let expected = reyn_core::text::alternatives(variants);
                Err(Failure::new(Cause::Mismatch { found: found(self.unexpected()), expected }))
            }
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        visitor.visit_newtype_struct(self)
    }

    scalars! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32
        deserialize_f64
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct identifier ignored_any
    }
}

struct MemberAccess<'de> {
    members: Option<indexmap::map::Iter<'de, String, super::node::Member>>,
    without_null: &'static [&'static str],
    next: Option<(&'de String, &'de Node)>,
}

impl<'de> MemberAccess<'de> {
    fn new(members: &'de Members, without_null: &'static [&'static str]) -> Self {
        Self { members: Some(members.iter()), without_null, next: None }
    }

    const fn empty() -> Self {
        Self { members: None, without_null: &[], next: None }
    }
}

impl<'de> MapAccess<'de> for MemberAccess<'de> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        let without_null = self.without_null;
        let is_said =
            |name: &str, node: &Node| !matches!(node.value, NodeValue::Null) || !without_null.contains(&name);
        let Some((name, member)) =
            self.members.as_mut().and_then(|all| all.find(|(name, member)| is_said(name, &member.node)))
        else {
            return Ok(None);
        };
        self.next = Some((name, &member.node));
        let key: StrDeserializer<'_, Failure> = name.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|failure| failure.within(Step::Key(name.clone())))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failure> {
        let (name, node) = self.next.take().expect("serde asks for a value after its key");
        seed.deserialize(node).map_err(|failure| failure.within(Step::Key(name.clone())))
    }
}

struct ItemAccess<'de> {
    items: &'de [Node],
    next: usize,
}

impl<'de> SeqAccess<'de> for ItemAccess<'de> {
    type Error = Failure;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Failure> {
        let at = self.next;
        let Some(node) = self.items.get(at) else { return Ok(None) };
        self.next += 1;
        seed.deserialize(node).map(Some).map_err(|failure| failure.within(Step::Index(at)))
    }
}

/// The name of an enum's variant.
struct Word<'de>(&'de str);

impl<'de> EnumAccess<'de> for Word<'de> {
    type Error = Failure;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Failure> {
        let name: StrDeserializer<'_, Failure> = self.0.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'de> {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        Ok(())
    }
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, _: S) -> Result<S::Value, Failure> {
        Err(Failure::custom("a word does not stand for this variant"))
    }
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Failure> {
        Err(Failure::custom("a word does not stand for this variant"))
    }
    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, Failure> {
        Err(Failure::custom("a word does not stand for this variant"))
    }
}
