package module

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"
	"syscall"

	"gotap/engine/image/sectioncache"
)

// The search of large code takes longer than all else at the start of a session. What it finds is kept in the cache,
// for the next session with the same file: the bits of branched and pointed, the addresses of jump tables, and a
// checksum. The key is a hash of all that the search depends on: not the name, build ID or time of the file but its
// contents, so that a file that is replaced or changed in place has another key. The identity of gotap's own file is
// part of it, so that another version does not use what this one found.

// keptCode is how many bytes of code a file has at least whose targets are kept.
const keptCode = 512 << 10

// errUnkept is the error of a search whose result is not kept.
var errUnkept = errors.New("the search failed, or the file was changed meanwhile")

// searchOnce is search with a cache, which may be nil.
func (r *targetReader) searchOnce(cache *sectioncache.Cache) {
	if cache == nil {
		r.search()
		return
	}
	key, err := r.key()
	if err != nil {
		r.search()
		return
	}
	searched := false
	data, err := cache.Derived(key, r.isEncoded, func() ([]byte, error) {
		searched = true
		r.search()
		if again, err := r.key(); r.err != nil || err != nil || !bytes.Equal(again, key) {
			return nil, errUnkept
		}
		return r.encode(), nil
	})
	if err == nil && !searched {
		r.decode(data)
	}
}

// ownFile identifies the file of this program.
var ownFile = sync.OnceValues(func() (string, error) {
	var st syscall.Stat_t
	if err := syscall.Stat("/proc/self/exe", &st); err != nil {
		return "", &os.PathError{Op: "stat", Path: "/proc/self/exe", Err: err}
	}
	return fmt.Sprint(st.Dev, st.Ino, st.Size, st.Mtim, st.Ctim), nil
})

// key returns a hash of all that the search depends on: the loadable segments, the headers, and where functions start.
func (r *targetReader) key() ([]byte, error) {
	own, err := ownFile()
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	fmt.Fprintln(h, "targets", own, r.Machine, r.Bits, r.PIE, r.Order, r.text, r.Segments)
	for _, s := range r.elf.Sections {
		fmt.Fprintln(h, s.SectionHeader)
	}
	for _, s := range r.Segments {
		if _, err := io.Copy(h, io.NewSectionReader(r.src, int64(s.Offset), int64(s.FileSize))); err != nil {
			return nil, err
		}
	}
	writeWords(h, r.starts())
	return h.Sum(nil), nil
}

// writeWords writes words to a hash.
func writeWords(h hash.Hash, words []uint64) {
	p := make([]byte, 0, 8*len(words))
	for _, w := range words {
		p = binary.LittleEndian.AppendUint64(p, w)
	}
	h.Write(p)
}

// bitmapsSize returns the bytes of all bitmaps.
func (t *Targets) bitmapsSize() (size int) {
	for i := range t.branched {
		size += 8 * (len(t.branched[i].words) + len(t.pointed[i].words))
	}
	return size
}

// encode returns the bits, the tables and a checksum.
func (t *Targets) encode() []byte {
	data := make([]byte, 0, t.bitmapsSize()+8*len(t.tables)+sha256.Size)
	for i := range t.branched {
		for _, words := range [][]uint64{t.branched[i].words, t.pointed[i].words} {
			for _, w := range words {
				data = binary.LittleEndian.AppendUint64(data, w)
			}
		}
	}
	for _, addr := range t.tables {
		data = binary.LittleEndian.AppendUint64(data, addr)
	}
	sum := sha256.Sum256(data)
	return append(data, sum[:]...)
}

// isEncoded reports whether data is what encode returns for targets with bitmaps of this size.
func (t *Targets) isEncoded(data []byte) bool {
	n := len(data) - sha256.Size
	return n >= t.bitmapsSize() && (n-t.bitmapsSize())%8 == 0 && sha256.Sum256(data[:n]) == [sha256.Size]byte(data[n:])
}

// decode takes over what encode returned.
func (t *Targets) decode(data []byte) {
	word := func() (w uint64) {
		w, data = binary.LittleEndian.Uint64(data), data[8:]
		return w
	}
	for i := range t.branched {
		for _, words := range [][]uint64{t.branched[i].words, t.pointed[i].words} {
			for k := range words {
				words[k] = word()
			}
		}
	}
	for len(data) > sha256.Size {
		t.tables = append(t.tables, word())
	}
}
