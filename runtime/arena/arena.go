package arena

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"gotap/runtime/record"
)

// Options contains the sizes of an arena.
type Options struct {
	Size int // bytes of address space; memory is used only once touched. 0: 1 GiB, on 32-bit hosts 64 MiB
	Ring int // bytes of the ring, rounded up to a power of two. 0: 4 MiB

	Spread int // bytes for the buckets of stats, once there are any. 0: a sixteenth of the arena
}

// Layout of the arena. All offsets are in bytes from its start, all numbers are little-endian 64-bit words, and no word
// is a Go pointer. So another process can map the same memory and follow the offsets.
//
//	0        header: magic, version, size, then the words named by word… below
//	4 KiB    trap table: trapSlots × (place, count, address)
//	64 KiB   object descriptors: maxObjects × 128 bytes, by object number
//	then     the ring's data, and after it whatever is allocated: bodies of objects, storage of calls
const (
	arenaMagic   = 0x616e657261706174 // "taparena" in memory
	arenaVersion = 1

	trapTable   = 4 << 10
	objectTable = 64 << 10
	maxObjects  = 8192
	objectSize  = 128
	ringData    = objectTable + maxObjects*objectSize
)

// Words of the header, as word indexes. Words of the ring that different sides write are on separate cache lines.
const (
	wordMagic     = 0
	wordVersion   = 1
	wordSize      = 2
	wordObjects   = 3  // objects declared
	wordNext      = 4  // offset of the first byte that was never allocated
	wordRingBytes = 5  // size of the ring, a power of two
	wordRingHead  = 16 // total bytes reserved, by producers
	wordRingTail  = 24 // total bytes consumed, by the consumer
	wordRingSleep = 32 // 1: the consumer sleeps and must be woken
	wordLostRing  = 40 // records dropped because the ring was full
	wordLostLog   = 41 // items removed because they did not fit
	wordTraps     = 48 // counts by Trap, NumTraps words
	wordControl   = 80 // whether executors in other processes run programs: see Control
	wordSpread    = 88 // offset of the buckets of stats: see spread.go
	wordGroups    = 89 // groups of them that are in use
)

// Sizes in bytes: the defaults of an arena and a ring, and their minimums.
const (
	defaultArena   = 1 << 30
	defaultArena32 = 64 << 20 // on hosts with 32-bit addresses
	leastArena     = 16 << 20 // tried last if memory limits forbid more
	defaultRing    = 4 << 20
	minRing        = 64 << 10
)

// Arena is all memory that programs and the host share: objects, storage of calls, the ring, counters. The package
// comment describes who may call what.
type Arena struct {
	words []uint64 // the whole arena; every access that may race is atomic
	bytes []byte   // the same memory
	free  func() error
	fd    int // memfd, or -1

	ring record.Ring
	pool pool

	spread spread // guarded by mu until the first storage of stats is published
	shares shareBlocks

	next     atomic.Uint64 // the word of that name: other processes may write to the word itself
	mu       sync.Mutex    // guards declaring, allocating, and the replacement of the two lists
	objects  atomic.Pointer[[]*Instance]
	programs atomic.Pointer[[]record.Program]
}

// New reserves an arena. The memory is a memfd if the system supports it, so that other processes can map it too.
func New(o Options) (*Arena, error) {
	mem, fd, free, err := reserve(o.Size)
	if err != nil {
		return nil, fmt.Errorf("cannot reserve memory for the arena: %w", err)
	}
	// The mapping is page-aligned, lives until Close, and holds no Go pointers, so it may be accessed as words.
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/8)
	a, err := NewOn(words, o.Ring)
	if err != nil {
		free()
		return nil, err
	}
	a.free, a.fd, a.spread.size = free, fd, o.Spread
	return a, nil
}

// reserve maps size bytes. For size 0 it tries decreasing sizes, starting with the default, until the host's limits
// allow one.
func reserve(size int) (mem []byte, fd int, free func() error, err error) {
	if size != 0 {
		return mapShared(roundUp(size, pageSize))
	}
	size = defaultArena
	if unsafe.Sizeof(uintptr(0)) == 4 {
		size = defaultArena32
	}
	for ; size >= leastArena; size /= 4 {
		if mem, fd, free, err = mapShared(size); err == nil {
			break
		}
	}
	return mem, fd, free, err
}

// NewOn returns an arena on zeroed memory.
func NewOn(words []uint64, ring int) (*Arena, error) {
	if ring == 0 {
		ring = defaultRing
	}
	ring = powerOfTwo(max(ring, minRing))
	size := len(words) * 8
	if size < ringData+ring+pageSize {
		return nil, fmt.Errorf("cannot make an arena of %d bytes with a ring of %d: it needs at least %d", size, ring, ringData+ring+pageSize)
	}
	a := &Arena{words: words, fd: -1}
	a.bytes = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	a.words[wordMagic], a.words[wordVersion], a.words[wordSize] = arenaMagic, arenaVersion, uint64(size)
	a.words[wordRingBytes], a.words[wordNext] = uint64(ring), uint64(ringData+ring)
	a.next.Store(uint64(ringData + ring))
	a.ring = record.NewRing(a.bytes[ringData:ringData+ring], words[ringData/8:(ringData+ring)/8], record.RingWords{
		Head: &words[wordRingHead], Tail: &words[wordRingTail], Sleep: &words[wordRingSleep], Lost: &words[wordLostRing]})
	a.objects.Store(new([]*Instance))
	a.programs.Store(new([]record.Program))
	return a, nil
}

// Close frees the memory. Afterwards no program may run and no handle may be used.
func (a *Arena) Close() error {
	if a.free == nil {
		return nil
	}
	free := a.free
	a.free, a.words, a.bytes = nil, nil, nil
	return free()
}

// FD returns the memfd of the arena, or -1.
func (a *Arena) FD() int { return a.fd }

func (a *Arena) load(index uint64) uint64 { return atomic.LoadUint64(&a.words[index]) }

// allocateLocked allocates zeroed memory, aligned to a cache line. The caller holds a.mu.
func (a *Arena) allocateLocked(bytes uint64) (uint64, bool) {
	off := a.next.Load()
	bytes = (bytes + 63) &^ 63
	if bytes > uint64(len(a.bytes))-off {
		return 0, false
	}
	a.next.Store(off + bytes)
	atomic.StoreUint64(&a.words[wordNext], off+bytes)
	return off, true
}

// Register adds a program's formats and places to the arena and returns the ID for its Code. It is safe for concurrent
// use.
func (a *Arena) Register(info record.Program) uint32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	old := *a.programs.Load()
	list := append(old, info) // readers do not look beyond the length that they loaded
	a.programs.Store(&list)
	return uint32(len(old))
}

// Programs returns the registered programs by ID. It is safe for concurrent use.
func (a *Arena) Programs() []record.Program { return *a.programs.Load() }

// Program returns the program registered under an ID. It is safe for concurrent use.
func (a *Arena) Program(id uint32) (record.Program, bool) {
	list := a.Programs()
	if int(id) >= len(list) {
		return record.Program{}, false
	}
	return list[id], true
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// powerOfTwo returns the smallest power of two that is at least n.
func powerOfTwo(n int) int {
	p := 1
	for p < n {
		p <<= 1
	}
	return p
}
