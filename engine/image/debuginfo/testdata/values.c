/* values: variables whose places change from instruction to instruction. */
#include <stdlib.h>

#define FUNC __attribute__((noipa))

struct item {
	int kind : 3;
	unsigned count : 11;
	short code;
	double weight;
	struct item *next;
	union {
		int whole;
		unsigned char part[4];
	};
	struct {
		long far;
		char near[3];
	} in;
};

struct two { int a; float b; long c; };

static struct item items[3] = {
	{ -2, 1000, -300, 2.5, &items[1], { 0x01020304 }, { -7, { 1, 2, 3 } } },
	{ 3, 17, 44, -0.25, &items[2], { 77 }, { 1L << 30, { 'x', 'y', 'z' } } },
	{ 1, 2, 3, 4.5, 0, { 0x7f000000 }, { 0, { 9, 9, 9 } } },
};
static volatile long sink;

static inline __attribute__((always_inline)) long scale(long value, int factor)
{
	long scaled = value * factor;
	sink += scaled;
	return scaled + 1;
}

FUNC long walk(struct item *p, int by)
{
	long sum = 0;
	for (int i = 0; p; p = p->next, i++) {
		sum += scale(p->code, by + i);
		sum += scale(p->count, i);
	}
	return sum;
}

FUNC double mixed(double d, float f, unsigned char u, struct two t)
{
	double r = d * f;
	int small = (signed char)(u * 3);
	sink += small;
	r += t.b + t.c;
	sink += t.a;
	return r - small;
}

FUNC long stack(long a, long b, long c, long d, long e, long f, long g, short h)
{
	long v[4] = { a, b, c, d };
	sink += e;
	v[g & 3] += h;
	sink += v[1] + f;
	return v[g & 3] * 2 + h;
}

int main(void)
{
	sink += walk(items, 3);
	sink += (long)mixed(1.5, 2.0f, 90, (struct two){ 6, 0.5f, -9 });
	sink += stack(1, 2, 3, 4, 5, 6, 7, -8);
	return sink == 12345;
}
