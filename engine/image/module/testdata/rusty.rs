mod shape {
    #[inline(never)]
    pub fn area(w: i64, h: i64) -> i64 {
        std::hint::black_box(w) * std::hint::black_box(h)
    }
    #[inline(never)]
    pub fn twice<T: std::ops::Add<Output = T> + Copy>(v: T) -> T {
        std::hint::black_box(v) + v
    }
}

struct Counter(i64);

impl Counter {
    #[inline(never)]
    fn bump(&mut self, by: i64) -> i64 {
        self.0 += std::hint::black_box(by);
        self.0
    }
}

fn main() {
    let mut c = Counter(0);
    println!("{}", c.bump(2) + shape::area(2, 3) + shape::twice(2i64) + shape::twice(3i32) as i64);
}
