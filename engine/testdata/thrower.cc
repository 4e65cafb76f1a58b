// thrower N: exceptions through probed frames, N times, and prints what was caught.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#define FUNC __attribute__((noipa))

static long destroyed;
struct Guard {
	long v;
	explicit Guard(long i) : v(i) {}
	FUNC ~Guard() { destroyed += v; }
};

FUNC long deepest(long i)
{
	Guard g(1);
	if (i % 3 == 0)
		throw std::runtime_error("r" + std::to_string(i));
	if (i % 3 == 1)
		throw i;
	return i;
}
FUNC long between(long i) { Guard g(2); return deepest(i) + 1; }
FUNC long rethrows(long i)
{
	try {
		return between(i);
	} catch (long v) {
		throw v + 1;
	}
}
FUNC long catches(long i)
{
	try {
		return rethrows(i);
	} catch (const std::exception &e) {
		return atol(e.what() + 1) * 10;
	} catch (long v) {
		return v * 100;
	}
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 3, sum = 0;
	std::vector<long> all;
	for (long i = 0; i < n; i++)
		all.push_back(catches(i));
	for (long v : all)
		sum += v;
	printf("thrower %ld %ld\n", sum, destroyed);
}
