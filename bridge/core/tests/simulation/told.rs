//! How often each thing happened, so that a simulation in which nothing does proves nothing.

#[derive(Clone, Copy, Default)]
pub(crate) struct Told {
    pub(crate) allowed: usize,
    pub(crate) allowed_by_two: usize,
    pub(crate) refused_by_person: usize,
    pub(crate) expired: usize,
    pub(crate) withdrawn: usize,
    pub(crate) ineligible: usize,
    pub(crate) asked_again: usize,
    pub(crate) to_confirm: usize,
    pub(crate) differing: usize,
    pub(crate) nobody_there: usize,
    pub(crate) reminded: usize,
}

impl Told {
    pub(crate) fn add(&mut self, other: Self) {
        self.allowed += other.allowed;
        self.allowed_by_two += other.allowed_by_two;
        self.refused_by_person += other.refused_by_person;
        self.expired += other.expired;
        self.withdrawn += other.withdrawn;
        self.ineligible += other.ineligible;
        self.asked_again += other.asked_again;
        self.to_confirm += other.to_confirm;
        self.differing += other.differing;
        self.nobody_there += other.nobody_there;
        self.reminded += other.reminded;
    }

    pub(crate) fn counts(self) -> [(&'static str, usize); 11] {
        [
            ("allowed", self.allowed),
            ("allowed by two people", self.allowed_by_two),
            ("refused by a person", self.refused_by_person),
            ("expired", self.expired),
            ("withdrawn", self.withdrawn),
            ("clicks that may not count", self.ineligible),
            ("asked again", self.asked_again),
            ("to be confirmed", self.to_confirm),
            ("chose another option than the first", self.differing),
            ("refused with nobody there", self.nobody_there),
            ("called to mind", self.reminded),
        ]
    }
}
