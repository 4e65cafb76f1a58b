// Functions that return structs: in registers, and in memory whose address the caller passes and the function need not keep.
struct small { short a; signed char b; };
struct floats { float x, y; };
struct large { int n; long long square; char name[8]; struct small in; };

#define FUNC __attribute__((noipa))

FUNC struct small small(int n) { return (struct small){ n, -n }; }
FUNC struct floats floats(int n) { return (struct floats){ n + .5f, -n }; }

// large calls itself before it makes its result, so that all registers have had other contents by then.
FUNC struct large large(int n)
{
	long long below = n > 0 ? large(n - 1).square : 0;
	return (struct large){ n, n > 0 ? below + 2 * n - 1 : 0, "name", { n, -n } };
}

int main(void)
{
	return small(1).a + (int)floats(2).x + large(3).n == 6 ? 0 : 1;
}
