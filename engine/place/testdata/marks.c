/* A static mark in two places, and one of another name. */
#include <sys/sdt.h>

static inline __attribute__((always_inline)) void twice(int n) { DTRACE_PROBE1(acc, twice, n); }
__attribute__((noipa)) void first(int n) { twice(n); DTRACE_PROBE(acc, long__name); }
__attribute__((noipa)) void second(int n) { twice(n * 2); }

int main(int argc, char **argv)
{
	(void)argv;
	first(argc);
	second(argc);
	return 0;
}
