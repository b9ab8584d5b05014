//! Where something was mounted.

use std::collections::BTreeSet;

use super::{HandClock, Place, everything, filled, names, put};

pub(crate) fn mounts_are_remembered_until_others_are(place: &dyn Place) {
    let clock = HandClock::at(1_000);
    let catalogue = filled(place, &clock, &[put("disk/a", 1, &["x"])]);
    let folders = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    let mut writer = catalogue.writer().expect("nobody else writes");
    assert!(writer.mounts().expect("mounts").is_empty());
    for mounted in [folders(&["disk/", "a%20b/c/"]), folders(&["disk/"]), folders(&[])] {
        writer.set_mounts(&mounted).expect("remembered");
        drop(writer);
        writer = place.opened(&clock).writer().expect("nobody else writes");
        assert_eq!(writer.mounts().expect("mounts"), mounted);
    }
    assert_eq!(names(&everything(&*catalogue)), ["disk/a"], "items are not touched");
}
