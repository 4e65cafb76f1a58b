/* partly: a function that is called once, and has its code in five callers besides. */
#include <stdio.h>

static volatile int sink;

static inline __attribute__((always_inline)) int part(int x)
{
	sink = x * 17 + 3;
	return sink;
}

__attribute__((noipa)) int alone(int x) { sink = x; return sink + 1; }

__attribute__((noipa)) int twice(int x)
{
	return part(x) +
		part(x + 1);
}

int main(void)
{
	int (*volatile called)(int) = part;
	int sum = called(1) + twice(2) + alone(3);

	sum += part(4);
	sum += part(5);
	sum += part(6);
	printf("%d\n", sum);
	return 0;
}
