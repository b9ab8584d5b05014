//! The crosswalks that are shipped with the program: one file and one row each.

use super::Definition;

/// A row of the table.
struct Shipped {
    prefix: &'static str,
    schema: &'static str,
    namespace: &'static str,
    requires: &'static [&'static str],
    template: &'static str,
}

const SHIPPED: &[Shipped] = &[
    Shipped {
        prefix: "oai_dc",
        schema: "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
        namespace: "http://www.openarchives.org/OAI/2.0/oai_dc/",
        requires: &[],
        template: include_str!("shipped/oai_dc.xml"),
    },
    Shipped {
        prefix: "oai_rfc1807",
        schema: "http://www.openarchives.org/OAI/1.1/rfc1807.xsd",
        namespace: "http://info.internet.isi.edu:80/in-notes/rfc/files/rfc1807.txt",
        requires: &["date"],
        template: include_str!("shipped/oai_rfc1807.xml"),
    },
    Shipped {
        prefix: "arXiv",
        schema: "http://arxiv.org/OAI/arXiv.xsd",
        namespace: "http://arxiv.org/OAI/arXiv/",
        requires: &[],
        template: include_str!("shipped/arXiv.xml"),
    },
    Shipped {
        prefix: "arXivRaw",
        schema: "http://arxiv.org/OAI/arXivRaw.xsd",
        namespace: "http://arxiv.org/OAI/arXivRaw/",
        requires: &["versions", "categories"],
        template: include_str!("shipped/arXivRaw.xml"),
    },
    Shipped {
        prefix: "arXivOld",
        schema: "http://arxiv.org/OAI/arXivOld.xsd",
        namespace: "http://arxiv.org/OAI/arXivOld/",
        requires: &[],
        template: include_str!("shipped/arXivOld.xml"),
    },
    Shipped {
        prefix: "datacite",
        schema: "http://schema.datacite.org/meta/kernel-4/metadata.xsd",
        namespace: "http://datacite.org/schema/kernel-4",
        requires: &["title", "date"],
        template: include_str!("shipped/datacite.xml"),
    },
    Shipped {
        prefix: "oai_datacite",
        schema: "http://schema.datacite.org/oai/oai-1.1/oai.xsd",
        namespace: "http://schema.datacite.org/oai/oai-1.1/",
        requires: &["title", "date"],
        template: include_str!("shipped/oai_datacite.xml"),
    },
    Shipped {
        prefix: "marcxml",
        schema: "http://www.loc.gov/standards/marcxml/schema/MARC21slim.xsd",
        namespace: "http://www.loc.gov/MARC21/slim",
        requires: &[],
        template: include_str!("shipped/marcxml.xml"),
    },
    Shipped {
        prefix: "mods",
        schema: "http://www.loc.gov/standards/mods/v3/mods-3-4.xsd",
        namespace: "http://www.loc.gov/mods/v3",
        requires: &[],
        template: include_str!("shipped/mods.xml"),
    },
    Shipped {
        prefix: "oai_openaire",
        schema: "https://www.openaire.eu/schema/repo-lit/4.0/openaire.xsd",
        namespace: "http://namespace.openaire.eu/schema/oaire/",
        requires: &["title", "date", "landing", "access"],
        template: include_str!("shipped/oai_openaire.xml"),
    },
];

/// Returns the shipped crosswalk to a format. Only documents in `oai_dc`, which every repository has and most
/// harvesters request, are stored unless the archive's configuration changes this.
pub fn shipped(prefix: &str) -> Option<Definition> {
    let row = SHIPPED.iter().find(|row| row.prefix == prefix)?;
    Some(Definition {
        prefix: row.prefix.to_owned(),
        schema: row.schema.to_owned(),
        namespace: row.namespace.to_owned(),
        requires: row.requires.iter().map(|&name| name.to_owned()).collect(),
        always: false,
        keep: row.prefix == "oai_dc",
        file: name(row.prefix),
        template: row.template.to_owned(),
    })
}

/// Returns the name by which other templates include it, and which messages contain.
pub(super) fn name(prefix: &str) -> String {
    format!("shipped/{prefix}.xml")
}

/// Returns the prefixes of all shipped crosswalks.
pub fn shipped_prefixes() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|row| row.prefix)
}
