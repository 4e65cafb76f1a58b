// A function of assembly beside one of C: GNU as describes it as one without parameters, and with a result of no known type.
long twice(long n);

int main(void) { return twice(0); }
