package datafile

import (
	"os/exec"
	"testing"
	"time"

	"gotap/engine/testenv"
)

// TestStamped: names get what date(1) puts there.
func TestStamped(t *testing.T) {
	testenv.Require(t, "date")
	at := time.Date(2024, 2, 29, 5, 6, 7, 0, time.UTC)
	for _, name := range []string{"plain", "tr-%Y%m%d-%H%M%S.log", "%y/%j", "%F_%T_%Z", "%s", "100%%", "%%F", ""} {
		out, err := exec.Command("date", "-u", "-d", "2024-02-29 05:06:07", "+x"+name).Output()
		if err != nil {
			t.Fatalf("date -u -d: %v", err)
		}
		if got := "x" + Stamped(name, at) + "\n"; got != string(out) {
			t.Errorf("%s is %q, date says %q", name, got, out)
		}
	}
	for _, name := range []string{"%", "a%", "%q", "50%-done"} {
		if got := Stamped(name, at); got != name {
			t.Errorf("%s, which has no time in it, is %q", name, got)
		}
	}
}
