/* faults: writes a variable three times, then reads where nothing is. */
#define FUNC __attribute__((noipa))
long shared;
FUNC void set(long v) { shared = v; }
FUNC int boom(int *p) { return *p; }
int main(void)
{
	for (long i = 1; i <= 3; i++)
		set(i);
	return boom((int *)8);
}
