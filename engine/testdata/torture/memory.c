/* memory MODE: memory and code of odd kinds. What it prints does not depend on anything but its own correctness. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FUNC __attribute__((noipa))
#define PAGE 4096
#define PAGES 8

static int uffd;
static volatile int filled;

/* fills missing pages with their number, and lets write-protected ones be written; every instruction of it is needed for the others to go on */
FUNC void *filler(void *area)
{
	static char page[PAGE] __attribute__((aligned(PAGE)));
	struct uffd_msg m;
	while (filled < 2 * PAGES && read(uffd, &m, sizeof m) == sizeof m) {
		uint64_t at = m.arg.pagefault.address & ~(uint64_t)(PAGE - 1);
		if (m.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP) {
			struct uffdio_writeprotect wp = { { at, PAGE }, 0 };
			ioctl(uffd, UFFDIO_WRITEPROTECT, &wp);
		} else {
			memset(page, 1 + (int)((at - (uintptr_t)area) / PAGE), PAGE);
			struct uffdio_copy copy = { at, (uintptr_t)page, PAGE, UFFDIO_COPY_MODE_WP, 0 };
			ioctl(uffd, UFFDIO_COPY, &copy);
		}
		filled++;
	}
	return NULL;
}

FUNC long peek(volatile char *p) { return *p; }
FUNC void poke(volatile char *p, char v) { *p += v; }

/* calls and pushes on a stack that is not there yet */
FUNC long on_stack(char *top)
{
	long r = 0;
#ifdef __x86_64__
	__asm__ volatile("mov %%rsp,%%rbx\n mov %1,%%rsp\n push $40\n call 1f\n jmp 2f\n1: mov 8(%%rsp),%0\n add $2,%0\n ret\n2: mov %%rbx,%%rsp"
			 : "=&r"(r) : "r"(top) : "rbx", "memory", "cc");
#endif
	return r;
}

/* userfaultfd: flags are those of the system call */
static int faults(int flags)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP };
	char *area = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t id;
	uffd = syscall(SYS_userfaultfd, O_CLOEXEC | flags);
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api))
		return puts("no userfaultfd"), 0;
	struct uffdio_register reg = { { (uintptr_t)area, PAGES * PAGE }, UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP, 0 };
	if (ioctl(uffd, UFFDIO_REGISTER, &reg))
		return puts("no registration"), 0;
	pthread_create(&id, NULL, filler, area);
	long sum = 0;
	for (int i = 0; i < PAGES - 1; i++)
		sum += peek(area + i * PAGE + 100);
	printf("sum %ld\n", sum);
	for (int i = 0; i < PAGES - 1; i++)
		poke(area + i * PAGE + 100, 1);
	for (int i = 0; i < PAGES - 1; i++)
		sum += peek(area + i * PAGE + 100);
	printf("sum %ld\n", sum);
	printf("stack %ld\n", on_stack(area + PAGES * PAGE));
	return 0;
}

static sigjmp_buf away;
FUNC void on_fault(int sig, siginfo_t *si, void *unused)
{
	static char line[64];
	(void)unused;
	int n = snprintf(line, sizeof line, "signal %d code %d\n", sig, si->si_code);
	(void)!write(1, line, n);
	siglongjmp(away, 1);
}

static void catch(int sig, int flags)
{
	struct sigaction sa = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | flags };
	sigaction(sig, &sa, NULL);
}

/* protection keys on data, and on code, which may run but not be read */
static int keys(void)
{
	char *data = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int key = pkey_alloc(0, 0);
	catch(SIGSEGV, 0);
	if (key < 0)
		puts("no keys");
	pkey_mprotect(data, PAGE, PROT_READ | PROT_WRITE, key);
	poke(data, 5);
	if (key >= 0)
		pkey_set(key, PKEY_DISABLE_WRITE);
	printf("read %ld\n", peek(data));
	if (!sigsetjmp(away, 1))
		poke(data, 1);
	if (key >= 0)
		pkey_set(key, PKEY_DISABLE_ACCESS);
	if (!sigsetjmp(away, 1))
		printf("read %ld\n", peek(data));
	if (key >= 0)
		pkey_set(key, 0);
	printf("read %ld\n", peek(data));
	mprotect((char *)((uintptr_t)peek & ~(uintptr_t)(PAGE - 1)), PAGE, PROT_EXEC); /* a key of its own, where there are any */
	printf("read %ld\n", peek(data));
	return 0;
}

