package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

var (
	countedCall = regexp.MustCompile(`(?m)^@n\[(\w+)\]: (\d+)$`)
	straceCall  = regexp.MustCompile(`(?m)^(?:\d+ +)?(\w+)\(`)
)

// sameCalls is "samecalls DATA TRACE [NAME…]": the counts of system calls that gotap printed to DATA are those of
// strace's TRACE, but for the first call of each NAME there, which gotap cannot have seen.
func sameCalls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: samecalls DATA TRACE [NAME…]")
	}
	got, want := map[string]int{}, map[string]int{}
	for _, m := range countedCall.FindAllStringSubmatch(ts.ReadFile(args[0]), -1) {
		got[m[1]], _ = strconv.Atoi(m[2])
	}
	for _, m := range straceCall.FindAllStringSubmatch(ts.ReadFile(args[1]), -1) {
		want[m[1]]++
	}
	for _, name := range args[2:] {
		if want[name]--; want[name] == 0 {
			delete(want, name)
		}
	}
	if len(want) == 0 {
		ts.Fatalf("%s: no calls", args[1])
	}
	if !maps.Equal(got, want) {
		names := slices.Sorted(maps.Keys(want))
		text := ""
		for _, name := range append(names, slices.Sorted(maps.Keys(got))...) {
			if got[name] != want[name] {
				text += fmt.Sprintf("%s: %d, strace %d\n", name, got[name], want[name])
			}
		}
		ts.Fatalf("calls differ:\n%s", text)
	}
}
