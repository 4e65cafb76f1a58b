/* a library that is opened while its process is traced */
__attribute__((noipa)) int late(int n) { __asm__ volatile("" ::: "memory"); return n + 1000; }
