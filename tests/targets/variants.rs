// SPDX-License-Identifier: MIT
// Enums by value: in one register, in two, with a tag and without one. Each is passed twice.
#[derive(Clone, Copy)]
pub enum Shape {
    Dot,
    Circle(u32),
    Rect { w: u16, h: u16 },
}

#[inline(never)]
fn opaque<T>(x: T) -> T {
    unsafe {
        let y = std::ptr::read_volatile(&x);
        std::mem::forget(x);
        y
    }
}

#[inline(never)]
pub fn word(o: Option<u64>) -> u64 {
    opaque(o).unwrap_or(7)
}

#[inline(never)]
pub fn byte(o: Option<u8>) -> u8 {
    opaque(o).unwrap_or(7)
}

#[inline(never)]
pub fn truth(o: Option<bool>) -> bool {
    opaque(o).unwrap_or(true)
}

#[inline(never)]
pub fn result(r: Result<u32, u8>) -> u32 {
    match opaque(r) {
        Ok(x) => x,
        Err(e) => e as u32,
    }
}

#[inline(never)]
pub fn shape(s: Shape) -> u32 {
    match opaque(s) {
        Shape::Dot => 1,
        Shape::Circle(r) => r,
        Shape::Rect { w, h } => (w * h) as u32,
    }
}

fn main() {
    let mut sum = 0;
    for i in 0..2 {
        sum += word(if i == 0 { None } else { Some(42) });
        sum += byte(if i == 0 { None } else { Some(44) }) as u64;
        sum += truth(if i == 0 { None } else { Some(true) }) as u64;
        sum += result(if i == 0 { Ok(3) } else { Err(4) }) as u64;
        sum += shape(if i == 0 { Shape::Dot } else { Shape::Circle(5) }) as u64;
        sum += shape(Shape::Rect { w: 2, h: 3 }) as u64;
    }
    println!("{}", sum);
}
