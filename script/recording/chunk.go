package recording

import (
	"encoding/binary"
	"hash/crc32"

	"gotap/runtime/object"
	rtsnapshot "gotap/runtime/snapshot"
)

// Version is the version of the format that is written, and the only one that is read.
const Version = 1

const (
	magic    = "gotap recording "
	maxChunk = 16 << 20
	// MaxSize is the most bytes of a file: a recording is played from memory.
	MaxSize = 256 << 20
)

// The kinds of chunks.
const (
	chunkHead   = 'H' // head: first of all
	chunkFormat = 'F' // record.Format; they are numbered from 0
	chunkProbe  = 'P' // probeName; they are numbered from 0
	chunkRecord = 'R' // see codec.go
	chunkEvent  = 'L' // event
	chunkTimer  = 'T' // number of the timer
	chunkDump   = 'D' // dump: followed by as many chunkDumped
	chunkDumped = 'd' // a record of a dump
	chunkValues = 'V' // []snapshot
	chunkAnswer = 'A' // answer
	chunkFinish = 'X' // the end callbacks are next
	chunkEnd    = 'E' // number of chunks before it
)

// head describes the run that a recording was made of.
type head struct {
	Script string            // as the user named it
	Args   map[string]string // --arg
}

type probeName struct {
	Name string
	Nth  int // among those of that name
}

// event is a script.Event, with the type of each number.
type event struct {
	Kind    string
	Ints    map[string]int64    `json:",omitempty"`
	Uints   map[string]uint64   `json:",omitempty"`
	Texts   map[string][]byte   `json:",omitempty"`
	Stacks  map[string][]uint64 `json:",omitempty"`
	Truths  map[string]bool     `json:",omitempty"`
	Unknown []string            `json:",omitempty"`
}

type dump struct {
	Recorder    string
	Records     int
	Overwritten uint64
}

type answer struct {
	Question string
	Answer   []byte
}

// snapshot is a snapshot.Snapshot whose texts may hold any byte.
type snapshot struct {
	Object  object.Object
	Entries []entry
}

type entry struct {
	Key  []byte // values, as in records
	Data rtsnapshot.Data
	Text []byte // Data.Text
}

// appendChunk frames a payload.
func appendChunk(b []byte, kind byte, payload []byte) []byte {
	start := len(b)
	b = append(b, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	b = append(b, payload...)
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
}

// overhead is the size of a chunk without its payload.
const overhead = 1 + 4 + 4
