/* A unit of its own: "single" has no copies, "several" has two. */
int several(int n) { return n * 7 + 3; }
int single(int n)
{
	volatile int sum = 0;
	while (n-- > 0)
		sum += several(n) ^ several(sum);
	return sum;
}
