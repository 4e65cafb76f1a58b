package engine

import "time"

// Hold stops all traced threads and resumes them, as placing a watchpoint does. It returns the time from the first
// stop request until the last thread has been resumed.
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
