/* opened is a library that is opened late. */
__attribute__((noipa)) int twice(int n) { return 2 * n; }
