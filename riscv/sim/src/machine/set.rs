//! Fields of a machine that a user sets one by one, `KEY=VALUE`, in place of a machine file.

use std::fmt::Display;

use toml::{Table, Value};

use super::{Machine, invalid_field};
use crate::error::{Error, ErrorKind};

impl Machine {
    /// Parses a machine file in which settings `KEY=VALUE` replace or add fields. Returns the machine, and the changed file without its
    /// comments.
    ///
    /// A key is the path of a field: `harts`, `l1d.size`. Elements of arrays have their number, from 0, or one of their texts:
    /// `region[ram].latency`, `out_of_order.unit[alu].count`. `issue` is short for `out_of_order.issue`. A value is that of the file,
    /// where texts need no quotes. The `count` of a unit also replaces its `count_from_issue`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Machine`] names the field. The file has to be valid without the settings too.
    pub fn parse_with(text: &str, settings: &[String]) -> Result<(Machine, String), Error> {
        Machine::parse(text)?;
        let invalid =
            |error: &dyn Display| Error::new(ErrorKind::Machine(error.to_string().trim().replace('\n', ", ")));
        let mut file: Table = text.parse().map_err(|error| invalid(&error))?;
        let mut set_before = Vec::new();
        for setting in settings {
            let (key, value) =
                setting.split_once('=').ok_or_else(|| invalid_field(setting, "a setting is KEY=VALUE"))?;
            let key = match key.trim() {
                "issue" if !file.contains_key("out_of_order") => {
                    return Err(invalid_field("issue", "an in-order hart issues one instruction a cycle"));
                }
                "issue" => "out_of_order.issue",
                key => key,
            };
            let path = set(&mut file, key, value.trim())?;
            // A part may follow its whole, but not be lost in it.
            let is_lost = |before: &String| {
                before.strip_prefix(&path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            if set_before.iter().any(is_lost) {
                return Err(invalid_field(key, "set twice"));
            }
            set_before.push(path);
        }
        let machine: Machine = file.clone().try_into().map_err(|error| invalid(&error))?;
        Ok((machine.complete()?, toml::to_string(&file).map_err(|error| invalid(&error))?))
    }
}

/// Sets a field and returns its path, in which elements of arrays have their number.
fn set(file: &mut Table, key: &str, value: &str) -> Result<String, Error> {
    let value = value.parse().unwrap_or_else(|_| Value::from(value));
    let (tables, field) = key.rsplit_once('.').unwrap_or(("", key));
    let (mut table, mut path) = (file, String::new());
    for name in tables.split('.').filter(|name| !name.is_empty()) {
        let why = || format!("the machine has no table {name}; one of several is region[0] or region[flash]");
        let missing = || invalid_field(key, why());
        (table, path) = match name.strip_suffix(']').and_then(|name| name.split_once('[')) {
            None => {
                let found = table.entry(name).or_insert_with(|| Table::new().into()).as_table_mut();
                (found.ok_or_else(missing)?, format!("{path}{name}."))
            }
            Some((array, wanted)) => {
                let elements = table.get_mut(array).and_then(Value::as_array_mut).ok_or_else(missing)?;
                let place = match places(elements, wanted)[..] {
                    [place] => place,
                    [] => return Err(missing()),
                    [first, second, ..] => {
                        let why = format!("{name} is {array}[{first}] or {array}[{second}]");
                        return Err(invalid_field(key, why));
                    }
                };
                let found = elements.get_mut(place).and_then(Value::as_table_mut).ok_or_else(missing)?;
                (found, format!("{path}{array}[{place}]."))
            }
        };
    }
    if field == "count" {
        table.remove("count_from_issue");
    }
    table.insert(field.into(), value);
    Ok(path + field)
}

/// The numbers of the tables that have this number, or this text.
fn places(elements: &[Value], wanted: &str) -> Vec<usize> {
    let is_wanted = |value: &Value| value.as_str() == Some(wanted);
    let has_text =
        |value: &Value| is_wanted(value) || value.as_array().is_some_and(|texts| texts.iter().any(is_wanted));
    let has = |table: &Value| table.as_table().is_some_and(|table| table.values().any(has_text));
    match wanted.parse() {
        Ok(place) => vec![place],
        Err(_) => (0..elements.len()).filter(|place| has(&elements[*place])).collect(),
    }
}
