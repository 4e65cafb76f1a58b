//go:build !arm64

package hostcpu

import "gotap/arch/arm64"

// Register returns false: the registers are those of 64-bit ARM.
func Register(arm64.Register) (v uint64, ok bool) { return 0, false }

// Features of 64-bit ARM.
func SignsPointers() bool       { return false }
func HasScalable() bool         { return false }
func HasStreaming() bool        { return false }
func HasMemoryTags() bool       { return false }
func AddsAtomically() bool      { return false }
func ChecksBranchTargets() bool { return false }
