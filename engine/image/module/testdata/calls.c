/* A program that calls a library by the PLT. */
#include <stdio.h>

int main(int argc, char **argv)
{
	(void)argc;
	puts(argv[0]);
	return 0;
}
