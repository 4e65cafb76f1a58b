// pairs: what Rust passes in its own way: values of two words, and large ones by their address.
// The names are as rustc makes them, but known beforehand.
use std::hint::black_box;

pub struct Span {
    lo: u64,
    hi: u64,
}
pub struct Wrapped(i64);
pub struct Large {
    a: u64,
    b: i32,
    c: u64,
}

#[inline(never)]
#[export_name = "_ZN5pairs6rslice17h0123456789abcdefE"]
pub fn rslice(a: &[i32], t: &str) -> usize {
    black_box((a, t));
    a.len() + t.len()
}

#[inline(never)]
#[export_name = "_ZN5pairs5rpair17h0123456789abcdefE"]
pub fn rpair(p: (i32, u8), b: Box<i64>, r: Span, w: Wrapped, last: i32) -> i64 {
    black_box((&p, &r, &w));
    p.0 as i64 + p.1 as i64 + *b + r.lo as i64 + r.hi as i64 + w.0 + last as i64
}

#[inline(never)]
#[export_name = "_ZN5pairs6rlarge17h0123456789abcdefE"]
pub fn rlarge(v: Vec<u8>, l: Large, after: i32) -> Vec<u8> {
    black_box((&l, after, l.a, l.b, l.c));
    black_box(v)
}

#[inline(never)]
#[export_name = "_ZN5pairs6rsplit17h0123456789abcdefE"]
pub fn rsplit(a: u64, b: u64, c: u64, d: u64, e: u64, s: &str, f: i16) -> u64 {
    black_box(s);
    (a + b + c + d + e + s.len() as u64).wrapping_add(f as u64)
}

#[inline(never)]
#[export_name = "_ZN5pairs6rfloat17h0123456789abcdefE"]
pub fn rfloat(p: (f64, i32), f: f32) -> f64 {
    black_box(p);
    p.0 + p.1 as f64 + f as f64
}

#[inline(never)]
#[export_name = "_ZN5pairs5renum17h0123456789abcdefE"]
pub fn renum(few: [i16; 3], one: i32) -> i32 {
    black_box(few);
    few[0] as i32 + one
}

fn main() {
    println!("{}", renum([1, 2, 3], 4));
    println!("{}", rfloat((2.5, -7), 0.25));
    println!("{}", rslice(&[7, 8, 9], "hello"));
    println!("{}", rpair((-4, 200), Box::new(-40), Span { lo: 10, hi: 20 }, Wrapped(-5), -6));
    println!("{:?}", rlarge(vec![1, 2], Large { a: 3, b: -3, c: 5 }, -9));
    println!("{}", rsplit(1, 2, 3, 4, 5, "abcdefg", -8));
}
