/* lines: each line runs a number of times that gcov knows. */
#include <stdio.h>

#define FUNC __attribute__((noipa))

static volatile long sink;

FUNC long id(long n) { sink += n; return n; }

static inline __attribute__((always_inline)) long twice(long n)
{
	long r = id(n);
	r += id(n + 1);
	return r;
}

FUNC long loops(long n)
{
	long sum = 0;
	for (long i = 0; i < n; i++)
		sum += id(i);
	for (long i = 0; i < n; i++) {
		if (i % 3 == 0)
			continue;
		sum += id(i) +
			id(i * 2) +
			id(i * 3);
	}
	long k = n;
	while (k > 0) {
		k -= 2;
		sum += k;
	}
	do {
		k++;
	} while (id(k) < 4);
	return sum;
}

FUNC long choices(long n)
{
	long r = n > 3 ? id(n) : id(-n);
	if (n == 2 || id(n) == 5)
		r += 10;
	else if (n == 7)
		r += 20;
	else
		r += 30;
	switch (n) {
	case 0:
		r += id(1);
		break;
	case 1:
	case 2:
		r += id(2);
		break;
	case 3:
		r += id(3);
		/* fall through */
	case 4:
		r += id(4);
		break;
	case 5: r += id(5); break;
	default:
		r += id(9);
	}
	return r;
}

FUNC long split(long a, long b)
{
	long v = id(a) * (
		id(b)
		+ 1) + id(a + b) * (
		id(b + 2));
	v += twice(a); v += twice(b);
	return v
		+ id(v);
}

int main(void)
{
	long total = 0;
	for (int i = 0; i < 9; i++)
		total += choices(i);
	total += loops(7);
	total += loops(0);
	for (int i = 0; i < 3; i++) total += split(i, i + 1);
	printf("%ld\n", total);
	return 0;
}
