package jsvm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"
)

// Limits of intervals.
const (
	MinInterval = 100 * time.Microsecond
	maxInterval = 365 * 24 * time.Hour
)

// Interval reads "20ms", "1s", "100us", "5m", "1h", or a number of milliseconds.
func Interval(v goja.Value) (time.Duration, error) {
	var d time.Duration
	switch n := v.Export().(type) {
	case int64:
		d = time.Duration(min(max(n, -1), int64(maxInterval/time.Millisecond)+1)) * time.Millisecond
	case float64:
		d = time.Duration(min(max(n, -1), 1e12) * float64(time.Millisecond))
	case string:
		var err error
		if d, err = time.ParseDuration(strings.ReplaceAll(strings.TrimSpace(n), " ", "")); err != nil {
			return 0, fmt.Errorf("%s is not an interval", strconv.Quote(n))
		}
	default:
		return 0, fmt.Errorf("%s is not an interval", Describe(v))
	}
	switch {
	case d <= 0:
		return 0, errors.New("an interval must be greater than 0")
	case d < MinInterval:
		return 0, fmt.Errorf("an interval of %v is too short: the minimum is %v", d, MinInterval)
	case d > maxInterval:
		return 0, fmt.Errorf("an interval of %v is too long", d)
	}
	return d, nil
}
