package main

import (
	"reflect"
	"testing"

	"gotap/cmd/gotap/status"
	"gotap/script/definition"
)

func TestDefinitionFlags(t *testing.T) {
	f := definitionFlags{defs: []string{"A=0x10", "B", "C="}, groups: "1, 0x20", types: "3"}
	o, err := f.options(true)
	if err != nil || !reflect.DeepEqual(o, definition.Options{Defs: map[string]string{"A": "0x10", "B": "1", "C": ""},
		Groups: []int{1, 32}, Types: []int{3}, Unsafe: true}) {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range []definitionFlags{{defs: []string{"=1"}}, {groups: "1,"}, {types: "70000"}, {groups: "-1"}} {
		if _, err := bad.options(false); err == nil || status.HintOf(err) == "" {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
