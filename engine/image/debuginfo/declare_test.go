package debuginfo_test

import (
	"os"
	"path/filepath"
	"testing"

	"gotap/engine/testenv"
)

// TestSignatures wants declarations as they were written.
func TestSignatures(t *testing.T) {
	testenv.Require(t, testenv.GCC)
	declarations := []string{
		"long plain(int a, unsigned long b)",
		"double floats(double a, float b, int n)",
		"void nothing(void)",
		"const char *text(const char *s, char *const p, volatile int *v)",
		"struct s *structs(struct s *p, union u *q, enum e e)",
		"int callback(int (*fn)(void *, long), void (**table)(void))",
		"int arrays(int (*rows)[3], char **argv)",
		"_Bool flags(_Bool b, unsigned char c, signed char d)",
		"size name(size n, handler h)",
		"int format(const char *f, ...)",
	}
	want := map[string]string{
		"plain":    "plain(int a, unsigned long b) long",
		"floats":   "floats(double a, float b, int n) double",
		"nothing":  "nothing() void",
		"text":     "text(const char *s, char *const p, volatile int *v) const char *",
		"structs":  "structs(struct s *p, union u *q, enum e e) struct s *",
		"callback": "callback(int (*fn)(void *, long), void (**table)()) int",
		"arrays":   "arrays(int (*rows)[3], char **argv) int",
		"flags":    "flags(bool b, unsigned char c, signed char d) bool",
		"name":     "name(size n, handler h) size",
		"format":   "format(const char *f, ...) int",
	}
	text := "struct s { int x; }; union u { int y; }; enum e { A }; typedef unsigned long size; typedef int (*handler)(int);\n"
	for _, d := range declarations {
		text += d + " { __builtin_trap(); }\n"
	}
	source := filepath.Join(t.TempDir(), "signatures.c")
	if err := os.WriteFile(source, []byte(text+"int main(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := build(t, source, "-O1")
	for name, sig := range want {
		if got, err := p.info.Signature(p.address(t, name)); got != sig {
			t.Errorf("%s is %q, %v; want %q", name, got, err, sig)
		}
	}
}
