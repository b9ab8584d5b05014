//! A record in a metadata format, by a template.
