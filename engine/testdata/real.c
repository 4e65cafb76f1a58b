/* real ROUNDS: a program that does a little of everything, for probes on every instruction of it. What it prints depends on all that it did. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FUNC __attribute__((noipa))
#if defined(__arm__) && defined(__thumb__)
#define OTHER __attribute__((noipa, target("arm"))) /* functions of the other instruction set, which calls have to switch to */
#elif defined(__arm__)
#define OTHER __attribute__((noipa, target("thumb")))
#else
#define OTHER FUNC
#endif

static uint32_t crc_table[16];
static unsigned char input[80], packed[160], output[80];

FUNC uint32_t r_crc(const void *data, size_t n)
{
	const unsigned char *p = data;
	uint32_t c = ~0u;
	for (n *= 2; n--; p += !(n & 1))
		c = crc_table[(c ^ *p >> (n & 1 ? 0 : 4)) & 15] ^ c >> 4;
	return ~c;
}

FUNC void r_crc_init(void)
{
	for (uint32_t i = 0; i < 16; i++) {
		uint32_t c = i;
		for (int k = 0; k < 4; k++)
			c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
		crc_table[i] = c;
	}
}

/* a compressor: distance and length of the longest repetition in the last 20 bytes, or a byte */
FUNC size_t r_pack(unsigned char *to, const unsigned char *from, size_t n)
{
	unsigned char *start = to;
	for (size_t i = 0; i < n;) {
		size_t best = 0, at = 0;
		for (size_t d = 1; d <= 20 && d <= i; d++) {
			size_t k = 0;
			while (k < 30 && i + k < n && from[i + k] == from[i + k - d])
				k++;
			if (k > best)
				best = k, at = d;
		}
		if (best > 2) {
			*to++ = 128 | (unsigned char)at;
			*to++ = (unsigned char)best;
			i += best;
		} else {
			*to++ = from[i++] & 127;
		}
	}
	return (size_t)(to - start);
}

FUNC size_t r_unpack(unsigned char *to, const unsigned char *from, size_t n)
{
	unsigned char *start = to;
	for (const unsigned char *end = from + n; from < end;) {
		if (*from & 128) {
			size_t d = *from++ & 127, k = *from++;
			for (; k; k--, to++)
				*to = to[-(long)d];
		} else {
			*to++ = *from++;
		}
	}
	return (size_t)(to - start);
}

FUNC int r_less(const void *a, const void *b) { int x = *(const int *)a, y = *(const int *)b; return x < y ? -1 : x > y; }

FUNC void r_sort(int *v, int n, int (*cmp)(const void *, const void *))
{
	if (n < 2)
		return;
	int pivot = v[n / 2], i = 0, j = n - 1;
	for (;; i++, j--) {
		while (cmp(&v[i], &pivot) < 0)
			i++;
		while (cmp(&v[j], &pivot) > 0)
			j--;
		if (i >= j)
			break;
		int t = v[i];
		v[i] = v[j];
		v[j] = t;
	}
	r_sort(v, i, cmp);
	r_sort(v + i, n - i, cmp);
}

struct point { double x, y; float w[4]; };
FUNC struct point r_turn(struct point p, double c, double s)
{
	struct point q = { p.x * c - p.y * s, p.x * s + p.y * c, { 0 } };
	for (int i = 0; i < 4; i++)
		q.w[i] = p.w[3 - i] * 1.5f + (float)q.x;
	return q;
}

FUNC double r_root(double x)
{
	double r = x > 1 ? x / 2 : 1;
	for (int i = 0; i < 8; i++)
		r = (r + x / r) * 0.5;
	return r;
}

/* loops that compilers turn into vector instructions */
FUNC uint32_t r_vector(uint32_t *a, const uint16_t *b, const float *f, int n)
{
	uint32_t sum = 0;
	float total = 0;
	for (int i = 0; i < n; i++)
		a[i] = a[i] * 3 + b[i];
	for (int i = 0; i < n; i++)
		sum += a[i] ^ (uint32_t)b[i] << 3;
	for (int i = 0; i < n; i++)
		total += f[i] * f[i];
	return sum + (uint32_t)total;
}

OTHER int r_other(int x, int (*back)(const void *, const void *))
{
	int y = x * 7 + 3;
	return back(&x, &y) * 1000 + (y ^ x >> 2);
}

