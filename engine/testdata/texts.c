/* calls functions with texts in all kinds of memory */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FUNC __attribute__((noipa))

/* calls itself with the rest of the text, and changes the text in between */
FUNC long name(char *s, long deep)
{
	long n = 1;
	if (deep > 0) {
		n += name(s ? s + 1 : s, deep - 1);
		if (deep == 2 && s)
			s[0] ^= 1;
	}
	return n + deep;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 100, sum = 0;
	char stacked[64] = "on the stack", empty[4] = "";
	char *heap = malloc(1000), *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(page + 4096, 4096, PROT_NONE);
	for (long i = 0; i < rounds; i++) {
		errno = i % 7 - 3;
		memset(heap, 'a' + i % 26, 1000);
		heap[i % 300] = 0;
		sum += name(stacked, i % 4) + name(empty, 0) + name(heap, i % 3);
		if (i % 50 == 0) {
			memset(page, 'p', 4096);
			page[4095] = 0;
			sum += name(page + 4096 - 1 - i % 20, 0); /* ends with the memory */
			page[4095] = 'q';
			sum += name(NULL, 1) + name(page + 4092, 0) + name((char *)8, 0); /* has no end */
		}
	}
	printf("%ld\n", sum);
	return 0;
}
