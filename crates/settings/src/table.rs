//! The macro that makes a struct and its table of settings from one list.

/// Defines a struct of settings, its defaults and its table. A setting is a doc comment, which is also its explanation
/// for users; a name, which is also its key; a type; a default in the notation of the file; and a parser. Without a
/// default, the setting is required.
///
/// ```
/// use modoai_settings::{Value, settings};
///
/// settings! {
///     /// Where the server listens.
///     pub struct Server, SERVER {
///         /// Port to listen on.
///         port: u16 = "8080", |value| value.number(1..=65_535);
///         /// Name of the server.
///         name: String = "\"localhost\"", Value::string;
///     }
/// }
///
/// assert_eq!((Server::default().port, SERVER[0].key, SERVER[1].doc.trim()), (8080, "port", "Name of the server."));
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[doc = $about:literal])+
        pub struct $name:ident, $table:ident {
            $($(#[doc = $doc:literal])+ $key:ident: $type:ty $(= $default:expr)?, $parse:expr;)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $key: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($key: $crate::initial!($type, $parse $(, $default)?),)+ }
            }
        }

        $(#[doc = $about])+
        pub const $table: &[$crate::Setting<$name>] = &[$($crate::Setting {
            key: stringify!($key),
            default: $crate::written!($($default)?),
            doc: concat!($($doc),+),
            set: |settings, value| {
                let parse: fn(&$crate::Value) -> Result<$type, $crate::Problem> = $parse;
                settings.$key = parse(value)?;
                Ok(())
            },
        }),+];
    };
}

/// The default of a setting, in the notation of the file.
#[doc(hidden)]
#[macro_export]
macro_rules! written {
    () => {
        ""
    };
    ($default:expr) => {
        $default
    };
}

/// The value of a setting that is not set.
#[doc(hidden)]
#[macro_export]
macro_rules! initial {
    ($type:ty, $parse:expr) => {
        <$type>::default()
    };
    ($type:ty, $parse:expr, $default:expr) => {{
        let parse: fn(&$crate::Value) -> Result<$type, $crate::Problem> = $parse;
        parse(&$crate::Value::written($default)).expect("a default is a legal value; a test checks each")
    }};
}
