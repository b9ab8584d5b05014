//! The kind of a catalogue: set once, and checked by every writer.

use modoai_repository::catalogue::{CatalogueError, CatalogueKind};

use super::{HandClock, Place};

/// The first writer sets the kind for every process; later ones of another kind are refused and change nothing.
pub(crate) fn the_first_writer_sets_the_kind(place: &dyn Place) {
    let clock = HandClock::at(1000);
    let catalogue = place.opened(&clock);
    assert_eq!(catalogue.kind().expect("no kind"), None);
    drop(catalogue.writer().expect("a writer without a kind sets none"));
    assert_eq!(catalogue.kind().expect("no kind"), None);
    drop(catalogue.writer_for(CatalogueKind::Archive).expect("the first writer"));
    let another = place.opened(&clock);
    assert_eq!(another.kind().expect("a kind"), Some(CatalogueKind::Archive));
    drop(another.writer_for(CatalogueKind::Archive).expect("a writer of the same kind"));
    let error = another.writer_for(CatalogueKind::Site).err().expect("it is that of an archive");
    let (found, wanted) = (CatalogueKind::Archive, CatalogueKind::Site);
    assert!(
        matches!(error, CatalogueError::OtherKind { found: f, wanted: w } if (f, w) == (found, wanted)),
        "{error:?}"
    );
    let mut writer = another.writer().expect("nobody else writes");
    assert!(matches!(writer.claim(wanted), Err(CatalogueError::OtherKind { .. })));
    drop(writer);
    assert_eq!(catalogue.kind().expect("a kind"), Some(CatalogueKind::Archive));
}
