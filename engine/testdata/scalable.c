/* scalable: works with full scalable vector registers until it is told to end, and counts how often they were not what it had filled them with */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define SVE (1 << 22)

static volatile long stop;
static unsigned char low[256], high[256], cleared[256];

/* fills z8 and z31, computes with the low parts of z0 and z1 meanwhile, and stores all three */
__attribute__((noipa)) long spin(long n)
{
	long size;
	__asm__ volatile("rdvl %0, #1\n"
		"index z8.b, #1, #3\n"
		"index z31.b, #5, #7\n"
		"index z0.b, #9, #11\n"
		"fmov d1, #1.0\n"
		"1: fadd d0, d1, d1\n"
		"fmul v1.2d, v0.2d, v1.2d\n"
		"fmov d1, #1.0\n"
		"subs %1, %1, #1\n"
		"b.ne 1b\n"
		"str z8, [%2]\n"
		"str z31, [%3]\n"
		"str z0, [%4]\n"
		: "=&r"(size), "+r"(n) : "r"(low), "r"(high), "r"(cleared)
		: "cc", "memory", "v0", "v1", "v8", "v31");
	return size;
}

static int wrong(long size)
{
	double two = 2;
	int bad = memcmp(cleared, &two, sizeof two) != 0;
	for (long i = 0; i < size; i++) {
		bad |= low[i] != (unsigned char)(1 + 3 * i) || high[i] != (unsigned char)(5 + 7 * i);
		bad |= i >= 8 && cleared[i] != 0;
	}
	return bad;
}

static void *asker(void *unused)
{
	char c;
	while (read(0, &c, 1) < 0)
		;
	stop = 1;
	return unused;
}

int main(void)
{
	pthread_t in;
	long bad = 0;
	if (!(getauxval(AT_HWCAP) & SVE)) {
		puts("without");
		return 0;
	}
	puts("ready");
	fflush(stdout);
	pthread_create(&in, NULL, asker, NULL);
	while (!stop)
		bad += wrong(spin(300));
	pthread_join(in, NULL);
	printf("victim bad=%ld\n", bad);
	return bad != 0;
}