/* rewrites operands of its own instructions, of which only the first byte is left as it was */
FUNC int changing(void);
extern char operand[];
__asm__(".text\n.globl changing\n.type changing,%function\nchanging: mov $1,%eax\n.globl operand\n.set operand, .-4\n add $1,%eax\n ret\n.size changing,.-changing");

static int rewrites(void)
{
	char *page = (char *)((uintptr_t)operand & ~(uintptr_t)(PAGE - 1));
	mprotect(page, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	for (int i = 1; i <= 3; i++) {
		printf("changing %d\n", changing());
		memcpy(operand, &(int){ i * 100 }, 4);
	}
	mprotect(page, 2 * PAGE, PROT_READ | PROT_EXEC);
	printf("changing %d\n", changing());
	return 0;
}

/* code that is made: in anonymous memory, in a memfd mapped twice, in pages that are mapped and unmapped again */
static int makes(void)
{
	static const unsigned char add[] = { 0x8d, 0x04, 0x37, 0xc3 }, sub[] = { 0x89, 0xf8, 0x29, 0xf0, 0xc3 };
#ifndef __x86_64__
	return puts("not here"), 0;
#endif
	int fd = memfd_create("code", 0);
	(void)!ftruncate(fd, PAGE);
	char *w = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int (*x)(int, int) = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	int (*p)(int, int) = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	for (int i = 0; i < 20; i++) {
		memcpy(w, i & 1 ? sub : add, sizeof sub - 1 + (i & 1));
		__builtin___clear_cache(w, w + PAGE);
		printf("%d %d\n", x(i, 3), p(i, 3));
		char *a = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(a, add, sizeof add);
		printf("%d\n", ((int (*)(int, int))a)(i, i));
		munmap(a, PAGE);
	}
	return 0;
}

/* overflows a small stack, and is told on another one */
FUNC long deep(volatile long *n)
{
	volatile char room[512];
	room[0] = 1;
	++*n;
	return deep(n) + room[0];
}

static void *overflows(void *unused)
{
	static char other[64 << 10];
	stack_t st = { .ss_sp = other, .ss_size = sizeof other };
	volatile long n = 0;
	sigaltstack(&st, NULL);
	catch(SIGSEGV, SA_ONSTACK);
	if (!sigsetjmp(away, 1))
		deep(&n);
	printf("deep enough %d\n", n > 10);
	return unused;
}

static int stacks(void)
{
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 16384);
	for (int i = 0; i < 3; i++) {
		pthread_t id;
		pthread_create(&id, &a, overflows, NULL);
		pthread_join(id, NULL);
	}
	return 0;
}

/* keeps values below the stack pointer, while signals come */
FUNC long red_zone(long v)
{
#ifdef __x86_64__
	__asm__ volatile("mov %0,-8(%%rsp)\n mov %0,-128(%%rsp)\n mov $64,%%ecx\n1: addq $1,-8(%%rsp)\n addq $1,-128(%%rsp)\n dec %%ecx\n jnz 1b\n"
			 "mov -8(%%rsp),%0\n add -128(%%rsp),%0" : "+r"(v) : : "rcx", "memory", "cc");
#else
	v = 2 * v + 128;
#endif
	return v;
}

static void nothing(int sig) { (void)sig; }

static int zone(void)
{
	signal(SIGALRM, nothing);
	ualarm(900, 900);
	long bad = 0;
	for (long i = 0; i < 40; i++)
		bad += red_zone(i) != 2 * i + 128;
	ualarm(0, 0);
	printf("bad %ld\n", bad);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	setvbuf(stdout, NULL, _IOLBF, 0);
	return !strcmp(mode, "faults") ? faults(0) :
	       !strcmp(mode, "user-faults") ? faults(UFFD_USER_MODE_ONLY) :
	       !strcmp(mode, "keys") ? keys() :
	       !strcmp(mode, "rewrites") ? rewrites() :
	       !strcmp(mode, "makes") ? makes() :
	       !strcmp(mode, "stacks") ? stacks() :
	       !strcmp(mode, "zone") ? zone() : 2;
}
