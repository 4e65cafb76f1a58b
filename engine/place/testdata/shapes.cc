// Overloads, and a function with a cold piece.
#include <stdexcept>
#define KEEP __attribute__((noipa))

namespace geo {
KEEP long grow(int by) { return by + 1; }
KEEP long grow(double by) { return (long)by; }
KEEP long thrower(long n)
{
	if (n % 3 == 0)
		throw std::runtime_error("third");
	return n;
}
} // namespace geo

int main(int argc, char **) { return (int)(geo::grow(argc) + geo::grow(0.5) + geo::thrower(argc)); }
