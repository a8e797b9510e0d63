// SPDX-License-Identifier: MIT
// containers N: N calls of each function per round, with the types of Rust's standard library. Speaks the language of target.h.
use std::io::{self, BufRead, Write};

fn black_box(n: usize) -> usize {
    unsafe { std::ptr::read_volatile(&n) }
}

pub struct Request {
    pub path: String,
    pub sizes: Vec<i32>,
    pub who: &'static str,
}

#[no_mangle]
#[inline(never)]
pub fn texts(s: &str, heap: &String, owned: String) -> usize {
    black_box(s.as_bytes()[0] as usize + heap.len() + owned.len())
}

#[no_mangle]
#[inline(never)]
pub fn numbers(all: &Vec<i32>, slice: &[u16], yes: bool, small: i8) -> usize {
    black_box(all.len() + slice.len() + slice[0] as usize + yes as usize + (small as i64 + 128) as usize)
}

pub enum Shape {
    Empty,
    Circle(f64),
    Rect { w: i32, h: i32 },
    Label(String),
}

#[no_mangle]
#[inline(never)]
pub fn shapes(s: &Shape, maybe: &Option<i32>, boxed: &Option<Box<i32>>, names: &Vec<String>) -> usize {
    let n = match s {
        Shape::Empty => 0,
        Shape::Circle(r) => *r as usize,
        Shape::Rect { w, h } => (w - h) as usize,
        Shape::Label(text) => text.len(),
    };
    black_box(n + maybe.unwrap_or(0) as usize + boxed.as_ref().map_or(0, |b| **b as usize) + names.len())
}

#[no_mangle]
#[inline(never)]
pub fn handle(r: &Request, n: u64) -> usize {
    black_box(r.path.len() + r.sizes.len() + r.who.len() + n as usize)
}

fn main() {
    let n: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(2);
    let say = |text: String| {
        let mut out = io::stdout();
        out.write_all(text.as_bytes()).and_then(|_| out.flush()).unwrap();
    };
    say("ready\n".to_string());
    for _ in io::stdin().lock().lines() {
        let mut sum = 0;
        for i in 0..n {
            sum += texts("static", &"on the heap".to_string(), "owned".to_string());
            sum += numbers(&vec![10, -20, 30], &[7, 8, 9], i % 2 == 0, -3);
            let shape = match i % 4 {
                0 => Shape::Empty,
                1 => Shape::Circle(2.5),
                2 => Shape::Rect { w: 3, h: -4 },
                _ => Shape::Label("a label".to_string()),
            };
            let maybe = if i % 2 == 0 { None } else { Some(42) };
            let boxed = if i % 2 == 0 { Some(Box::new(7)) } else { None };
            let names: Vec<String> = (0..i).map(|k| format!("name {}", k)).collect();
            sum += shapes(&shape, &maybe, &boxed, &names);
            sum += handle(&Request { path: "/rust".to_string(), sizes: vec![1, 2], who: "me" }, i);
        }
        say(format!("calls={} sum={}\ndone\n", n, sum));
    }
}
