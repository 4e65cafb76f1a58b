package command

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gotap/engine/backend"
)

// Find returns the file of a command, for which it searches as execvp does. The path is as execve wants it in the
// command's directory: see At. Errors match os.ErrNotExist, os.ErrPermission or exec.ErrNotFound.
func Find(c *backend.Command) (path string, err error) {
	if strings.ContainsRune(c.Path, '/') {
		return c.Path, executable(At(c, c.Path))
	}
	if c.Path == "" {
		return "", errors.New("it has no name")
	}
	denied := false
	for _, dir := range filepath.SplitList(pathList(c)) {
		if dir == "" {
			dir = "."
		}
		file := filepath.Join(dir, c.Path)
		err := executable(file)
		if err == nil {
			return file, nil
		}
		denied = denied || errors.Is(err, os.ErrPermission)
	}
	if denied {
		return "", errNotExecutable
	}
	return "", exec.ErrNotFound
}

// A refusal is why a file cannot be run. It matches an error of package os, whose text would say it twice.
type refusal struct {
	text string
	is   error
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Unwrap() error { return r.is }

var (
	errNotExecutable = &refusal{"it is not executable", os.ErrPermission}
	errDirectory     = &refusal{"it is a directory", os.ErrPermission}
	errNoFile        = &refusal{"no such file", os.ErrNotExist}
)

// At converts a path that is relative to the command's directory into one that this process can use.
func At(c *backend.Command, path string) string {
	if c.Dir != "" && !filepath.IsAbs(path) {
		return filepath.Join(c.Dir, path)
	}
	return path
}

// executable returns why a file cannot be run, as far as its name and mode show it.
func executable(file string) error {
	st, err := os.Stat(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errNoFile
	case err != nil:
		return err
	case st.IsDir():
		return errDirectory
	case st.Mode()&0o111 == 0:
		return errNotExecutable
	}
	return nil
}

// pathList returns the directories in which a command is searched for.
func pathList(c *backend.Command) string {
	for _, e := range c.Env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			return v
		}
	}
	return os.Getenv("PATH")
}
