package option_test

import (
	"strings"
	"testing"

	"gotap/script"
	"gotap/script/scripttest"
)

// A given value has the type of the default.
func TestConversion(t *testing.T) {
	args := map[string]string{"n": "0x10", "f": "2", "b": "off", "s": "5", "big": "18446744073709551615"}
	r := scripttest.New(t, `console.log([option("n", 1), option("f", 1.0), option("b", true), option("s", "x"), option("big", 1), option("d", 7)]
  .map(v => typeof v + " " + v).join());`, func(o *script.Options) { o.Args = args })
	scripttest.WantLines(t, r.Once(func() {}), "number 16,number 2,boolean false,string 5,bigint 18446744073709551615,number 7")
	var names []string
	for _, o := range r.Script.Options() {
		names = append(names, o.Name+" "+o.Type)
	}
	if got := strings.Join(names, ","); got != "n integer,f number,b boolean,s text,big integer,d integer" {
		t.Error(got)
	}
}
