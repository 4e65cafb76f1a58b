// Package engine places probes into running processes and runs their programs there.
package engine
