/* opens LIBRARY: waits for a byte, opens a library, and calls its function three times. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char c;
	if (argc < 2 || read(0, &c, 1) != 1)
		return 1;
	void *lib = dlopen(argv[1], RTLD_NOW);
	int (*twice)(int) = lib ? (int (*)(int))dlsym(lib, "twice") : NULL;
	int n = 0;
	for (int i = 0; twice && i < 3; i++)
		n += twice(i);
	printf("opened %d\n", n);
	return 0;
}
