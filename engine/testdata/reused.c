/* Has its own data among its code: it unmaps a page of its code and uses the addresses itself, and it maps one page of its code a second time
   with its data behind, as V8 does with its built-in functions. All of the data is the byte of a breakpoint. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

extern const char __ehdr_start[];

/* Four pages of code, of which main uses the second for its data. */
__attribute__((noinline, aligned(PAGE))) void code(void) { __asm__ volatile(".fill 4 * 4096, 1, 0x90"); }

static char *data(char *at)
{
	char *p = mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p == MAP_FAILED)
		exit(2);
	return memset(p, 0xcc, PAGE);
}

static const char *state(const char *p)
{
	for (int i = 0; i < PAGE; i++)
		if ((unsigned char)p[i] != 0xcc)
			return "changed";
	return "as it was";
}

int main(void)
{
	char *first = (char *)((uintptr_t)code & -(uintptr_t)PAGE);
	int fd = open("/proc/self/exe", O_RDONLY);
	char *room = mmap(0, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *again = mmap(room, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, first - __ehdr_start);
	if (room == MAP_FAILED || again == MAP_FAILED)
		return 3;
	char *behind = data(room + PAGE), *inside = data(first + PAGE);
	puts("ready");
	fflush(stdout);
	getchar();
	printf("behind a copy %s, inside the code %s\n", state(behind), state(inside));
	return 0;
}
