//! The crosswalks that come with the program: one file and one row each.

use super::Definition;

/// A row of the table.
struct Shipped {
    prefix: &'static str,
    schema: &'static str,
    namespace: &'static str,
    requires: &'static [&'static str],
    template: &'static str,
}

const SHIPPED: &[Shipped] = &[Shipped {
    prefix: "oai_dc",
    schema: "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
    namespace: "http://www.openarchives.org/OAI/2.0/oai_dc/",
    requires: &[],
    template: include_str!("shipped/oai_dc.xml"),
}];

/// The shipped crosswalk to a format. Only `oai_dc`, which every repository has and most harvesters ask for, is kept
/// ready unless the archive's configuration says otherwise.
pub fn shipped(prefix: &str) -> Option<Definition> {
    let row = SHIPPED.iter().find(|row| row.prefix == prefix)?;
    Some(Definition {
        prefix: row.prefix.to_owned(),
        schema: row.schema.to_owned(),
        namespace: row.namespace.to_owned(),
        requires: row.requires.iter().map(|&name| name.to_owned()).collect(),
        keep: row.prefix == "oai_dc",
        file: format!("{}.xml (shipped)", row.prefix),
        template: row.template.to_owned(),
    })
}

/// The prefixes of all shipped crosswalks.
pub fn shipped_prefixes() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|row| row.prefix)
}
