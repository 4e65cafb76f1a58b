// C++ names: overloads, templates, operators, ABI tags, anonymous namespaces, a function with a cold piece
#include <stdexcept>
#include <string>
#include <vector>

#define KEEP __attribute__((noipa))

namespace geo {

struct Square {
	long side;
	KEEP long area() const { return side * side; }
	KEEP static long grow(int by) { return by + 1; }
	KEEP static long grow(double by) { return (long)by; }
	KEEP Square operator+(const Square &o) const { return {side + o.side}; }
	KEEP bool operator<(const Square &o) const { return side < o.side; }
	KEEP long operator[](int i) const { return side + i; }
	KEEP long operator()(int i) const { return side - i; }
};

template <typename T> KEEP T twice(T v) { return v + v; }
template <typename T> KEEP std::vector<T> many(T v) { return {v, v}; }

namespace { KEEP long unseen(long n) { __asm__ volatile(""); return n; } }

KEEP std::string tagged(long n) { return std::string((size_t)n, 'x'); }

KEEP long thrower(long n)
{
	if (n % 3 == 0)
		throw std::runtime_error("third");
	return n;
}

long count = 3;

} // namespace geo

KEEP long global_function(long n) { __asm__ volatile(""); return n; }

int main(int argc, char **)
{
	geo::Square a{argc}, b{2};
	long n = a.area() + geo::Square::grow(1) + geo::Square::grow(2.0) + (a + b).side + (a < b) + a[1] + a(2);
	n += geo::twice(1) + geo::twice(2L) + (long)geo::twice(2.5) + (long)geo::many(1).size() + geo::unseen(1);
	n += (long)geo::tagged(3).size() + geo::thrower(1) + geo::count + global_function(1);
	return n == 0;
}
