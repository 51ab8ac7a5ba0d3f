//! Busy-polling for answers before sleeping: how long, and whether it pays.
//!
//! A sleeping client has to be woken, and the server pays for it: each answer costs it an interrupt of
//! another processor. A client with a processor of its own finds more throughput in the same server if
//! it busy-polls for a while before it sleeps.
//!
//! How long adapts to what polling gained, as in Linux' halt polling (virt/kvm/halt-polling.rst): an
//! answer found doubles the time, one for which it had to sleep halves it, down to none. If waits are
//! long, as for a slow disk, it soon stops polling, and tries again now and then.

use super::pacing::SECOND;

/// The shortest poll that is worth its system call, in nanoseconds.
const LEAST_NS: u64 = 2_000;
/// How often a client that has stopped polling tries it again: a try that finds nothing takes twice
/// the longest poll.
const TRY_EVERY_NS: u64 = SECOND / 50;
/// The budget: the share of the time that polls which find nothing may take.
const VAIN_SHARE: f64 = 0.5;
/// What the budget holds at the start, in nanoseconds.
const VAIN_AT_START: u64 = 1_000_000;
/// Time between looks at whether other threads want the processor.
const SEE_EVERY_NS: u64 = SECOND / 50;
/// Switches within [`SEE_EVERY_NS`] that are the kernel's own work, and do not count.
const OWN_SWITCHES: u64 = 3;
/// The first pause of polling after others wanted the processor; each further one is twice as long.
const FIRST_PAUSE_NS: u64 = SECOND / 10;
/// The longest pause of polling.
const LONGEST_PAUSE_NS: u64 = 10 * SECOND;

/// How long one thread busy-polls. Times are of the load's clock.
#[derive(Debug)]
pub struct Polling {
    most_ns: u64,
    ns: u64,
    began: Option<u64>,
    /// Time spent in polls that found nothing.
    vain_ns: u64,
    next_try: u64,
    pause_until: u64,
    pause_ns: u64,
    see_at: u64,
    switches: u64,
}

impl Polling {
    /// Polls for at most so many microseconds before it sleeps; never if 0.
    pub fn new(most_us: u32) -> Self {
        let most_ns = u64::from(most_us) * 1_000;
        Polling {
            most_ns,
            ns: most_ns,
            began: None,
            vain_ns: 0,
            next_try: 0,
            pause_until: 0,
            pause_ns: FIRST_PAUSE_NS,
            see_at: 0,
            switches: 0,
        }
    }

    /// How long to poll now, in nanoseconds.
    #[inline]
    pub fn length(&mut self, now: u64) -> u64 {
        if self.ns == 0 || now < self.pause_until {
            return 0;
        }
        let began = *self.began.get_or_insert(now);
        let budget = VAIN_AT_START + ((now - began) as f64 * VAIN_SHARE) as u64;
        self.ns.min(budget.saturating_sub(self.vain_ns))
    }

    /// Learns from a wait that is over: how long it polled, whether that found something, and how long it took
    /// in all.
    #[inline]
    pub fn waited(&mut self, now: u64, polled_ns: u64, found: bool, took_ns: u64) {
        if self.most_ns == 0 {
            return;
        }
        if found {
            self.ns = (2 * self.ns).min(self.most_ns);
            return;
        }
        self.vain_ns += polled_ns;
        if self.ns > 0 && now >= self.pause_until {
            self.ns /= 2;
            if self.ns < LEAST_NS {
                (self.ns, self.next_try) = (0, now + TRY_EVERY_NS);
            }
        } else if now >= self.next_try && took_ns < 2 * self.most_ns {
            self.ns = self.most_ns; // a sleep takes longer than the answer, by its own wake-up
        }
    }

    /// Whether it is time to see how often others took the processor.
    #[inline]
    pub fn sees(&self, now: u64) -> bool {
        self.most_ns > 0 && now >= self.see_at
    }

