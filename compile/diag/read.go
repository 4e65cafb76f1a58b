package diag

import (
	"fmt"
	"io"
	"os"
)

// MaxText is the most bytes of a text that is compiled. A path may lead to a device or a pipe without an end.
const MaxText = 16 << 20

// ReadFile is the contents of a file that is to be compiled.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f)
}

// Read reads a text that is to be compiled, to its end.
func Read(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxText+1))
	if err == nil && len(text) > MaxText {
		return nil, fmt.Errorf("it is larger than %d MB", MaxText>>20)
	}
	return text, err
}
