package debuginfod

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotap/engine/image/module"
	"gotap/engine/place"
	"gotap/engine/place/catalog"
	"gotap/engine/testenv"
)

// stripped builds a program without debug information, and returns its path, its build ID and its debug file.
func stripped(t *testing.T) (path, id string, debug []byte) {
	t.Helper()
	testenv.Require(t, testenv.GCC, testenv.Objcopy)
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", `printf 'int helper(short width) { return width; }\nint main(void) { return helper(0); }\n' >a.c &&
gcc -g -Wl,--build-id -o prog a.c && objcopy --only-keep-debug prog prog.debug && objcopy --strip-all prog`)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	path = filepath.Join(dir, "prog")
	f, err := module.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	debug, err = os.ReadFile(path + ".debug")
	if err != nil || os.Remove(path+".debug") != nil {
		t.Fatal(err)
	}
	return path, f.BuildID, debug
}

// signature asks for a function of a program, with a client.
func signature(t *testing.T, path string, c *Client) string {
	t.Helper()
	all := catalog.New(c.Fetch)
	defer all.Close()
	spec, err := place.Parse(path + ":helper")
	if err != nil {
		t.Fatal(err)
	}
	found, err := all.File(spec)
	if err != nil {
		return err.Error()
	}
	return found[0].Signature
}

// server answers with a function, and counts the requests of each path.
type server struct {
	*httptest.Server
	asked map[string]int
}

func serve(t *testing.T, answer http.HandlerFunc) *server {
	s := &server{asked: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked[r.URL.Path]++
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// setUp makes a cache that the environment names, and a client that uses it.
func setUp(t *testing.T, urls string, limits Limits) (c *Client, told *strings.Builder) {
	t.Helper()
	t.Setenv("DEBUGINFOD_CACHE_PATH", filepath.Join(t.TempDir(), "cache"))
	told = &strings.Builder{}
	c, err := New(urls, module.FetchedTo(), limits, func(text string) { fmt.Fprintln(told, text) })
	if err != nil {
		t.Fatal(err)
	}
	return c, told
}

// TestDebugInformationIsFetched asks servers of which the second has the file: it is fetched once, and is in the cache
// for others.
func TestDebugInformationIsFetched(t *testing.T) {
	path, id, debug := stripped(t)
	where := "/buildid/" + id + "/debuginfo"
	without := serve(t, http.NotFound)
	with := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != where {
			http.NotFound(w, r)
			return
		}
		w.Write(debug)
	})
	c, told := setUp(t, without.URL+" "+with.URL+"/", DefaultLimits)
	for range 2 {
		if got := signature(t, path, c); got != "helper(short width) int" {
			t.Fatalf("the function is %s\n%s", got, told)
		}
	}
	if with.asked[where] != 1 || without.asked[where] != 1 {
		t.Errorf("asked %v and %v", without.asked, with.asked)
	}
	cached := filepath.Join(os.Getenv("DEBUGINFOD_CACHE_PATH"), id, "debuginfo")
	if text, err := os.ReadFile(cached); err != nil || !bytes.Equal(text, debug) {
		t.Errorf("the cache has %d bytes, %v", len(text), err)
	}
	want := fmt.Sprintf("fetching the debug information of prog from %s\nfetching the debug information of prog from %s\n", without.URL, with.URL) +
		fmt.Sprintf("fetched the debug information of prog: %.1f MB\n", float64(len(debug))/1e6)
	if told.String() != want {
		t.Errorf("told:\n%s", told)
	}
}

// TestBadServers asks servers that do not have the file, send another one, too much, nothing in time, or an error. The
// answer is the same as without servers, and nothing but an empty file stays in the cache.
func TestBadServers(t *testing.T) {
	path, id, debug := stripped(t)
	quick := Limits{FileSize: 1 << 20, TotalSize: 1 << 20, FileTime: 200 * time.Millisecond, TotalTime: time.Second}
	other := bytes.ReplaceAll(debug, mustBytes(t, id), make([]byte, len(id)/2))
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		limits Limits
		told   string
		left   int64 // size of the file in the cache; -1: none
	}{
		"not there":  {http.NotFound, DefaultLimits, "no server has the debug information of prog", 0},
		"error":      {func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", 500) }, DefaultLimits, "500 Internal Server Error", -1},
		"other file": {func(w http.ResponseWriter, r *http.Request) { w.Write(other) }, DefaultLimits, "of another build", -1},
		"a page":     {func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("<html>")) }, DefaultLimits, "something else than a debug file", -1},
		"too much": {func(w http.ResponseWriter, r *http.Request) {
			for range 300 {
				w.Write(make([]byte, 1<<16))
			}
		}, quick, "larger than what is fetched", -1},
		"slow": {func(w http.ResponseWriter, r *http.Request) {
			w.Write(debug[:100])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, quick, "deadline", -1},
	} {
		s := serve(t, c.answer)
		client, told := setUp(t, s.URL, c.limits)
		for range 2 {
			if got := signature(t, path, client); strings.Contains(got, "width") {
				t.Errorf("%s: the function is %s", name, got)
			}
		}
		if n := s.asked["/buildid/"+id+"/debuginfo"]; n != 1 {
			t.Errorf("%s: asked %d times", name, n)
		}
		if !strings.Contains(told.String(), c.told) {
			t.Errorf("%s: told\n%s", name, told)
		}
		left, err := os.ReadDir(filepath.Join(os.Getenv("DEBUGINFOD_CACHE_PATH"), id))
		if size := sizeOf(left); err == nil && size != c.left {
			t.Errorf("%s: the cache has %v, %d bytes", name, left, size)
		}
	}
}

// sizeOf returns the size of the one file in a folder; -1: there is none, -2: there are several.
func sizeOf(left []os.DirEntry) int64 {
	switch len(left) {
	case 0:
		return -1
	case 1:
		st, err := left[0].Info()
		if err == nil {
			return st.Size()
		}
	}
	return -2
}

func mustBytes(t *testing.T, text string) (b []byte) {
	t.Helper()
	if _, err := fmt.Sscanf(text, "%x", &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestServersAreAddresses refuses servers that are not addresses, and an empty list.
func TestServersAreAddresses(t *testing.T) {
	for _, urls := range []string{"", "  ", "file:///etc", "http://", "example.org", "http://a ftp://b"} {
		if _, err := New(urls, "dir", DefaultLimits, nil); err == nil {
			t.Errorf("%q is taken", urls)
		}
	}
	if _, err := New("http://a https://b/", "", DefaultLimits, nil); err == nil {
		t.Error("no cache is taken")
	}
}
