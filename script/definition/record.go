package definition

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"gotap/runtime/facility"
	"gotap/runtime/outcome"
	"gotap/runtime/record"
	"gotap/runtime/value"
	"gotap/script/output"
)

// A record of a definition file's probe prints as one line, with further ones for ranges of memory:
//
//	dprobes(MAJOR,MINOR) group=N type=N pid=PID tid=TID comm=NAME: "text" 0x2a lv[0]=0x3 16 bytes
//	  00000000  6d 61 6c 6c 6f 63 00 00  00 00 00 00 00 00 00 00  |malloc..........|
//
// In their order: strings (log str) quoted, words (log N) in hexadecimal, variables (log lv, log gv) with their names,
// ranges (log mrf) by their length. "fault" before the colon says that the probed instruction faulted, "exit=N" that
// the program ended with exit N; group and type are left out when both are 0. In JSON it is an event with the fields
// major, minor and log, a list of what is on the line: ranges are hexadecimal digits there.

// A Record is what a program has logged, with its codes, which the program may have changed.
type Record struct {
	*record.Record
	probe        *Probe
	major, minor uint64
	items        []record.Item
}

// NewRecord separates the codes from what a probe has logged.
func NewRecord(rec *record.Record, p *Probe) *Record {
	r := &Record{Record: rec, probe: p, major: uint64(p.Major), minor: uint64(p.Minor)}
	for _, item := range rec.Items {
		switch {
		case item.Format.Kind == record.ItemWords && item.Format.Text == "major" && len(item.Values) == 1:
			r.major = uint64(item.Values[0].Int)
		case item.Format.Kind == record.ItemWords && item.Format.Text == "minor" && len(item.Values) == 1:
			r.minor = uint64(item.Values[0].Int)
		default:
			r.items = append(r.items, item)
		}
	}
	return r
}

// comm returns the thread's name.
func (r *Record) comm() string {
	name, _, _ := bytes.Cut(r.Comm[:], []byte{0})
	return strings.ToValidUTF8(string(name), "\ufffd")
}

// Text returns the record for people: lines that end with a newline.
func (r *Record) Text() string {
	var line, dump strings.Builder
	comm := r.comm()
	if quoted := strconv.Quote(comm); quoted != `"`+comm+`"` || strings.Contains(comm, " ") {
		comm = quoted
	}
	fmt.Fprintf(&line, "dprobes(%d,%d)", r.major, r.minor)
	if r.selected() {
		fmt.Fprintf(&line, " group=%d type=%d", r.probe.Group, r.probe.Type)
	}
	fmt.Fprintf(&line, " pid=%d tid=%d comm=%s", r.Pid, r.Tid, comm)
	if r.Kind == outcome.ExitFacility {
		fmt.Fprintf(&line, " exit=%d", r.Exit)
	}
	if r.Flags&record.FlagFault != 0 {
		line.WriteString(" fault")
	}
	line.WriteByte(':')
	for i := range r.items {
		for _, part := range itemParts(&r.items[i]) {
			line.WriteString(" " + part)
		}
		dump.WriteString(itemDump(&r.items[i]))
	}
	return line.String() + "\n" + dump.String()
}

// itemParts returns the words that an item adds to the line.
func itemParts(item *record.Item) (parts []string) {
	for i, v := range item.Values {
		switch {
		case item.Format.Kind == record.ItemRange:
			parts = append(parts, fmt.Sprintf("%d bytes", len(v.Text)))
		case item.Format.Kind == record.ItemTrace:
			parts = append(parts, "trace")
		case v.Kind == value.KindText:
			parts = append(parts, strconv.Quote(v.Text)+cutmarkOf(v))
		default:
			parts = append(parts, fieldName(item, i)+hexWord(v))
		}
	}
	return parts
}

// itemDump returns the lines that show a range.
func itemDump(item *record.Item) string {
	var b strings.Builder
	for _, v := range item.Values {
		switch item.Format.Kind {
		case record.ItemTrace:
			for row := range strings.Lines(v.Text + cutmarkOf(v)) {
				b.WriteString("  " + row)
			}
			continue
		case record.ItemRange:
		default:
			return ""
		}
		for row := range strings.Lines(hex.Dump([]byte(v.Text))) {
			b.WriteString("  " + row)
		}
	}
	return b.String()
}

func cutmarkOf(v value.Value) string {
	if v.Cut {
		return value.Cutmark
	}
	return ""
}

func hexWord(v value.Value) string { return "0x" + strconv.FormatUint(uint64(v.Int), 16) }

// fieldName is "lv[3]=" for a variable.
func fieldName(item *record.Item, i int) string {
	if i < len(item.Format.Fields) && item.Format.Fields[i].Name != "" {
		return item.Format.Fields[i].Name + "="
	}
	return ""
}

// Event returns the record for programs.
func (r *Record) Event() output.Event {
	log := []string{}
	for i := range r.items {
		for j, v := range r.items[i].Values {
			switch v.Kind {
			case value.KindText:
				log = append(log, strings.ToValidUTF8(v.Text, "\ufffd")+cutmarkOf(v))
			case value.KindBytes:
				log = append(log, hex.EncodeToString([]byte(v.Text)))
			default:
				log = append(log, fieldName(&r.items[i], j)+hexWord(v))
			}
		}
	}
	fields := []output.Field{{Name: "major", Value: r.major}, {Name: "minor", Value: r.minor}, {Name: "log", Value: log}}
	if r.selected() {
		fields = append(fields, output.Field{Name: "group", Value: r.probe.Group}, output.Field{Name: "type", Value: r.probe.Type})
	}
	if r.Kind == outcome.ExitFacility {
		fields = append(fields, output.Field{Name: "facility", Value: r.Exit})
	}
	if r.Flags&record.FlagFault != 0 {
		fields = append(fields, output.Field{Name: "fault", Value: true})
	}
	return output.Event{Probe: r.probe.Name, Pid: r.Pid, Tid: r.Tid, Time: r.Time, Comm: r.comm(), Fields: fields,
		Text: r.Text(), Codes: &output.Codes{Major: r.major, Minor: r.minor, Group: r.probe.Group, Type: r.probe.Type}}
}

// selected reports whether the probe has selectors, which the record then shows.
func (r *Record) selected() bool { return r.probe.Group != 0 || r.probe.Type != 0 }

// Delivery returns the record for callbacks of facilities.
func (r *Record) Delivery() *facility.Delivery {
	return &facility.Delivery{Number: r.Exit, Probe: r.probe.Name, Major: r.major, Minor: r.minor, Group: r.probe.Group, Type: r.probe.Type,
		Record: r.Record, Items: r.items}
}
