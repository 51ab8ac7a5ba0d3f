//! Numbers as sysbench draws them (`src/sb_rand.c`; gaussian, special and pareto of 1.0.20, zipfian
//! of what came after it), over the range [0, n).

use super::rng::Rng;

/// `sb_rand_gaussian`: the mean of `iterations` uniform draws (Irwin-Hall, scaled to the range).
pub fn gaussian(rng: &mut Rng, n: u64, iterations: u32) -> u64 {
    let sum: f64 = (0..iterations).map(|_| rng.unit() * n as f64).sum();
    ((sum / f64::from(iterations)) as u64).min(n - 1)
}

/// `sb_rand_special`: `hot_operations` % of the draws fall into the `hot_set` % in the middle of
/// the range, the others are gaussian.
///
/// As in the original, with t = n - 1 and r uniform in [0, 1): r below 1 - hot_operations/100
/// gives the mean of `iterations` uniform draws times t; any other r gives
/// r (t hot_set/100 + 1) + t/2 - t hot_set/200, so the special values fill only the upper
/// `hot_operations` % of their part.
pub fn special(rng: &mut Rng, n: u64, iterations: u32, hot_set: u32, hot_operations: u32) -> u64 {
    let t = (n - 1) as f64;
    let hot_set = f64::from(hot_set) / 100.0;
    let r = rng.unit();
    let drawn = if r < 1.0 - f64::from(hot_operations) / 100.0 {
        (0..iterations).map(|_| rng.unit()).sum::<f64>() * t / f64::from(iterations)
    } else {
        r * (t * hot_set + 1.0) + t / 2.0 - t * hot_set / 2.0
    };
    (drawn as u64).min(n - 1)
}

/// `sb_rand_pareto`: n u^(ln h / ln(1 - h)), which puts 1 - h of the draws into the first h.
pub fn pareto(rng: &mut Rng, n: u64, power: f64) -> u64 {
    ((n as f64 * rng.unit().powf(power)) as u64).min(n - 1)
}

/// The exponent of [`pareto`] for a shape h in (0, 1).
pub fn pareto_power(h: f64) -> f64 {
    h.ln() / (1.0 - h).ln()
}

/// `sb_rand_zipfian`: P(k) proportional to (k + 1)^-exponent, exactly, by rejection inversion
/// (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6.3, 1996), with the integral of the hat function
/// H(x) = (x^(1 - e) - 1) / (1 - e), or ln x where e = 1.
#[derive(Debug, Clone)]
pub struct RejectionZipfian {
    n: f64,
    exponent: f64,
    h_first: f64,
    h_last: f64,
    shortcut: f64,
}

impl RejectionZipfian {
    pub fn new(n: u64, exponent: f64) -> Self {
        let mut zipfian =
            RejectionZipfian { n: n as f64, exponent, h_first: 0.0, h_last: 0.0, shortcut: 0.0 };
        zipfian.h_first = zipfian.integral(1.5) - 1.0;
        zipfian.h_last = zipfian.integral(n as f64 + 0.5);
        zipfian.shortcut = 2.0 - zipfian.inverse(zipfian.integral(2.5) - zipfian.hat(2.0));
        zipfian
    }

    pub fn draw(&self, rng: &mut Rng) -> u64 {
        loop {
            let u = self.h_last + rng.unit() * (self.h_first - self.h_last);
            let x = self.inverse(u);
            let k = (x + 0.5).floor().clamp(1.0, self.n);
            if k - x <= self.shortcut || u >= self.integral(k + 0.5) - self.hat(k) {
                return k as u64 - 1;
            }
        }
    }

    fn hat(&self, x: f64) -> f64 {
        x.powf(-self.exponent)
    }

    fn integral(&self, x: f64) -> f64 {
        let log_x = x.ln();
        let t = (1.0 - self.exponent) * log_x;
        if t.abs() < 1e-8 { log_x * (1.0 + t / 2.0) } else { log_x * t.exp_m1() / t }
    }

    fn inverse(&self, y: f64) -> f64 {
        // below -1 only by rounding
        let t = (y * (1.0 - self.exponent)).max(-1.0);
        if t.abs() < 1e-8 { (y * (1.0 - t / 2.0)).exp() } else { (y * t.ln_1p() / t).exp() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 300_000;

    fn share(mut draw: impl FnMut(&mut Rng) -> u64, within: impl Fn(u64) -> bool) -> f64 {
        let mut rng = Rng::for_stream(11, &[]);
        let hits = (0..DRAWS).filter(|_| within(draw(&mut rng))).count();
        hits as f64 / f64::from(DRAWS)
    }

    #[test]
    fn pareto_puts_one_minus_h_of_the_draws_into_the_first_h() {
        let power = pareto_power(0.2);
        let observed = share(|rng| pareto(rng, 100_000, power), |k| k < 20_000);
        assert!((observed - 0.8).abs() < 0.005, "{observed}");
    }

    #[test]
    fn special_puts_three_quarters_and_the_gaussian_share_into_the_middle() {
        // gaussian share inside [49500, 50500]: mean of 12 uniforms has sigma 1/12 of the range,
        // so +-0.005 of the range is +-0.06 sigma: 0.0478 (normal approximation)
        let observed =
            share(|rng| special(rng, 100_001, 12, 1, 75), |k| (49_500..=50_501).contains(&k));
        assert!((observed - (0.75 + 0.25 * 0.0478)).abs() < 0.005, "{observed}");
    }

    #[test]
    fn gaussian_has_the_mean_and_deviation_of_irwin_hall() {
        let mut rng = Rng::for_stream(5, &[]);
        let draws: Vec<f64> =
            (0..DRAWS).map(|_| gaussian(&mut rng, 12_000, 12) as f64 + 0.5).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(DRAWS);
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(DRAWS);
        assert!((mean - 6_000.0).abs() < 10.0, "{mean}");
        assert!((variance.sqrt() - 1_000.0).abs() < 10.0, "{}", variance.sqrt());
    }

    #[test]
    fn rejection_zipfian_has_the_probabilities_of_the_zeta_distribution() {
        for exponent in [0.0, 0.8, 1.0, 1.3] {
            let zipfian = RejectionZipfian::new(50, exponent);
            let total: f64 = (1..=50).map(|k| f64::from(k).powf(-exponent)).sum();
            for rank in [0_u64, 1, 9, 49] {
                let expected = ((rank + 1) as f64).powf(-exponent) / total;
                let observed = share(|rng| zipfian.draw(rng), |k| k == rank);
                let sigma = (expected * (1.0 - expected) / f64::from(DRAWS)).sqrt();
                assert!((observed - expected).abs() < 5.0 * sigma, "{exponent} {rank}");
            }
        }
    }
}
