package spelling

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"push", "pop", "log str", "exit"}
	for _, c := range []struct{ typed, want string }{
		{"psuh", "push"}, {"pusj,eax", "push"}, {"exti", "exit"}, {"zzzzzz", ""}, {"", ""}, {"pop", "pop"},
	} {
		if got := Nearest(c.typed, known); got != c.want {
			t.Errorf("nearest to %q is %q, not %q", c.typed, got, c.want)
		}
	}
}
