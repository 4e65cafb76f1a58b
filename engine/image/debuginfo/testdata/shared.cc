// shared: calls by a pointer, in a unit that inlines nothing.
#include "shared.h"

int main()
{
	int (*volatile called)(int) = shared;
	return called(1) + one(2) + two(3) == 0;
}
