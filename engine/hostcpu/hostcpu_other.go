//go:build !arm64

package hostcpu

import "gotap/arch/arm64"

// Register knows no register of 64-bit ARM on another processor.
func Register(arm64.Register) (v uint64, ok bool) { return 0, false }

// SignsPointers and HasScalable are about 64-bit ARM alone.
func SignsPointers() bool { return false }
func HasScalable() bool   { return false }
