package datafile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gotap/cmd/gotap/status"
)

// CannotWrite returns the error for a file of this name that could not be opened.
func CannotWrite(name string, err error) error {
	all := fmt.Errorf("cannot write the output: %w", err)
	dir := filepath.Dir(name)
	if _, missing := os.Stat(dir); errors.Is(missing, os.ErrNotExist) {
		return status.Hinted(all, "the directory does not exist: mkdir -p "+dir)
	}
	return all
}
