/* callers ROUNDS LIBRARY: calls shared() ROUNDS times, and lets LIBRARY, which is opened and closed again and again,
 * call it. Prints how often each did. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef LIBRARY
extern long shared(long n);
long calls(long n)
{
	long sum = 0;
	for (long i = 0; i < n; i++)
		sum += shared(i) + 1; /* not a tail call */
	return sum;
}
#else
__attribute__((noinline, noclone)) long shared(long n)
{
	n = n * 3 + 1;
	__asm__ volatile(".skip 5, 0x90" : "+r"(n)); /* room for a jump in front of the return */
	return n;
}
int main(int argc, char **argv)
{
	long rounds = atol(argv[1]), own = 0, theirs = 0, sum = 0;
	for (long r = 0; r < rounds; r++) {
		void *lib = dlopen(argv[2], RTLD_NOW);
		long (*calls)(long) = lib ? (long (*)(long))dlsym(lib, "calls") : NULL;
		if (!calls)
			return 1;
		for (int i = 0; i < 100; i++)
			sum += shared(i) + 1;
		own += 100;
		sum += calls(70);
		theirs += 70;
		dlclose(lib);
		if (r % 2)
			free(malloc(1 << 20)); /* other addresses */
	}
	printf("own %ld theirs %ld sum %ld\n", own, theirs, sum);
	return 0;
}
#endif
