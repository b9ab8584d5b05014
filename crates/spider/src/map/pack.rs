//! Packs discs closely, one after the other around the first: the front-chain algorithm of Wang, Wang, Dai and Wang
//! ("Visualization of large hierarchical data by circle packing", CHI 2006). It uses only additions, multiplications
//! and roots, which all machines compute identically, so the same discs always get the same positions.

/// A disc.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Disc {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) r: f64,
}

/// Packs the discs around the origin, the first in the middle, without overlaps. Returns the radius of a circle around
/// the origin that contains all of them.
pub(crate) fn pack(discs: &mut [Disc]) -> f64 {
    let front = match discs.len() {
        0 => return 0.0,
        1 => {
            (discs[0].x, discs[0].y) = (0.0, 0.0);
            return discs[0].r;
        }
        2 => {
            pair(discs);
            vec![0, 1]
        }
        _ => {
            pair(discs);
            discs[2] = beside(discs[1], discs[0], discs[2].r);
            surround(discs)
        }
    };
    let hull: Vec<Disc> = front.into_iter().map(|index| discs[index]).collect();
    let (x, y) = middle(&hull);
    for disc in discs.iter_mut() {
        disc.x -= x;
        disc.y -= y;
    }
    discs.iter().map(|disc| length(disc.x, disc.y) + disc.r).fold(0.0, f64::max)
}

fn pair(discs: &mut [Disc]) {
    (discs[0].x, discs[0].y) = (-discs[1].r, 0.0);
    (discs[1].x, discs[1].y) = (discs[0].r, 0.0);
}

/// Places the fourth disc and all others. Returns the outer discs.
fn surround(discs: &mut [Disc]) -> Vec<usize> {
    // The outer discs are a ring: next and previous by index.
    let mut next = vec![0; discs.len()];
    let mut previous = vec![0; discs.len()];
    (next[0], next[1], next[2]) = (1, 2, 0);
    (previous[0], previous[1], previous[2]) = (2, 0, 1);
    let (mut a, mut b) = (0, 1);
    let mut c = 3;
    'discs: while c < discs.len() {
        discs[c] = beside(discs[a], discs[b], discs[c].r);
        // Search the ring in both directions for a disc that overlaps the new one. The nearer one found becomes the new
        // neighbour, and the discs between are removed from the ring. The ring gets shorter each time, so this ends.
        let (mut j, mut k) = (next[b], previous[a]);
        let (mut sum_j, mut sum_k) = (discs[b].r, discs[a].r);
        loop {
            if sum_j <= sum_k {
                if overlap(discs[j], discs[c]) {
                    b = j;
                    (next[a], previous[b]) = (b, a);
                    continue 'discs;
                }
                sum_j += discs[j].r;
                j = next[j];
            } else {
                if overlap(discs[k], discs[c]) {
                    a = k;
                    (next[a], previous[b]) = (b, a);
                    continue 'discs;
                }
                sum_k += discs[k].r;
                k = previous[k];
            }
            if j == next[k] {
                break;
            }
        }
        (previous[c], next[c]) = (a, b);
        (next[a], previous[b]) = (c, c);
        // The next disc is placed where the ring is nearest to the middle.
        b = c;
        let mut nearest = distance(discs[a], discs[next[a]]);
        let mut at = next[c];
        while at != b {
            let here = distance(discs[at], discs[next[at]]);
            if here < nearest {
                (a, nearest) = (at, here);
            }
            at = next[at];
        }
        b = next[a];
        c += 1;
    }
    let mut ring = vec![b];
    let mut at = next[b];
    while at != b {
        ring.push(at);
        at = next[at];
    }
    ring
}

/// Returns a disc of radius `r` that touches both `b` and `a`.
fn beside(b: Disc, a: Disc, r: f64) -> Disc {
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    let d2 = dx * dx + dy * dy;
    if d2 <= 0.0 {
        return Disc { x: a.x + a.r + r, y: a.y, r };
    }
    let (a2, b2) = ((a.r + r) * (a.r + r), (b.r + r) * (b.r + r));
    if a2 > b2 {
        let x = (d2 + b2 - a2) / (2.0 * d2);
        let y = (b2 / d2 - x * x).max(0.0).sqrt();
        Disc { x: b.x - x * dx - y * dy, y: b.y - x * dy + y * dx, r }
    } else {
        let x = (d2 + a2 - b2) / (2.0 * d2);
        let y = (a2 / d2 - x * x).max(0.0).sqrt();
        Disc { x: a.x + x * dx - y * dy, y: a.y + x * dy + y * dx, r }
    }
}

fn overlap(a: Disc, b: Disc) -> bool {
    let touch = a.r + b.r - 1e-6;
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    touch > 0.0 && touch * touch > dx * dx + dy * dy
}

/// Returns the squared distance from the origin of the point where two neighbours touch.
fn distance(a: Disc, b: Disc) -> f64 {
    let both = a.r + b.r;
    let (x, y) = ((a.x * b.r + b.x * a.r) / both, (a.y * b.r + b.y * a.r) / both);
    x * x + y * y
}

/// Returns the approximate centre of the smallest circle around all discs: it moves towards the farthest disc in
/// decreasing steps (Bădoiu and Clarkson 2003). The result is within a percent of the optimum, and it never fails.
fn middle(discs: &[Disc]) -> (f64, f64) {
    let (mut x, mut y) = (discs[0].x, discs[0].y);
    for step in 1..=200 {
        let out = |disc: &Disc| length(disc.x - x, disc.y - y) + disc.r;
        let Some(farthest) = discs.iter().max_by(|a, b| out(a).total_cmp(&out(b))) else { break };
        let away = length(farthest.x - x, farthest.y - y);
        if away <= 0.0 {
            break;
        }
        // The farthest point of the disc is beyond its centre.
        let share = (away + farthest.r) / away / f64::from(step + 1);
        (x, y) = (x + (farthest.x - x) * share, y + (farthest.y - y) * share);
    }
    (x, y)
}

/// Returns the length of a vector. Not `hypot`, whose last digit differs between machines.
fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn discs_never_overlap_and_are_all_inside(radii in proptest::collection::vec(0.5_f64..20.0, 0..80)) {
            let mut discs: Vec<Disc> = radii.iter().map(|r| Disc { r: *r, ..Disc::default() }).collect();
            let around = pack(&mut discs);
            for (index, a) in discs.iter().enumerate() {
                prop_assert!(a.x.is_finite() && a.y.is_finite());
                prop_assert!(a.x.hypot(a.y) + a.r <= around + 1e-6);
                for b in &discs[index + 1..] {
                    prop_assert!((a.x - b.x).hypot(a.y - b.y) >= a.r + b.r - 1e-3);
                }
            }
        }
    }

    #[test]
    fn little_room_is_wasted() {
        let mut discs = vec![Disc { r: 1.0, ..Disc::default() }; 2_000];
        let around = pack(&mut discs);
        assert!(around * around < 2_000.0 * 1.5, "{around}");
    }
}
