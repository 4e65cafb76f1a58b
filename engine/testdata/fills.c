/* fills N: copies bytes one after another, N times, by one instruction where the processor has one that repeats itself */
#include <stdio.h>
#include <stdlib.h>
#include "port.h"

char from[64] __attribute__((aligned(64))), to[64] __attribute__((aligned(64)));

__attribute__((noipa)) void fill(char *p, char *q, long n) { COPY(p, q, n); }

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;
	int bad = 0;
	for (int i = 0; i < 64; i++)
		from[i] = (char)i;
	for (long i = 0; i < rounds; i++) {
		to[63] = 0;
		fill(to, from, sizeof to);
		bad += to[63] != 63;
	}
	printf("fills bad=%d\n", bad);
	return bad;
}
