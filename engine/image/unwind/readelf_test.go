package unwind

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gotap/engine/image/mapped"
	"gotap/engine/testenv"
	"gotap/engine/testenv/fixture"
)

// libraries are files with much call-frame information, of both kinds of x86.
func libraries(t *testing.T) []string {
	var found []string
	for _, pattern := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib32/libc.so.6"} {
		if _, err := os.Stat(pattern); err == nil {
			found = append(found, pattern)
		}
	}
	if len(found) == 0 {
		testenv.Lack(t, testenv.Libraries)
	}
	return found
}

// debugFrameProgram is a program whose call-frame information is in .debug_frame alone.
func debugFrameProgram(t *testing.T) string {
	testenv.Require(t, testenv.GCC)
	out := filepath.Join(t.TempDir(), "program")
	text, err := fixture.Command("gcc", "-O2", "-g", "-w", "-fno-asynchronous-unwind-tables", "-o", out, "testdata/frames.c").CombinedOutput()
	if err != nil {
		t.Fatalf("cannot build: %v\n%s", err, text)
	}
	return out
}

// TestRowsAgreeWithReadelf interprets every row of every function of some libraries, and wants what readelf prints.
func TestRowsAgreeWithReadelf(t *testing.T) {
	testenv.Require(t, testenv.Readelf)
	for _, path := range append(libraries(t), debugFrameProgram(t)) {
		t.Run(filepath.Base(path), func(t *testing.T) { compareFile(t, path) })
	}
}

func compareFile(t *testing.T, path string) {
	img, err := mapped.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer img.Close()
	table, err := New(img)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("readelf", "--wide", "--debug-dump=frames-interp", path)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBUGINFOD_URLS=")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	rows, wrong := compareRows(t, table, bufio.NewScanner(pipe))
	cmd.Wait()
	t.Logf("%d rows, %d wrong", rows, wrong)
	if rows < 50 {
		t.Errorf("only %d rows to compare", rows)
	}
}

// compareRows reads readelf's tables: a line with an entry, one with the names of columns, then one for each row.
func compareRows(t *testing.T, table *Table, lines *bufio.Scanner) (rows, wrong int) {
	var columns []string
	entry := false
	var last string
	for lines.Scan() {
		part := strings.Fields(lines.Text())
		switch {
		case len(part) >= 5 && part[3] == "FDE":
			entry, last = true, part[5]
			columns = nil
		case len(part) >= 4 && part[3] == "CIE":
			entry = false
		case len(part) >= 2 && part[0] == "LOC":
			columns = part[1:]
		case entry && columns != nil && len(part) == len(columns)+1:
			if part[1] == "ZERO" || strings.HasSuffix(last, ".."+part[0]) {
				continue // a row of no bytes, at the end of the function
			}
			rows++
			if err := compareRow(table, columns, part); err != nil {
				if wrong++; wrong <= 5 {
					t.Errorf("%s: row %s: %v", last, lines.Text(), err)
				}
			}
		}
	}
	return rows, wrong
}

func compareRow(table *Table, columns, part []string) error {
	pc, err := strconv.ParseUint(part[0], 16, 64)
	if err != nil {
		return err
	}
	r, err := table.row(pc)
	if err != nil {
		return err
	}
	for i, column := range columns {
		if got := ruleText(table.names, r, column); got != part[i+1] {
			return fmt.Errorf("%s is %q", column, got)
		}
	}
	return nil
}

// ruleText is a rule as readelf writes it.
func ruleText(names *regNames, r *row, column string) string {
	if column == "CFA" {
		if r.cfa.kind == ruleValExpr {
			return "exp"
		}
		return fmt.Sprintf("%s%+d", names.name(r.cfa.reg), r.cfa.off)
	}
	for _, rule := range r.rules {
		if names.name(rule.target) == column || column == "ra" && rule.target == names.ra {
			return ruleWord(names, rule)
		}
	}
	return "u" // readelf does not tell undefined from unchanged
}

func ruleWord(names *regNames, r rule) string {
	switch r.kind {
	case ruleOffset:
		return fmt.Sprintf("c%+d", r.off)
	case ruleValOffset:
		return fmt.Sprintf("v%+d", r.off)
	case ruleRegister:
		return names.name(r.reg)
	case ruleExpression:
		return "exp"
	case ruleValExpr:
		return "vexp"
	}
	return "u"
}
