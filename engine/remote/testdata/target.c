// A program whose calls, values and output are known.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) int work(int a, int b) { volatile int x = a; return x * b + 1; }
__attribute__((noinline)) double scale(double a) { volatile double x = a; return x * 2.5; }
__attribute__((noinline)) int fact(int n) { if (n < 2) return 1; return n * fact(n - 1); }
__attribute__((noinline)) unsigned length(const char *s) { volatile unsigned n = strlen(s); return n; }
__attribute__((noinline)) int odd(int n);
__attribute__((noinline)) int even(int n) { if (n == 0) return 1; return odd(n - 1); }
__attribute__((noinline)) int odd(int n) { if (n == 0) return 0; return even(n - 1); }

int counter;
__attribute__((noinline)) void bump(int i) { counter += i; }

int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 5;
	int pause = argc > 2 ? atoi(argv[2]) : 0;
	long sum = 0;
	double d = 0;
	for (int i = 0; i < n; i++) {
		sum += work(i, i + 1);
		d += scale(i);
		bump(i);
		usleep(pause);
	}
	printf("sum %ld d %.1f fact %d length %u even %d\n", sum, d, fact(6), length("hello"), even(7));
	return 3;
}
