package main

import (
	"strings"
	"testing"

	"gotap/samples"
)

// TestArgumentsOfSamples: each sample that has arguments lists them, those that change their target as well.
func TestArgumentsOfSamples(t *testing.T) {
	all, err := samples.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		declared := strings.Count(s.Text, "option(\"")
		if got := len(scriptOptions(&World{}, []string{s.Name}, "", false)); got < declared {
			t.Errorf("%s lists %d of its %d arguments", s.Name, got, declared)
		}
	}
}
