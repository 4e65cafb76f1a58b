/* gcc inlines the beginning of part into its callers and keeps the rest in one function, which it then inlines, too. */
#include <stdio.h>
int done, more;
__attribute__((noinline)) void grow(int *p) { *p += 1; }
int part(int n)
{
	if (done) return n;
	int x = n; grow(&x); grow(&x); grow(&x); grow(&x); grow(&x); grow(&x);
	return x + more;
}
int again(int n) { return n > 2 ? n + 7 + again(n - 1) * 3 : more; }
__attribute__((noinline)) int once(int n) { return part(n) + 1; }
__attribute__((noinline)) int twice(int n) { return part(n + 3) + 7; }
int main(int argc, char **argv)
{
	int sum = 0;
	int (*volatile call)(int) = part;
	for (int i = 0; i < 10; i++)
		sum += once(i) + twice(i) + call(i) + again(i);
	printf("%d\n", sum);
	return 0;
}
