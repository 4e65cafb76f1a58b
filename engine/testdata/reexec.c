// Runs itself anew without end: as good as all of its time goes by in execve and in the loader.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) int spot(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

// The number of images so far is in the arguments; a wrong count or a lost call ends it with a status of its own.
int main(int argc, char **argv)
{
	int n = 0;
	if (argc != 2)
		return 3;
	for (int i = 0; i < 3; i++)
		n = spot(n);
	if (n != 3)
		return 4;
	if (access(argv[1], F_OK) == 0)
		return 0;
	execv("/proc/self/exe", argv);
	return 5;
}
