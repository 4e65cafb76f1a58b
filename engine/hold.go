package engine

import "time"

// Hold stops all threads that are traced and lets them go again, as placing a watchpoint does. It returns how long that took, from the
// first request to stop to the last thread's being resumed.
func (s *Session) Hold() (time.Duration, error) {
	var took time.Duration
	err := s.do(func() error {
		began := time.Now()
		s.releaseWorld(s.holdAll())
		took = time.Since(began)
		return nil
	})
	return took, err
}
