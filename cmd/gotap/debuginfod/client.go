package debuginfod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"gotap/engine/image/module"
)

// Limits bound what is fetched.
type Limits struct {
	FileSize, TotalSize int64         // bytes, decompressed
	FileTime, TotalTime time.Duration // for one server to send one file, and for all
}

// DefaultLimits are those of gotap.
var DefaultLimits = Limits{FileSize: 1 << 30, TotalSize: 4 << 30, FileTime: time.Minute, TotalTime: 5 * time.Minute}

// missTime is how long an empty file in the cache means that the servers do not have the file.
const missTime = 10 * time.Minute

// Client fetches debug files.
type Client struct {
	servers []string
	dir     string            // the cache
	tell    func(text string) // told what is fetched
	limits  Limits

	mu    sync.Mutex // guards what follows, and is held while a file is fetched
	down  map[string]bool
	size  int64
	spent time.Duration
}

// New returns a client of the servers whose addresses are in urls, separated by blanks, which keeps files in dir.
func New(urls, dir string, limits Limits, tell func(text string)) (*Client, error) {
	c := &Client{dir: dir, tell: tell, limits: limits, down: map[string]bool{}}
	for _, text := range strings.Fields(urls) {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("%s is not the address of a server: http:// or https:// is needed", text)
		}
		c.servers = append(c.servers, strings.TrimRight(text, "/"))
	}
	switch {
	case len(c.servers) == 0:
		return nil, errors.New("DEBUGINFOD_URLS names no server")
	case dir == "":
		return nil, errors.New("cannot find the cache of debuginfod: HOME is not set")
	}
	return c, nil
}

// buildID is a build ID in hexadecimal digits.
var buildID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{2}){4,64}$`) })

// Fetch returns the path of the debug file of f, or "". It is a module.Fetcher.
func (c *Client) Fetch(f *module.File) string {
	if !buildID().MatchString(f.BuildID) {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	name, path := filepath.Base(f.Path), filepath.Join(c.dir, f.BuildID, "debuginfo")
	if st, err := os.Stat(path); err == nil && (st.Size() > 0 || time.Since(st.ModTime()) < missTime) {
		return "" // what is there has been tried, or no server has it
	}
	answered := 0
	for _, server := range c.servers {
		if c.down[server] {
			continue
		}
		c.tell(fmt.Sprintf("fetching the debug information of %s from %s", name, server))
		n, err := c.download(server, f.BuildID, path)
		switch {
		case err == nil:
			c.tell(fmt.Sprintf("fetched the debug information of %s: %.1f MB", name, float64(n)/1e6))
			return path
		case errors.Is(err, errNotThere):
			answered++
		default:
			c.down[server] = true
			c.tell(fmt.Sprintf("cannot fetch the debug information of %s: %v; %s is not asked again", name, err, server))
		}
	}
	if answered > 0 {
		c.tell("no server has the debug information of " + name)
	}
	if answered == len(c.servers) {
		store(path, strings.NewReader(""), func(string) error { return nil }) // only saves the next question
	}
	return ""
}

// errNotThere reports that a server does not have a file.
var errNotThere = errors.New("it is not there")

// download stores the debug file that a server has for a build ID, and returns its size.
func (c *Client) download(server, id, path string) (n int64, err error) {
	left := min(c.limits.FileTime, c.limits.TotalTime-c.spent)
	size := min(c.limits.FileSize, c.limits.TotalSize-c.size)
	if left <= 0 || size <= 0 {
		return 0, errors.New("the limits of what one run fetches are reached")
	}
	began := time.Now()
	defer func() { c.spent += time.Since(began) }()
	ctx, cancel := context.WithTimeout(context.Background(), left)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/buildid/"+id+"/debuginfo", nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("User-Agent", "gotap")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return 0, errNotThere
	default:
		return 0, fmt.Errorf("it answers %s", answer.Status)
	}
	body := &bounded{r: answer.Body, left: size}
	n, err = store(path, body, func(file string) error { return isOf(file, id) })
	c.size += n
	return n, err
}

// isOf checks that a file has a build ID.
func isOf(file, id string) error {
	f, err := module.Open(file)
	if err != nil {
		return errors.New("the server sent something else than a debug file")
	}
	defer f.Close()
	if f.BuildID != id {
		return errors.New("what it sent is of another build")
	}
	return nil
}

// bounded reads at most so many bytes; more are an error.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errors.New("the file is larger than what is fetched")
	}
	return n, err
}

// store writes a file that appears at once, complete and checked.
func store(path string, from io.Reader, check func(file string) error) (n int64, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "gotap-*")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	n, err = io.Copy(f, from)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = check(f.Name())
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return n, err
}
