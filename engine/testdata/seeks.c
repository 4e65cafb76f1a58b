/* seeks N: N times an offset whose lower 32 bits are those of a call that the kernel makes again (-512). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int fd = open("/proc/self/exe", O_RDONLY), bad = 0;
	for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
		bad += syscall(SYS_lseek, fd, 0xfffffe00L, SEEK_SET) != 0xfffffe00L;
	printf("seeks bad=%d\n", bad);
	return 0;
}
