package record

import (
	"testing"

	"gotap/runtime/value"
)

func TestItems(t *testing.T) {
	log := &Format{Kind: ItemLog, Fields: []Field{
		{IsLiteral: true, Literal: "saw "}, {Kind: value.KindInt}, {Kind: value.KindText, Part: 1}, {IsLiteral: true, Literal: "!", Part: 1}, {Kind: value.KindBool, Part: 2}}}
	it := Item{Format: log, Values: []value.Value{value.Int(3), {Kind: value.KindText, Text: "tex", Cut: true}, {Kind: value.KindBool, Int: 1}}}
	if got := it.String(); got != "saw 3 tex..! true\n" {
		t.Errorf("%q", got)
	}
	it = Item{Format: &Format{Kind: ItemPrintf, Text: "%s=%d\n", Fields: []Field{{IsLiteral: true, Literal: "n"}, {Kind: value.KindInt}}}, Values: []value.Value{value.Int(-1)}}
	if got := it.String(); got != "n=-1\n" {
		t.Errorf("%q", got)
	}
}
