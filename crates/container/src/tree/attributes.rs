//! Extended attributes and POSIX access lists as records of a tar stream: `SCHILY.xattr.NAME` with the attribute's bytes, and
//! `SCHILY.acl.access` and `.default` with the list as text (star(4) and GNU tar). Linux has access lists as attributes in a binary form
//! (`linux/posix_acl_xattr.h`): version 2, then for each entry tag, permissions and number, little-endian.
use super::names;
use std::ffi::{OsStr, OsString};

const XATTR: &[u8] = b"SCHILY.xattr.";
/// Each record with the attribute in which Linux has it.
const LISTS: [(&[u8], &str); 2] =
    [(b"SCHILY.acl.access", "system.posix_acl_access"), (b"SCHILY.acl.default", "system.posix_acl_default")];

const ACL_VERSION: [u8; 4] = 2_u32.to_le_bytes();
/// Tags of entries, with their names and whether a number belongs to them.
const TAGS: [(u16, &str, bool); 6] = [
    (0x01, "user", false),
    (0x02, "user", true),
    (0x04, "group", false),
    (0x08, "group", true),
    (0x10, "mask", false),
    (0x20, "other", false),
];

/// A record's key and value.
pub(crate) type Record = (Vec<u8>, Vec<u8>);

/// Whether a record with this key holds an attribute or an access list.
pub(crate) fn is_attribute(key: &[u8]) -> bool {
    key.starts_with(XATTR) || is_access_list(key)
}

pub(crate) fn is_access_list(key: &[u8]) -> bool {
    LISTS.iter().any(|(list, _)| key == *list)
}

/// Whether whoever unpacks may set this attribute without being asked: attributes of users have no effect on rights.
pub(crate) fn is_harmless(key: &[u8]) -> bool {
    key.starts_with(b"SCHILY.xattr.user.")
}

/// The record of an attribute. `None` for an access list that says no more than the mode, and for one that does not parse.
pub(crate) fn to_record(name: &OsStr, value: &[u8]) -> Option<Record> {
    if let Some((key, _)) = LISTS.iter().find(|(_, attribute)| name == *attribute) {
        let text = acl_text(value)?;
        // An access list of three entries says what the mode says; a default list of three is one.
        let is_mode = name == LISTS[0].1 && text.iter().filter(|byte| **byte == b',').count() < 3;
        return (!is_mode).then(|| (key.to_vec(), text));
    }
    let mut key = XATTR.to_vec();
    for &byte in name.as_encoded_bytes() {
        match byte {
            b'%' | b'=' => key.extend_from_slice(format!("%{byte:02X}").as_bytes()),
            _ => key.push(byte),
        }
    }
    Some((key, value.to_vec()))
}

/// Name and value of the attribute in a record; `None` for a malformed one.
pub(crate) fn from_record(key: &[u8], value: &[u8]) -> Option<(OsString, Vec<u8>)> {
    if let Some((_, attribute)) = LISTS.iter().find(|(list, _)| key == *list) {
        return Some((attribute.into(), acl_bytes(std::str::from_utf8(value).ok()?)?));
    }
    let (mut rest, mut name) = (key.strip_prefix(XATTR)?, Vec::new());
    while let Some((&byte, behind)) = rest.split_first() {
        let (byte, escape) = match behind {
            [b'3', b'D', ..] if byte == b'%' => (b'=', 2),
            [b'2', b'5', ..] if byte == b'%' => (b'%', 2),
            _ if byte == b'%' => return None,
            _ => (byte, 0),
        };
        name.push(byte);
        rest = &behind[escape..];
    }
    let is_name = (1..=255).contains(&name.len()) && !name.contains(&0) && !name.starts_with(b"system.posix_acl");
    Some((names::to_os(&name).filter(|_| is_name)?.to_owned(), value.to_vec()))
}

/// Removes an access list, if it is set as one.
pub(crate) const NO_LIST: [u8; 4] = ACL_VERSION;
/// The attributes of both lists.
pub(crate) const LIST_NAMES: [&str; 2] = [LISTS[0].1, LISTS[1].1];

/// The mode of an entry without the access list in its records, if they have one: the owning group gets at most its own rights, in place of
/// those of the list's mask.
pub(crate) fn mode_without_list(mode: u32, records: &[Record]) -> u32 {
    let list = records.iter().find(|(key, _)| key == LISTS[0].0);
    let group =
        list.and_then(|(_, text)| text.split(|byte| *byte == b',').find_map(|entry| entry.strip_prefix(b"group::")));
    let Some(group) = group else { return mode };
    let rights = group.iter().zip(b"rwx").fold(0, |bits, (letter, right)| bits << 1 | u32::from(letter == right));
    mode & (!0o070 | rights << 3)
}

/// An access list in Linux's form as text.
fn acl_text(bytes: &[u8]) -> Option<Vec<u8>> {
    let (entries, rest) = bytes.strip_prefix(&ACL_VERSION)?.as_chunks::<8>();
    if !rest.is_empty() {
        return None;
    }
    let mut text = Vec::new();
    for &[tag0, tag1, rights, _, id @ ..] in entries {
        let (_, name, has_id) = TAGS.iter().find(|(tag, _, _)| *tag == u16::from_le_bytes([tag0, tag1]))?;
        let id = if *has_id { u32::from_le_bytes(id).to_string() } else { String::new() };
        let right = |bit, letter| if rights & bit == 0 { '-' } else { letter };
        let rights = String::from_iter([right(4, 'r'), right(2, 'w'), right(1, 'x')]);
        text.push(format!("{name}:{id}:{rights}"));
    }
    Some(text.join(",").into_bytes())
}

