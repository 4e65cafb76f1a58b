package main

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// TestCollectLaterOnce wants the usual collections back after the first one.
func TestCollectLaterOnce(t *testing.T) {
	t.Setenv("GOGC", "")
	percent := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	usual := percent()
	collectLater()
	for percent() != usual {
		runtime.GC()
		time.Sleep(time.Millisecond) // the cleanup runs in a goroutine of its own
	}
	t.Setenv("GOGC", "50")
	collectLater()
	if now := percent(); now != usual {
		t.Errorf("GOGC counts as %d, want %d", now, usual)
	}
}
