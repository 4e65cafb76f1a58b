package view

import (
	"gotap/engine/abi"
	"gotap/engine/history"
	"gotap/engine/image/module"
	"gotap/engine/view/stopped"
)

// Images is what is known of the code that targets map: unwinding tables, the kernel's vDSOs.
type Images struct {
	*stopped.Unwinding
	names  *history.History
	vdsos  map[*abi.ABI]*module.File
	python pythonFrames
}

// NewImages returns an empty collection.
func NewImages(names *history.History) *Images {
	return &Images{Unwinding: stopped.NewUnwinding(names), names: names, vdsos: map[*abi.ABI]*module.File{}}
}
