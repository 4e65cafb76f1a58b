// Package top shows a run on a terminal while it goes on: its tables, aggregations and histograms, redrawn every
// second.
//
// A model is drawn by bubbletea on goroutines of its own, which call the model one after the other. What is shown is
// made of a picture of the run by sections.go: lists of rows with cells. Texts of the target are escaped.
package top
