package engine

import (
	"gotap/engine/backend"
	"gotap/engine/image/symbols"
	"gotap/engine/registry"
	"gotap/engine/registry/hit"
)

// The types that configure a session and describe what it reports: see package backend.
type (
	Config       = backend.Config
	Follow       = backend.Follow
	Engine       = backend.Strategy
	Affinity     = backend.Affinity
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
	Inline  = backend.Inline
	Mixed   = backend.Mixed
)

// Whether a session may share a CPU with its target.
const (
	AffinityAuto = backend.AffinityAuto
	AffinityOff  = backend.AffinityOff
)

// The lifecycle events, as named in on(…).
const (
	EventExec      = backend.EventExec
	EventExit      = backend.EventExit
	EventFork      = backend.EventFork
	EventThread    = backend.EventThread
	EventThreadEnd = backend.EventThreadEnd
	EventSignal    = backend.EventSignal
	EventModule    = backend.EventModule
	EventDone      = backend.EventDone
)

// The steps taken to stay within a budget, in order.
const (
	OverloadSlow     = backend.OverloadSlow
	OverloadSampling = backend.OverloadSampling
	OverloadDisabled = backend.OverloadDisabled
	OverloadDetached = backend.OverloadDetached
)

// Errors that callers check for.
var (
	ErrInterrupted = backend.ErrInterrupted
	ErrSettled     = backend.ErrSettled
	ErrNoProbe     = registry.ErrNoProbe
)

// The types in which probes are given to sessions, and in which sessions report about them: see package registry.
type (
	Change       = hit.Change
	Handlers     = registry.Handlers
	Compile      = registry.Compile
	PlaceInfo    = registry.PlaceInfo
	CodePlace    = registry.CodePlace
	CopiedPlace  = registry.CopiedPlace
	InlinedPlace = registry.InlinedPlace
	Copies       = registry.Copies
	ProbeSpec    = registry.Spec
	ProbeState   = registry.State
	Site         = registry.Site
)

// Symbol is an address with its names.
type Symbol = symbols.Symbol
