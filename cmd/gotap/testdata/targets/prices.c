#include <stdio.h>
int price(const char *what, int n) { return n * 3; }
int check(int n) { return price(n % 2 ? "odd" : "even", n) + 1; }
int main(void) {
	int sum = 0;
	for (int i = 1; i <= 5; i++)
		sum += check(i);
	printf("%d\n", sum);
}
