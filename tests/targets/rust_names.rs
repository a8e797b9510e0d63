// SPDX-License-Identifier: MIT
// rust_names N: calls a function, a generic one and a method, N times each per round. None begins with an
// access to memory: Rust's runtime handles faults, so blip would not move it.
use std::io::{BufRead, Write};

// The compiler cannot see through it.
#[inline(always)]
fn opaque<T: Copy>(value: T) -> T {
    unsafe { std::ptr::read_volatile(&value) }
}

mod shop {
    use super::opaque;

    #[inline(never)]
    pub fn price(i: u64) -> u64 {
        opaque(i * 3 % 17 + 1)
    }

    #[inline(never)]
    pub fn largest<T: PartialOrd + Copy>(a: T, b: T) -> T {
        opaque(if a > b { a } else { b })
    }

    pub struct Cart {
        pub total: u64,
    }

    impl Cart {
        #[inline(never)]
        pub fn put(&mut self, price: u64) {
            let price = opaque(price % 1000);
            self.total = self.total.wrapping_mul(3).wrapping_add(price);
        }
    }
}

fn say(line: String) {
    let mut out = std::io::stdout();
    out.write_all(line.as_bytes()).unwrap();
    out.write_all(b"\n").unwrap();
    out.flush().unwrap();
}

fn main() {
    let n: u64 = std::env::args().nth(1).map_or(100, |text| text.parse().unwrap());
    let mut cart = shop::Cart { total: 0 };
    let mut line = String::with_capacity(64);
    let mut input = std::io::stdin().lock();
    say("ready".to_string());
    loop {
        line.clear();
        if input.read_line(&mut line).unwrap() == 0 {
            return;
        }
        for i in 0..n {
            cart.put(shop::largest(shop::price(i), 5u64));
        }
        say(format!("calls={} checksum={:x}", n, cart.total));
        say("done".to_string());
    }
}
