// SPDX-License-Identifier: MIT
// rust_calls N: N calls of work() per round, one of mixer::Mixer::mix() (a mangled name) in each, two threads; every
// tenth call panics inside and is caught. Speaks the language of target.h.
use std::io::{self, BufRead, Write};

mod mixer {
    pub struct Mixer(pub u64);
    impl Mixer {
        #[inline(never)]
        pub fn mix(&mut self, i: u64) -> u64 {
            self.0 = self.0.rotate_left(5) ^ i.wrapping_mul(0x9e3779b97f4a7c15);
            if i % 10 == 3 {
                panic!("caught");
            }
            self.0
        }
    }
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn work(i: u64, seed: u64) -> u64 {
    let mut m = mixer::Mixer(seed);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| m.mix(i))).unwrap_or(i)
}

fn main() {
    let n: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1000);
    std::panic::set_hook(Box::new(|_| {}));
    let say = |text: String| {
        let mut out = io::stdout();
        out.write_all(text.as_bytes()).and_then(|_| out.flush()).unwrap();
    };
    say(format!("info pid={} work={:#x}\nready\n", std::process::id(), work as usize));
    for _ in io::stdin().lock().lines() {
        let half = move |seed: u64| (0..n / 2).fold(seed, |sum, i| sum.wrapping_mul(31) ^ work(i, seed));
        let other = std::thread::spawn(move || half(1));
        let sum = half(2).wrapping_add(other.join().unwrap());
        say(format!("calls={} checksum={:x}\ndone\n", n / 2 * 2, sum));
    }
}
