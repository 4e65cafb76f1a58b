// throw: frames between a throw and its handler.
#include <cstdio>
#include <stdexcept>

extern "C" __attribute__((noipa)) void mark(long n) { asm volatile("" : : "r"(n)); }

struct Witness {
	~Witness() { mark(1); }
};

__attribute__((noipa)) long deep(long n)
{
	Witness w;
	if (n == 0)
		throw std::runtime_error("bottom");
	return deep(n - 1) + 1;
}

int main()
{
	try {
		deep(4);
	} catch (const std::exception &e) {
		mark(2);
		std::puts(e.what());
	}
}
