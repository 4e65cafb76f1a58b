package journal

import (
	"errors"
	"testing"
)

// notes is a journal that keeps answers.
type notes struct {
	Journal
	answers map[string]string
}

func (n notes) Answer(question string, answer []byte, _ bool) { n.answers[question] = string(answer) }

// tape replays answers.
type tape struct {
	Replay
	answers map[string]string
}

func (p tape) Answer(question string) ([]byte, bool) {
	raw, ok := p.answers[question]
	return []byte(raw), ok
}

// A recorded answer is given again without a look at the world; a question that was not recorded gives the zero value.
func TestAsk(t *testing.T) {
	asked := 0
	world := func() int { asked++; return 42 }
	question := func() string { return "q" }
	answers := map[string]string{}
	if n := Ask(&World{}, func() string { t.Error("the text is made without a journal"); return "" }, false, world); n != 42 {
		t.Errorf("the world says %d", n)
	}
	Ask(&World{Journal: notes{answers: answers}}, question, false, world)
	replay := &World{Replay: tape{answers: answers}}
	if n := Ask(replay, question, false, world); n != 42 || asked != 2 {
		t.Errorf("replayed %d; the world was asked %d times", n, asked)
	}
	if n := Ask(replay, func() string { return "other" }, false, world); n != 0 {
		t.Errorf("an unknown question gives %d", n)
	}
	var failed error
	replay.Fail = func(err error) { failed = err }
	answers["q"] = "{"
	if Ask(replay, question, false, world); failed == nil || errors.Unwrap(failed) == nil {
		t.Errorf("a broken answer gives %v", failed)
	}
}
