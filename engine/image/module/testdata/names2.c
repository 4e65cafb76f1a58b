static __attribute__((noipa)) int helper(int n) { __asm__ volatile(""); return n + 9; }
int other_file(int n) { return helper(n); }
