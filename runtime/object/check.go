package object

import (
	"errors"
	"fmt"
	"time"

	"gotap/runtime/key"
	"gotap/runtime/record"
)

// Check returns an error if a declaration is invalid.
func (o *Object) Check() error {
	switch {
	case o.Kind > KindSeries:
		return errors.New("unknown kind of object")
	case o.Max < 0 || o.Max > MaxKeys:
		return fmt.Errorf("max is %d: it can be 1 to %d", o.Max, MaxKeys)
	case o.Keys > key.MaxParts:
		return fmt.Errorf("keys is %d: a key has at most %d parts", o.Keys, key.MaxParts)
	case o.Kind == KindMap && o.Keys == 0:
		return errors.New("a map has a key: keys is 0")
	case o.Kind == KindArray && (o.Size < 0 || o.Size > 1<<20):
		return fmt.Errorf("%d variables: there can be 0 to %d", o.Size, 1<<20)
	case o.Kind == KindTrail || o.Kind == KindRecorder:
		return o.checkDeferred()
	case o.Kind == KindLhist:
		return o.Linear().check()
	case o.Kind == KindHist:
		return o.Powers().check()
	case o.Kind == KindSeries:
		return o.checkSeries()
	}
	return nil
}

// checkDeferred returns an error if the declaration of a trail or a recorder is invalid.
func (o *Object) checkDeferred() error {
	least, most := record.HeaderSize+record.ItemHeader, MaxTrail
	if o.Kind == KindRecorder {
		most = record.MaxLog + record.HeaderSize
	}
	switch {
	case o.Max == 0:
		return errors.New("max is 0: it must be at least 1")
	case o.Kind == KindTrail && o.Max > MaxThreads:
		return fmt.Errorf("%d threads: there can be %d", o.Max, MaxThreads)
	case o.Size < least || o.Size > most || o.Size%8 != 0:
		return fmt.Errorf("%d bytes: there can be %d to %d, in multiples of 8", o.Size, least, most)
	}
	return nil
}

// checkSeries returns an error if the declaration of a series is invalid.
func (o *Object) checkSeries() error {
	switch {
	case o.Step < minInterval:
		return fmt.Errorf("the interval is %v: it must be at least %v", time.Duration(o.Step), time.Duration(minInterval))
	case o.Size < 1 || o.Size > MaxIntervals:
		return fmt.Errorf("%d intervals: there can be 1 to %d", o.Size, MaxIntervals)
	case o.Keys == 0:
		return errors.New("the number of the interval is part of its key: keys is 0")
	case int64(o.Max)*int64(o.Size) > MaxKeys:
		return fmt.Errorf("%d intervals of %d keys: there can be %d in all", o.Size, o.Max, MaxKeys)
	case o.Full != FullEvict:
		return errors.New("intervals that have passed must make room: full is not FullEvict")
	}
	switch o.Of {
	case KindSum, KindMin, KindMax, KindAvg:
		return nil
	}
	return fmt.Errorf("an interval cannot hold a %v", o.Of)
}
