package datafile

import (
	"strconv"
	"strings"
	"time"
)

// stamps are the conversions of strftime that names of files have use for, as layouts of package time.
var stamps = map[byte]string{'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'j': "002", 'F': "2006-01-02", 'T': "15:04:05", 'Z': "MST"}

// Stamped returns a name with the time in it: tr-%F-%H%M%S; %s is seconds since 1970, and %% a percent sign. Other
// percent signs stay what they are.
func Stamped(name string, now time.Time) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' || i+1 == len(name) {
			b.WriteByte(name[i])
			continue
		}
		switch layout, known := stamps[name[i+1]]; {
		case known:
			b.WriteString(now.Format(layout))
		case name[i+1] == 's':
			b.WriteString(strconv.FormatInt(now.Unix(), 10))
		case name[i+1] == '%':
			b.WriteByte('%')
		default:
			b.WriteByte('%')
			continue
		}
		i++
	}
	return b.String()
}
