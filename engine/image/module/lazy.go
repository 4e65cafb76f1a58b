package module

import "sync"

// lazy is a part of a file that is read when it is first wanted. It is safe for concurrent use.
type lazy[T any] struct {
	once  sync.Once
	value T
}

// get returns the value, which the first call reads.
func (l *lazy[T]) get(read func() T) T {
	l.once.Do(func() { l.value = read() })
	return l.value
}

// leave makes get return the zero value when nothing has been read yet.
func (l *lazy[T]) leave() { l.once.Do(func() {}) }