/// An access list as text in Linux's form. Its entries are in the order of [`TAGS`], and the first, third, and last are there; so is the
/// mask if a user or a group has a number.
fn acl_bytes(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut counts, mut last) = (ACL_VERSION.to_vec(), [0; TAGS.len()], 0);
    for entry in text.split(',') {
        let fields: Vec<&str> = entry.split(':').collect();
        let &[name, id, rights] = fields.as_slice() else { return None };
        let place = TAGS.iter().position(|(_, tag, has_id)| *tag == name && *has_id != id.is_empty())?;
        let id = if id.is_empty() {
            u32::MAX
        } else {
            id.parse().ok().filter(|_| id.bytes().all(|byte| byte.is_ascii_digit()))?
        };
        let rights: [u8; 3] = rights.as_bytes().try_into().ok()?;
        let mut bits = 0_u16;
        for (letter, right) in rights.into_iter().zip(*b"rwx") {
            if letter != right && letter != b'-' {
                return None;
            }
            bits = bits << 1 | u16::from(letter == right);
        }
        if place < last {
            return None;
        }
        (last, counts[place]) = (place, counts[place] + 1);
        bytes.extend([&TAGS[place].0.to_le_bytes()[..], &bits.to_le_bytes(), &id.to_le_bytes()].concat());
    }
    let [user, users, group, groups, mask, other] = counts;
    ((user, group, other) == (1, 1, 1) && mask <= 1 && (mask == 1 || users + groups == 0)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text is what getfacl prints for the list, with `,` between entries.
    #[test]
    fn access_lists_are_converted_both_ways() {
        let text = "user::rw-,user:1000:r--,group::r--,group:50:r-x,mask::r-x,other::---";
        let bytes = acl_bytes(text).unwrap();
        assert_eq!(bytes.len(), 4 + 6 * 8);
        assert_eq!(bytes[12..20], [2, 0, 4, 0, 0xe8, 3, 0, 0]);
        assert_eq!(acl_text(&bytes).unwrap(), text.as_bytes());
        let short = acl_bytes("user::rw-,group::r--,other::r--").unwrap();
        assert_eq!(to_record("system.posix_acl_access".as_ref(), &short), None);
        assert!(to_record("system.posix_acl_default".as_ref(), &short).is_some());
        let record = to_record("system.posix_acl_access".as_ref(), &bytes).unwrap();
        assert_eq!(mode_without_list(0o4671, &[record]), 0o4641);
        assert_eq!(mode_without_list(0o4671, &[]), 0o4671);
        // A mask that takes rights from the group.
        let narrow = acl_bytes("user::rw-,user:1000:rwx,group::rwx,mask::r--,other::---").unwrap();
        let record = to_record("system.posix_acl_access".as_ref(), &narrow).unwrap();
        assert_eq!(mode_without_list(0o640, &[record]), 0o640);
        assert_eq!(crate::sink::mode_of_group(0o671, &[("system.posix_acl_access".into(), bytes.clone())]), 0o641);
        for (part, other) in [
            ("1000", "name"),
            ("1000", "+1"),
            ("1000", "4294967296"),
            ("rw-", "rwz"),
            ("rw-", "rw"),
            ("mask", "what"),
            ("mask::r-x,", ""),
            ("user::rw-,", ""),
            ("user::rw-", "user::rw-,user::rw-"),
            ("group:50:r-x,mask::r-x", "mask::r-x,group:50:r-x"),
            ("---", "---,"),
            ("other::", "other:1:"),
        ] {
            assert_eq!(acl_bytes(&text.replace(part, other)), None, "{other}");
        }
        for malformed in [&b""[..], b"\x01\0\0\0", b"\x02\0\0\0\x03\0\0\0\0\0\0\0", b"\x02\0\0\0\x01"] {
            assert_eq!(acl_text(malformed), None);
        }
    }

    #[test]
    fn names_of_attributes_survive() {
        let latin = names::to_os(b"user.\xe9").unwrap_or(OsStr::new("user.e"));
        for name in [OsStr::new("user.a"), "user.a=b%c".as_ref(), "trusted.%25".as_ref(), "user.%3D25".as_ref(), latin]
        {
            let (key, value) = to_record(name, b"\0=\n").unwrap();
            assert!(!key.contains(&b'=') && is_attribute(&key));
            assert_eq!(from_record(&key, &value), Some((name.into(), b"\0=\n".to_vec())));
        }
        for name in ["", "system.posix_acl_access", "a\0b", "user.%", "user.%3", "user.%3d", "user.%%25"] {
            assert_eq!(from_record(format!("SCHILY.xattr.{name}").as_bytes(), b""), None, "{name}");
        }
        assert_eq!(from_record(b"SCHILY.other", b""), None);
    }
}
