// Package object has the declarations of what programs and host share: variables, maps, aggregations, trails,
// recorders.
//
// A script or a definition file leads to an Object: its Kind, number of keys, limits, and what happens when it is full.
// The arena checks it (Object.Check), allocates its cells, and completes it when the first use of the object determines
// the kinds of its keys and values. A histogram's buckets (Powers, Linear) and a time series' intervals
// (Object.Interval) are computed from the declaration alone, in the program that adds and in the host that prints.
//
// Objects are plain data. Who shares one does not change it: the arena replaces a declaration as a whole.
package object
