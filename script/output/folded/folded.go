// Package folded writes the stacks of a run as folded lines, which flamegraph.pl, speedscope and inferno read: the
// frames, outermost first and separated by semicolons, a blank, the value.
//
// Kinds of stacks that count different things are not added up. When there are several, each line begins with a frame
// that is the name of its kind.
package folded

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"gotap/script/output/picture"
)

// Write writes the stacks of a picture. It fails when there are none, or when w does.
func Write(w io.Writer, p *picture.Picture) error {
	all := p.Stacks()
	if len(all) == 0 {
		return picture.ErrNoStacks
	}
	b := bufio.NewWriter(w)
	for _, s := range all {
		for _, stack := range s.List {
			frames := stack.Frames
			if len(all) > 1 {
				frames = append([]string{s.Name}, frames...)
			}
			for i, frame := range frames {
				if i > 0 {
					b.WriteByte(';')
				}
				b.WriteString(strings.ReplaceAll(frame, ";", ":"))
			}
			fmt.Fprintf(b, " %d\n", stack.Value)
		}
	}
	return b.Flush()
}
