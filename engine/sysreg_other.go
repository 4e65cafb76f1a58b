//go:build !arm64

package engine

import "gotap/arch/arm64"

// systemRegister knows no register of 64-bit ARM on another processor.
func systemRegister(arm64.Register) (v uint64, ok bool) { return 0, false }

// signsPointers and hasScalable are about 64-bit ARM alone.
func signsPointers() bool { return false }
func hasScalable() bool   { return false }
