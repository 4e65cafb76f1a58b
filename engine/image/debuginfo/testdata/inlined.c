/* inlined: a line whose code is inlined twice, once behind a statement that the optimiser merged with it. */
#include <stdio.h>
#include <stdlib.h>

#define FUNC __attribute__((noipa))

static volatile int sink;

static inline __attribute__((always_inline)) int scaled(int x)
{
	return x * 17 + 3;
}

FUNC int first(int x) { sink = x; int r = scaled(sink); sink = r; return r; }
FUNC int second(int x) { sink = x; int r = scaled(sink + 1); sink = r; return r + 1; }

int main(int argc, char **argv)
{
	int sum = 0;
	for (int i = 0; i < 3; i++)
		sum += first(i) + second(i) + second(i);
	printf("%d\n", sum);
	return 0;
}
