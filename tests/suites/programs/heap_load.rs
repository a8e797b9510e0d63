// SPDX-License-Identifier: MIT
// heap_load ROUNDS: objects of all sizes that come and go, in three threads that hand them to each other; panics unwind and are caught. The
// output is the same in every run.
use std::collections::BTreeMap;
use std::panic::{catch_unwind, set_hook};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread;

struct Node {
    seed: u32,
    children: Option<(Box<Node>, Box<Node>)>,
}

fn tree(depth: u32, seed: u32) -> Box<Node> {
    let children = (depth > 0).then(|| {
        (tree(depth - 1, seed.wrapping_mul(31).wrapping_add(1)), tree(depth - 1, seed.wrapping_mul(37).wrapping_add(2)))
    });
    Box::new(Node { seed, children })
}

fn sum(node: &Node) -> u32 {
    let (left, right) = node.children.as_ref().map_or((0, 0), |(left, right)| (sum(left), sum(right)));
    node.seed.wrapping_add(left.wrapping_mul(3)).wrapping_add(right.wrapping_mul(5))
}

#[inline(never)]
fn deep(depth: u32, guard: &str) -> usize {
    let held = format!("{guard}{depth}"); // dropped while a panic unwinds
    if depth == 0 {
        panic!("{}", held);
    }
    deep(depth - 1, &held[..1]) + held.len()
}

fn load(rounds: u32, seed: u32, next: Sender<Box<Node>>, previous: Receiver<Box<Node>>) -> u32 {
    let mut kept = BTreeMap::new();
    let mut check = seed;
    for round in 0..rounds {
        next.send(tree(10, round)).unwrap();
        let came = previous.recv().unwrap();
        check = check.wrapping_mul(33).wrapping_add(sum(&came));
        check = check.wrapping_add(catch_unwind(|| deep(20, "x")).is_err() as u32);
        kept.insert(round % 50, came);
        for entry in kept.values().step_by(7) {
            assert_eq!(sum(entry), sum(&tree(10, entry.seed)), "an entry has changed");
        }
    }
    check
}

fn main() {
    let rounds: u32 = std::env::args().nth(1).unwrap().parse().unwrap();
    set_hook(Box::new(|_| {}));
    let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..3).map(|_| channel()).unzip();
    senders.rotate_left(1); // each sends to its neighbour
    let threads: Vec<_> = senders
        .drain(..)
        .zip(receivers.drain(..))
        .enumerate()
        .map(|(seed, (next, previous))| thread::spawn(move || load(rounds, seed as u32, next, previous)))
        .collect();
    for (i, thread) in threads.into_iter().enumerate() {
        println!("thread {}: {:?}", i, thread.join().ok());
    }
}
