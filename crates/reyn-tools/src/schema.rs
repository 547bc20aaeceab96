//! Schemas as models need them: short, and without what strict servers refuse.

use serde_json::Value;

/// Drops titles, formats, bounds that only repeat a type, `null` beside another type, empty defaults, and closedness, at
/// every depth. What is left means the same to a model.
pub(crate) fn compact(mut schema: Value) -> Value {
    clean(&mut schema);
    if let Some(object) = schema.as_object_mut() {
        object.remove("description");
    }
    schema
}

fn clean(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    for key in ["$schema", "title", "format", "additionalProperties"] {
        object.remove(key);
    }
    if object.get("minimum").is_some_and(|least| least.as_f64() == Some(0.0)) {
        object.remove("minimum");
    }
    let is_nothing =
        |value: &Value| value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
    if object.get("default").is_some_and(is_nothing) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(clean);
    }
    if let Some(items) = object.get_mut("items") {
        clean(items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_model_does_not_need_is_dropped_at_every_depth() {
        let schema = json!({
            "title": "Args", "description": "doc of the type", "type": "object", "additionalProperties": false,
            "properties": {
                "n": {"description": "Count.", "type": ["integer", "null"], "format": "uint64", "minimum": 0, "default": null},
                "mode": {"type": ["string", "null"], "enum": ["a", "b", null]},
                "title": {"type": "array", "items": {"type": "string", "title": "x"}},
                "where": {"type": "object", "default": {}, "additionalProperties": {"type": "string"}},
            },
            "required": ["title"],
        });
        assert_eq!(
            compact(schema),
            json!({
                "type": "object",
                "properties": {
                    "n": {"description": "Count.", "type": "integer"},
                    "mode": {"type": "string", "enum": ["a", "b"]},
                    "title": {"type": "array", "items": {"type": "string"}},
                    "where": {"type": "object"},
                },
                "required": ["title"],
            })
        );
    }
}
