package python

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// offsets prints what a version's headers say, in the order of tableOf.
const offsets = `
#define Py_BUILD_CORE 1
#include <Python.h>
#include <stddef.h>
#include <stdio.h>
#if PY_VERSION_HEX >= 0x030b0000
#include "internal/pycore_frame.h"
#include "internal/pycore_code.h"
#else
#include <frameobject.h>
#endif
#include "internal/pycore_runtime.h"
#include "internal/pycore_interp.h"
#define O(type, field) printf(" %zu", offsetof(type, field))
int main(void) {
	printf("%d", PY_MINOR_VERSION);
	O(_PyRuntimeState, interpreters.head); O(PyInterpreterState, next);
	O(PyThreadState, next); O(PyThreadState, interp); O(PyThreadState, thread_id);
	O(PyCodeObject, co_filename); O(PyCodeObject, co_firstlineno);
	printf(" %zu %zu", sizeof(PyASCIIObject), sizeof(PyCompactUnicodeObject));
	O(PyObject, ob_type); O(PyVarObject, ob_size); O(PyASCIIObject, length); O(PyASCIIObject, state); O(PyBytesObject, ob_sval);
#if PY_VERSION_HEX < 0x030b0000
	O(PyInterpreterState, tstate_head); O(PyThreadState, frame); O(PyCodeObject, co_name);
	O(PyFrameObject, f_back); O(PyFrameObject, f_code); O(PyFrameObject, f_lasti);
#if PY_VERSION_HEX >= 0x030a0000
	O(PyThreadState, cframe); O(PyThreadState, root_cframe); O(CFrame, previous); O(PyCodeObject, co_linetable);
#else
	O(PyCodeObject, co_lnotab);
#endif
#else
	O(PyInterpreterState, threads.head); O(PyCodeObject, co_qualname); O(PyCodeObject, co_linetable);
	O(PyCodeObject, co_code_adaptive); O(PyCodeObject, _co_firsttraceable);
	O(_PyInterpreterFrame, previous); O(_PyInterpreterFrame, owner);
#if PY_VERSION_HEX < 0x030d0000
	O(PyThreadState, cframe); O(PyThreadState, root_cframe); O(_PyCFrame, previous); O(_PyCFrame, current_frame);
	O(_PyInterpreterFrame, f_code); O(_PyInterpreterFrame, prev_instr);
#if PY_VERSION_HEX < 0x030c0000
	O(_PyInterpreterFrame, is_entry);
#endif
#else
	O(PyThreadState, current_frame); O(_PyInterpreterFrame, f_executable); O(_PyInterpreterFrame, instr_ptr);
#endif
#endif
	return 0;
}
`

// tableOf prints the table of a version as the program above does.
func tableOf(minor int) string {
	l := layouts[minor]
	all := []uint64{uint64(minor), l.runtime.interpreters, l.runtime.next, l.thread.next, l.thread.interp, l.thread.id, l.code.file, l.code.firstLine,
		l.ascii, l.compact, objectType, varSize, textLength, textState, bytesData}
	if minor < 11 {
		all = append(all, l.runtime.threads, l.thread.frame, l.code.name, l.frame.previous, l.frame.code, l.frame.lasti)
		if minor == 10 {
			all = append(all, l.thread.cframe, l.thread.root, l.thread.previous)
		}
		all = append(all, l.code.lines)
	} else {
		all = append(all, l.runtime.threads, l.code.name, l.code.lines, l.code.start, l.code.first, l.frame.previous, l.frame.owner)
		if minor < 13 {
			all = append(all, l.thread.cframe, l.thread.root, l.thread.previous, l.thread.current, l.frame.code, l.frame.instr)
		} else {
			all = append(all, l.thread.frame, l.frame.code, l.frame.instr)
		}
		if minor == 11 {
			all = append(all, l.frame.entry)
		}
	}
	return strings.Trim(fmt.Sprint(all), "[]")
}

// TestLayouts: the tables are what the compiler makes of each version's headers, of those that are there.
func TestLayouts(t *testing.T) {
	testenv.Require(t, testenv.GCC, testenv.AMD64)
	dir := t.TempDir()
	source, program := filepath.Join(dir, "offsets.c"), filepath.Join(dir, "offsets")
	if err := os.WriteFile(source, []byte(offsets), 0o600); err != nil {
		t.Fatal(err)
	}
	home, _ := os.UserHomeDir()
	folders, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/*/include/python3.*"))
	system, _ := filepath.Glob("/usr/include/python3.*")
	for _, include := range append(folders, system...) {
		minor := 0
		if _, err := fmt.Sscanf(filepath.Base(include), "python3.%d", &minor); err != nil || layouts[minor] == nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(include, "internal/pycore_runtime.h")); err != nil {
			continue
		}
		if out, err := fixture.Command("gcc", "-w", "-I", include, "-I", filepath.Join(include, "internal"), source, "-o", program).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", include, err, out)
		}
		want, err := exec.Command(program).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := tableOf(minor); got != string(want) {
			t.Errorf("%s: the table has\n%s\nand the compiler\n%s", include, got, want)
		}
	}
}
