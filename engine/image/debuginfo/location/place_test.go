package location

import (
	"errors"
	"reflect"
	"testing"

	"gotap/compile"
)

func TestPlacesAreValues(t *testing.T) {
	p := InRegister("rdi").Add(8).Load(8, false, false).Add(4)
	q, r := p.Add(4), p.Load(4, true, false)
	if a, b := q.Access(), r.Access(); a.Steps[1].Offset != 8 || len(a.Steps) != 2 || b.Steps[1].Offset != 4 || len(b.Steps) != 3 {
		t.Errorf("the copies are %+v and %+v", a, b)
	}
	if a := p.Access(); a.Base != compile.BaseRegOffset || a.Value != 8 || len(a.Steps) != 2 || a.Steps[1].Offset != 4 {
		t.Errorf("the original is %+v", a)
	}
}

func TestScalar(t *testing.T) {
	pair := Join([]Piece{{Size: 8, Place: InRegister("rax")}, {Size: 8, Absent: true}})
	half := Join([]Piece{{Size: 4, Place: InRegister("eax")}, {Size: 4, Place: InRegister("edx")}})
	for name, c := range map[string]struct {
		place Place
		off   int64
		size  int64
		want  compile.Access
		err   error
	}{
		"memory": {AtFrame(16), 4, 4, compile.Access{Base: compile.BaseFrame, Value: 20, Steps: []compile.AccessStep{
			{Op: compile.OpLoad, Size: 4, Signed: true}}}, nil},
		"upper half": {InRegister("rax"), 4, 4, compile.Access{Base: compile.BaseReg, Reg: "rax", Steps: []compile.AccessStep{
			{Op: compile.OpBits, Offset: 32, Size: 32, Signed: true}}}, nil},
		"constant": {Constant(0x1ff), 0, 1, compile.Access{Base: compile.BaseConst, Value: -1}, nil},
		"piece":    {pair, 0, 8, compile.Access{Base: compile.BaseReg, Reg: "rax"}, nil},
		"absent":   {pair, 8, 8, compile.Access{}, ErrAbsent},
		"joined": {half, 0, 8, compile.Access{Base: compile.BaseReg, Reg: "eax", Steps: []compile.AccessStep{
			{Op: compile.OpTruncate, Size: 4}, {Op: compile.OpJoin, Reg: "edx", Offset: 32}}}, nil},
	} {
		p, err := c.place.Part(c.off, c.size)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := p.Scalar(c.size, true, false)
		if !errors.Is(err, c.err) || err == nil && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: the access is %+v, %v; want %+v, %v", name, got, err, c.want, c.err)
		}
	}
}

func TestBitFields(t *testing.T) {
	a, err := AtFrame(0).BitField(37, 3, 4, true) // in the second word
	want := []compile.AccessStep{{Op: compile.OpLoad, Size: 4}, {Op: compile.OpBits, Offset: 5, Size: 3, Signed: true}}
	if err != nil || a.Value != 4 || !reflect.DeepEqual(a.Steps, want) {
		t.Errorf("the access is %+v, %v", a, err)
	}
	for _, bits := range []int64{0, 65} {
		if a, err := AtFrame(0).BitField(0, bits, 8, false); err == nil {
			t.Errorf("a bit-field of %d bits is at %+v", bits, a)
		}
	}
}

func TestExtend(t *testing.T) {
	for _, c := range []struct {
		v, bits int64
		signed  bool
		want    int64
	}{{0xff, 8, true, -1}, {0xff, 8, false, 255}, {-1, 32, false, 1<<32 - 1}, {-5, 64, false, -5}} {
		if got := Extend(c.v, c.bits, c.signed); got != c.want {
			t.Errorf("%d bits of %#x are %d, want %d", c.bits, c.v, got, c.want)
		}
	}
}
