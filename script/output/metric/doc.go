// Package metric turns aggregations and maps into metrics as monitoring systems have them: families of points with
// labels.
//
// A count is a counter; sums, minimums, maximums, averages and the values of maps are gauges, because they may fall;
// stats are summaries; histograms are histograms, with the bounds that gotap has. Of a time series the value is that of
// its latest interval. Values that are not numbers, and keys beyond Limits, are left out and counted in Set.Left.
//
// A Set is data: it may be read by several goroutines.
package metric
