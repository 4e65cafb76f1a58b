/* Functions that call others of this file and of libraries, directly and at their end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) int leaf(int n) {
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

__attribute__((noinline)) int tail(int n) { return leaf(n + 2); }

__attribute__((noinline)) int recursive(int n) { return n > 0 ? recursive(n - 1) + tail(n) : leaf(n); }

__attribute__((noinline)) int through(int (*f)(int), int n) { return f(n) + 1; }

__attribute__((noinline, cold)) void fail(const char *what) {
	fputs(what, stderr);
	abort();
}

__attribute__((noinline)) char *text(const char *s) {
	char *copy = malloc(strlen(s) + 1);
	if (!copy)
		fail(s);
	return strcpy(copy, s);
}

int main(int argc, char **argv) {
	char *s = text(argv[0]);
	printf("%s %d %d\n", s, recursive(argc), through(leaf, argc));
	free(s);
	return tail(argc);
}
