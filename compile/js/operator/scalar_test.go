package operator

import (
	"testing"

	"gotap/compile"
)

func TestObjects(t *testing.T) {
	for name, want := range map[string]bool{"struct point": true, "int[4]": false, "int[2][3]": false, "char[]": false, "&[u8]": true, "[]int": true} {
		if got := isObject(compile.TypeRef{Name: name, Address: true}); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if isObject(compile.TypeRef{Name: name}) {
			t.Errorf("a number of type %s is an object", name)
		}
	}
}
