// index: what LLVM writes in DWARF 5: location lists, addresses and strings by index.

#[inline(never)]
#[no_mangle]
pub fn rsum(v: &[u64], k: u32) -> u64 {
    let mut s = 0u64;
    for x in v {
        s = s.wrapping_mul(k as u64) ^ x;
    }
    s
}

#[inline(never)]
#[no_mangle]
pub extern "C" fn rmix(a: f64, b: i32, c: u8) -> f64 {
    let d = a * b as f64;
    if c > 3 {
        d.sqrt()
    } else {
        d + c as f64
    }
}

fn main() {
    println!("{} {}", rsum(&[1, 2, 3, 4, 5], 7), rmix(2.0, -3, 2));
    println!("{}", rmix(4.0, 9, 8));
}
