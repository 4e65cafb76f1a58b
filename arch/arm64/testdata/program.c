// A program of ordinary work, whose output tells if any of it went wrong. It is run whole by the emulator.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static unsigned long next(unsigned long *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

int main(int argc, char **argv)
{
	static double v[500];
	unsigned long seed = 88172645463325252ul, hash = 1469598103934665603ul;
	char text[4096] = "";
	for (int i = 0; i < 500; i++)
		v[i] = sin((double)(next(&seed) % 10000)) * exp((double)(next(&seed) % 20)) / (1 + i);
	qsort(v, 500, sizeof v[0], compare);
	for (int i = 0; i < 500; i += 25) {
		char *p = malloc(64 + i);
		snprintf(p, 64, "%d %.12g %a %lx %s\n", i, v[i], (float)v[i] * 0.3f, next(&seed), strstr(argv[0], "p") ? "p" : "q");
		strcat(text, p);
		free(p);
	}
	for (const char *p = text; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211ul;
	fputs(text, stdout);
	printf("%016lx %zu %d %.17Lg %ld\n", hash, strlen(text), argc, (long double)v[7] * 3, strtol("-123456789012", 0, 10) / 7);
	return (int)(hash % 100);
}
