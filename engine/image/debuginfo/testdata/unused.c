/* unused: a parameter that is not used, and a call that a compiler may make without it. */
#define FUNC __attribute__((noinline))

FUNC long unused(long a, long left, long b)
{
	__asm__ volatile("");
	return a + b;
}

int main(int argc, char **argv)
{
	return unused(argc, 77, 3) != 4;
}