FUNC int r_choose(int n, int x)
{
	switch (n) {
	case 0: return x + 1;
	case 1: return x * x;
	case 2: return x << (x & 7);
	case 3: return x / 3;
	case 4: return x % 7;
	case 5: return -x;
	case 6: return ~x;
	case 7: return x > 10 ? x - 10 : 10 - x;
	case 8: return x & 0x55;
	}
	return 0;
}

FUNC long long r_sum(int n, ...)
{
	va_list ap;
	long long sum = 0;
	va_start(ap, n);
	for (int i = 0; i < n; i++)
		sum += i & 1 ? va_arg(ap, long long) : va_arg(ap, int);
	va_end(ap);
	return sum;
}

FUNC uint64_t r_divide(uint64_t a, uint32_t b) { return a / b + a % b * 3; }

static jmp_buf back;
FUNC int r_deep(int n) { if (!n) longjmp(back, 5); return r_deep(n - 1) + 1; }
FUNC int r_jump(int n) { int r = setjmp(back); return r ? r : r_deep(n); }

static int shared;
FUNC int r_atomic(int n)
{
	for (int i = 0; i < n; i++)
		__atomic_fetch_add(&shared, i, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
}

static __thread int own;
FUNC void *r_thread(void *n)
{
	for (long i = 0; i < (long)n; i++) {
		own += (int)i;
		__atomic_add_fetch(&shared, 1, __ATOMIC_RELAXED);
	}
	return (void *)(long)own;
}

FUNC long r_kernel(void) { return syscall(SYS_getppid) == getppid(); }

FUNC unsigned r_text(char *to, int n, double x)
{
	return (unsigned)snprintf(to, 80, "%d %s %.6f %lld %x %c", n, "text", x, (long long)n * n * n * n, (unsigned)n * 2654435761u, 'a' + n % 26);
}

FUNC void r_fill(void)
{
	const char *words[] = { "the ", "quick ", "brown ", "fox ", "jumps ", "over ", "lazy ", "dogs, " };
	uint32_t seed = 42;
	for (size_t i = 0; i < sizeof input;) {
		seed = seed * 1103515245u + 12345;
		for (const char *w = words[seed >> 16 & 7]; *w && i < sizeof input; w++)
			input[i++] = (unsigned char)*w;
	}
}

FUNC int r_round(int n)
{
	int v[16], sum = 0;
	uint32_t a[21];
	uint16_t b[21];
	float f[21];
	char text[80];
	pthread_t id;
	void *result;
	struct point p = { 3, 4, { 1, 2, 3, 4 } };
	for (int i = 0; i < 16; i++)
		v[i] = (i * 7919 + n * 31) % 101 - 50;
	r_sort(v, 16, r_less);
	for (int i = 1; i < 16; i++)
		sum += v[i - 1] <= v[i] ? v[i] * i : 100000;
	for (int i = 0; i < 21; i++)
		a[i] = (uint32_t)(i * n), b[i] = (uint16_t)(i * 257), f[i] = (float)i * 0.25f;
	sum += (int)r_vector(a, b, f, 21);
	for (int i = 0; i < 12; i++)
		sum += r_choose(i, sum & 1023) + r_other(i, r_less);
	for (int i = 0; i < 3; i++)
		p = r_turn(p, 0.6, 0.8);
	sum += (int)(p.x * 1000) + (int)(p.w[2] * 100) + (int)(r_root(n + 2) * 1e6);
	sum += (int)r_sum(4, n, 5000000000LL, 7, -3LL) + (int)r_divide(123456789012345ULL + (unsigned)n, 97);
	sum += r_jump(4) + r_atomic(5) + (int)r_kernel();
	pthread_create(&id, NULL, r_thread, (void *)10L);
	pthread_join(id, &result);
	sum += (int)(long)result;
	sum += (int)r_crc(text, r_text(text, n, p.y));
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	r_crc_init();
	r_fill();
	size_t n = r_pack(packed, input, 80);
	size_t m = r_unpack(output, packed, n);
	printf("packed %zu to %zu, crc %08x, same %d\n", m, n, r_crc(packed, n), !memcmp(input, output, m) && m == 80);
	for (int i = 0; i < rounds; i++)
		printf("round %d: %08x\n", i, (unsigned)r_round(i));
	return 0;
}
