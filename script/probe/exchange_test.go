package probe_test

import (
	"testing"

	"gotap/script/scripttest"
)

// Fingerprints are equal for probes that do the same at the same places, whatever their callbacks do.
func TestFingerprint(t *testing.T) {
	r := scripttest.New(t, `
const one = 1, two = 2; function plus(x) { return x + one; } function plusTwo(x) { return x + two; }
probe("f", { enter(c) { exit({ n: plus(c.arg0) }); }, exit(e) { print(1); } });
probe("f", { enter(c) { exit({ n: plus(c.arg0) }); }, exit(e) { print(2); } });
probe("f", { enter(c) { exit({ n: plus(c.arg0) }); }, exit(e) {}, limit: 3 });
probe("g", { enter(c) { exit({ n: plus(c.arg0) }); }, exit(e) {} });
probe("f", { enter(c) { exit({ n: plusTwo(c.arg0) }); }, exit(e) {} });
`)
	probes := r.Script.Probes()
	if probes[0].Fingerprint() != probes[1].Fingerprint() {
		t.Error("a callback changes the fingerprint")
	}
	for _, p := range probes[2:] {
		if p.Fingerprint() == probes[0].Fingerprint() {
			t.Errorf("the probe at %v has the fingerprint of the first", p.Span)
		}
	}
}
