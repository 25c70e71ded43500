//! Common part of recipients and identities: lists whose clones share their members.

/// Makes `$list` a list of members with age's trait `$member`, and of keys of formats without recipients. Members are boxed because moving
/// one would leave a copy of its secrets behind.
macro_rules! list {
    ($list:ident, $member:ident) => {
        impl $list {
            pub(super) fn one(member: impl age::$member + Send + Sync + 'static) -> Self {
                Self::boxed(Box::new(member))
            }

            fn boxed(member: Box<dyn age::$member + Send + Sync>) -> Self {
                Self { members: vec![Arc::new(member)], keys: Vec::new() }
            }

            pub(crate) fn key(key: CobblestoneKey) -> Self {
                Self { members: Vec::new(), keys: vec![Arc::new(key)] }
            }

            pub(crate) fn keys(&self) -> impl Iterator<Item = &CobblestoneKey> {
                self.keys.iter().map(|key| &**key)
            }

            /// The number of members.
            pub fn len(&self) -> usize {
                self.members.len() + self.keys.len()
            }

            /// Whether the list has no members.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            pub(crate) fn members(&self) -> impl Iterator<Item = &dyn age::$member> {
                self.members.iter().map(|member| &***member as &dyn age::$member)
            }

            /// The members, as types of the crate `age`. Needs the feature `age`.
            #[cfg(feature = "age")]
            pub fn for_age(&self) -> impl Iterator<Item = &dyn age::$member> {
                self.members()
            }
        }

        /// Needs the feature `age`.
        #[cfg(feature = "age")]
        impl From<Box<dyn age::$member + Send + Sync>> for $list {
            fn from(member: Box<dyn age::$member + Send + Sync>) -> Self {
                Self::boxed(member)
            }
        }

        impl<T: Into<$list>> Extend<T> for $list {
            fn extend<I: IntoIterator<Item = T>>(&mut self, lists: I) {
                for list in lists {
                    let list: $list = list.into();
                    self.members.extend(list.members);
                    self.keys.extend(list.keys);
                }
            }
        }

        impl<T: Into<$list>> FromIterator<T> for $list {
            fn from_iter<I: IntoIterator<Item = T>>(lists: I) -> Self {
                let mut all = Self::default();
                all.extend(lists);
                all
            }
        }

        impl fmt::Debug for $list {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($list), self.len())
            }
        }
    };
}

pub(super) use list;
