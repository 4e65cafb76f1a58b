package engine

import (
	"gotap/engine/backend"
	"gotap/engine/image/symbols"
	"gotap/engine/registry"
	"gotap/engine/registry/hit"
)

// How a session works, and what it reports: see package backend.
type (
	Config       = backend.Config
	Follow       = backend.Follow
	Engine       = backend.Strategy
	Command      = backend.Command
	Event        = backend.Event
	EventKind    = backend.EventKind
	Stats        = backend.Stats
	Overload     = backend.Overload
	OverloadStep = backend.OverloadStep
)

// What a session follows.
const (
	FollowNone     = backend.FollowNone
	FollowThreads  = backend.FollowThreads
	FollowChildren = backend.FollowChildren
)

// The strategies for instructions under breakpoints.
const (
	Auto    = backend.Auto
	Emulate = backend.Emulate
	Step    = backend.Step
)

// The lifecycle events, as on(…) names them.
const (
	EventExec   = backend.EventExec
	EventExit   = backend.EventExit
	EventFork   = backend.EventFork
	EventThread = backend.EventThread
	EventSignal = backend.EventSignal
	EventModule = backend.EventModule
	EventDone   = backend.EventDone
)

// The steps to stay within a budget, in the order in which they are taken.
const (
	OverloadSlow     = backend.OverloadSlow
	OverloadSampling = backend.OverloadSampling
	OverloadDisabled = backend.OverloadDisabled
	OverloadDetached = backend.OverloadDetached
)

// Errors that callers look for.
var (
	ErrInterrupted = backend.ErrInterrupted
	ErrSettled     = backend.ErrSettled
	ErrNoProbe     = registry.ErrNoProbe
)

// Probes as they are given to sessions, and what sessions report about them: see package registry.
type (
	Change      = hit.Change
	Handlers    = registry.Handlers
	Compile     = registry.Compile
	PlaceInfo   = registry.PlaceInfo
	CodePlace   = registry.CodePlace
	CopiedPlace = registry.CopiedPlace
	Copies      = registry.Copies
	ProbeSpec   = registry.Spec
	ProbeState  = registry.State
)

// Symbol is an address with its names.
type Symbol = symbols.Symbol