    /// Learns how often others have taken the processor away from the thread so far. A thread that polls
    /// keeps its processor from the server, or from other clients, that share it.
    pub fn saw(&mut self, now: u64, switches: u64) {
        let since = switches - std::mem::replace(&mut self.switches, switches);
        let first = std::mem::replace(&mut self.see_at, now + SEE_EVERY_NS) == 0;
        if first || now < self.pause_until {
            return;
        }
        if since > OWN_SWITCHES {
            self.pause_until = now + self.pause_ns;
            self.pause_ns = (2 * self.pause_ns).min(LONGEST_PAUSE_NS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST_NS: u64 = 50_000;

    /// Lets answers come after so long, one after the other; returns how long it polled in vain.
    fn wait_for(polling: &mut Polling, now: &mut u64, answers_ns: &[u64]) -> u64 {
        let mut vain = 0;
        for &answer_ns in answers_ns {
            let length = polling.length(*now);
            let look = length.min(answer_ns);
            *now += answer_ns;
            let found = answer_ns <= length;
            polling.waited(*now, look, found, answer_ns);
            vain += if found { 0 } else { look };
        }
        vain
    }

    #[test]
    fn it_goes_on_while_at_least_every_other_look_finds_an_answer() {
        let (mut polling, mut now) = (Polling::new(50), 0);
        wait_for(&mut polling, &mut now, &[20_000; 1_000]);
        assert_eq!(polling.length(now), MOST_NS);
        wait_for(&mut polling, &mut now, &[20_000, 20_000, 80_000].repeat(300));
        assert!(polling.length(now) >= MOST_NS / 2);
    }

    #[test]
    fn long_waits_are_slept_through() {
        let (mut polling, mut now) = (Polling::new(50), 0);
        let vain = wait_for(&mut polling, &mut now, &[1_000_000; 1_000]);
        assert_eq!(polling.length(now), 0);
        assert_eq!(vain, 50_000 + 25_000 + 12_500 + 6_250 + 3_125);
    }

    #[test]
    fn once_answers_come_soon_it_looks_again() {
        let (mut polling, mut now) = (Polling::new(50), 0);
        wait_for(&mut polling, &mut now, &[1_000_000; 10]);
        assert_eq!(polling.length(now), 0);
        wait_for(&mut polling, &mut now, &[40_000; 1_000]);
        assert_eq!(polling.length(now), MOST_NS);
    }

    #[test]
    fn what_it_looks_in_vain_stays_within_its_budget() {
        let (mut polling, mut now) = (Polling::new(50), 0);
        // what it finds keeps the looks long, and every third is in vain for most of the time
        let vain = wait_for(&mut polling, &mut now, &[5_000, 5_000, 51_000].repeat(10_000));
        let budget = VAIN_AT_START + (now as f64 * VAIN_SHARE) as u64;
        assert!((budget / 2..=budget).contains(&vain), "{vain} of {budget}");
    }

    #[test]
    fn whose_processor_others_want_does_not_look_for_a_while_and_then_longer() {
        let (mut polling, mut now) = (Polling::new(50), 1_000);
        polling.saw(now, 700); // before the load
        assert_eq!(polling.length(now), MOST_NS);
        now += SEE_EVERY_NS;
        polling.saw(now, 703);
        assert_eq!(polling.length(now), MOST_NS, "the kernel's own work");
        let mut switches = 703;
        for pause_ns in [FIRST_PAUSE_NS, 2 * FIRST_PAUSE_NS, 4 * FIRST_PAUSE_NS] {
            now += SEE_EVERY_NS;
            switches += 100;
            assert!(polling.sees(now));
            polling.saw(now, switches);
            assert_eq!(polling.length(now), 0);
            polling.waited(now, 0, false, 20_000); // changes nothing
            now += pause_ns;
            assert_eq!(polling.length(now), MOST_NS);
        }
    }

    #[test]
    fn where_it_is_off_it_never_looks() {
        let mut polling = Polling::new(0);
        polling.waited(100, 0, false, 1);
        assert_eq!((polling.length(1_000_000), polling.sees(1_000_000)), (0, false));
    }
}
