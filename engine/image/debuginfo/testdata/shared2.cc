// shared2: the copies of shared.
#include "shared.h"

int one(int x) { return shared(x) + 1; }
int two(int x) { return shared(x) + 2; }
