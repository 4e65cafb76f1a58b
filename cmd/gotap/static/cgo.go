//go:build cgo && linux

package static

// #cgo LDFLAGS: -static
import "C"
