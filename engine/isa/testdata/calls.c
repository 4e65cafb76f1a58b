/* Functions with literals between their instructions, and with a table of jumps. */
#include <stdio.h>

__attribute__((noinline)) unsigned constant(unsigned n) { return n * 0x12345678u + 0x9abcdef1u; }

__attribute__((noinline)) int pick(int n) {
	if (n < 0)
		return -n * 31;
	return constant(n) & 15;
}

int main(int argc, char **argv) {
	volatile int n = argc;
	printf("%d %u\n", pick(n), constant(n));
	return 0;
}
