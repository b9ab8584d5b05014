//! The generator: a case for every seed. A third of all servers is correct; the others have several errors at once.

use crate::case::{Case, Change, Dates, Deletions, End, Fault, Limit, Order, Paging, Run, Size, Spread, Token, Verb};

/// The dice of the generator.
struct Dice(fastrand::Rng);

impl Dice {
    /// True once in that many times.
    fn once_in(&mut self, times: u32) -> bool {
        self.0.u32(..times) == 0
    }

    fn any<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.usize(..of.len())]
    }

    /// The default, or once in that many times any value.
    fn rarely<T: Copy + Default>(&mut self, times: u32, of: &[T]) -> T {
        if self.once_in(times) { self.any(of) } else { T::default() }
    }
}

impl Case {
    /// The case of a seed.
    pub fn generate(seed: u64) -> Self {
        let mut dice = Dice(fastrand::Rng::with_seed(seed));
        let dice = &mut dice;
        // A third of all servers is correct, but may have any property that the protocol permits.
        let is_correct = dice.once_in(3);
        let mut case = Self { seed, ..Self::default() };
        case.records = dice.any(&[0, 1, 1, 2, 3, 4, 5, 6, 7, 9, 12]);
        case.deletions = dice.any(Deletions::ALL);
        if case.deletions != Deletions::No && dice.once_in(3) {
            case.tombstones = dice.any(&[1, 2, 3]);
        }
        case.spread = dice.any(Spread::ALL);
        case.page = dice.any(&[1, 2, 2, 3, 3, 4, 5, 10]);
        case.header_page = if dice.once_in(2) { case.page } else { dice.any(&[1, 2, 3, 5, 20]) };
        case.order = dice.any(Order::ALL);
        case.paging = dice.any(&[Paging::Key, Paging::Snapshot, Paging::Bounded]);
        case.size = dice.any(&[Size::Absent, Size::Right, Size::First]);
        case.lone_token = dice.once_in(4);
        case.days = dice.once_in(3);
        case.latency = dice.any(&[1, 100, 1000, 5000]);
        case.sets = dice.once_in(3);
        case.one_set = case.sets && dice.once_in(3);
        case.odd_tokens = dice.once_in(5);
        case.prompt = is_correct && case.paging == Paging::Bounded && case.order == Order::Datestamp && dice.once_in(2);
        case.plan_runs(dice);
        if !is_correct {
            case.spoil(dice);
        }
        case
    }

    /// Adds runs, changes and kills.
    fn plan_runs(&mut self, dice: &mut Dice) {
        let runs = dice.any(&[1, 2, 2, 3, 4]);
        let busy = dice.any(&[0, 0, 1, 3]);
        self.runs = (0..runs)
            .map(|number| {
                let pause = dice.any(&[1, 60, 3600, 86_400, 200_000, 1_000_000]);
                let mut changes = Vec::new();
                for _ in 0..dice.0.usize(0..=busy) {
                    let at = if number > 0 && dice.once_in(2) { 0 } else { dice.0.u16(1..12) };
                    let record = dice.0.u8(..16);
                    changes.push((
                        at,
                        dice.any(&[Change::Add, Change::Edit(record), Change::Edit(record), Change::Delete(record)]),
                    ));
                }
                changes.sort_by_key(|(at, _)| *at);
                let kill = dice.once_in(6).then(|| dice.0.u16(1..60));
                Run { pause, changes, kill }
            })
            .collect();
    }

    /// Adds errors.
    fn spoil(&mut self, dice: &mut Dice) {
        self.paging = if dice.once_in(2) { Paging::Offset } else { self.paging };
        self.token = dice.rarely(4, Token::ALL);
        self.end = dice.rarely(2, End::ALL);
        if dice.once_in(5) {
            self.size = dice.any(&[Size::TooLarge, Size::TooSmall, Size::OfStore]);
        }
        if dice.once_in(8) {
            self.limit = dice.0.u8(4..8);
            if dice.once_in(2) {
                self.size = Size::OfLimit;
            }
        }
        self.dates = dice.rarely(4, Dates::ALL);
        self.at_limit = dice.any(Limit::ALL);
        if self.hides_records() {
            self.at_limit = Limit::Fails;
        }
        if dice.once_in(10) {
            self.skew = dice.any(&[-86_400, -3600, 3600, 86_400]);
        }
        if dice.once_in(10) {
            self.late = dice.any(&[10, 3600, 70_000]);
        }
        for verb in Verb::ALL {
            if dice.once_in(16) {
                self.fails.push(*verb);
            }
        }
        self.failure = dice.any(&[
            Fault::Status,
            Fault::Status,
            Fault::WebPage,
            Fault::CutShort,
            Fault::Empty,
            Fault::Unknown,
            Fault::Timeout,
        ]);
        if dice.once_in(12) {
            (self.bad, self.bad_alone) = (Some(dice.0.u8(..8)), dice.once_in(2));
        }
        self.overlap = dice.once_in(10);
        if dice.once_in(4) {
            let count = dice.0.usize(1..5);
            self.faults = (0..count).map(|_| (dice.0.u16(..40), dice.any(Fault::ALL))).collect();
        }
    }
}
