package rsp

import (
	"bufio"
	"bytes"
	"testing"
)

// scan takes all packets out of a stream.
func scan(stream []byte) (all [][]byte, err error) {
	s := scanner{in: bufio.NewReader(bytes.NewReader(stream))}
	for {
		p, _, err := s.next()
		if err != nil {
			return all, err
		}
		all = append(all, p)
	}
}

func TestPackets(t *testing.T) {
	// Answers that QEMU and gdbserver have given.
	for stream, want := range map[string]string{
		"+$OK#9a":                     "OK",
		"$T05thread:5cfc;#07":         "T05thread:5cfc;",
		"++$0*}#d7":                   "",
		"%Stop:T05#99$OK#9a":          "OK",
		"$half$OK#9a":                 "OK",
		"$l/tmp/prog#d3":              "l/tmp/prog",
		"$0* #7a":                     "0000",
		"$m30*\"1#4d":                 "m30000001",
		"noise from a serial\n$OK#9a": "OK",
	} {
		all, _ := scan([]byte(stream))
		if want == "" {
			if len(all) != 1 || len(all[0]) != 1+'}'-29 {
				t.Errorf("%q: %q", stream, all)
			}
			continue
		}
		if len(all) == 0 || string(all[len(all)-1]) != want {
			t.Errorf("%q: got %q, not %q", stream, all, want)
		}
	}
}

func TestDamagedPackets(t *testing.T) {
	for _, stream := range []string{"$OK#9b", "$OK#zz", "$*}#a7", "$0*", "$0*\x1c#76", "$OK"} {
		if all, err := scan([]byte(stream)); err == nil || len(all) > 0 {
			t.Errorf("%q: %q, %v", stream, all, err)
		}
	}
}

// FuzzScanner: whatever comes, the reader neither fails otherwise than by an error nor takes more than a packet may
// have.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{"+$OK#9a", "$0*}#fc", "%x#78$a}\x03#00", "$m0*\"#00", "-", "$$$###"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		all, err := scan(stream)
		if err == nil {
			t.Fatal("the stream has no end")
		}
		for _, p := range all {
			if len(p) > maxPacket+126 {
				t.Fatalf("a packet of %d bytes", len(p))
			}
			parseStop(string(p))
			parseFeatures(string(p))
			unescape(p)
			unhex(p)
		}
	})
}

// FuzzEscape: what is escaped, packed, read and unescaped is what it was.
func FuzzEscape(f *testing.F) {
	f.Add([]byte("plain"))
	f.Add([]byte("#$}*\x03\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, _ := scan(encode(escape(data)))
		if len(all) != 1 || !bytes.Equal(unescape(all[0]), data) {
			t.Fatalf("%q came back as %q", data, all)
		}
	})
}
