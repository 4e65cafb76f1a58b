package main

import (
	"fmt"
	"strings"

	"gotap"
	"gotap/cmd/gotap/demo"
	"gotap/cmd/gotap/status"
	"gotap/samples"
	"gotap/script"
)

// sampleWithWords finds a sample behind which there are words, which are the value of its first option, and gives the
// sample the function of the demonstration where it would take all of a program's. The script has no name when the
// arguments are something else.
func (o *runOptions) sampleWithWords(w *World, own, command []string, eval bool) (gotap.Script, error) {
	if len(own) == 0 || eval || isFile(own[0]) {
		return gotap.Script{}, nil
	}
	s, ok := samples.Find(own[0])
	if !ok {
		return gotap.Script{}, nil
	}
	text, words := gotap.Script{Name: s.File, Text: s.Text}, own[1:]
	if len(words) == 0 && o.targeted(command) {
		o.ofGo(w, s, command)
		return text, nil
	}
	first := firstOption(w, s.Name)
	var err error
	given := o.given(first.Name)
	switch {
	case len(words) == 0 && s.Demo != "" && !given:
		o.args = append(strings.Fields(s.Demo), o.args...)
		return text, nil
	case len(words) == 0 && first.Name == "f" && first.Default == "" && !given && s.Name != "ltrace":
		o.args = append(o.args, "f="+demo.Function)
		return text, nil
	case len(words) == 0:
		return text, nil
	case first.Name == "":
		err = fmt.Errorf("%s has no options, so %q means nothing to it", s.Name, words[0])
	case given:
		err = fmt.Errorf("%s: its option %s is given twice, as --arg and as %q", s.Name, first.Name, words[0])
	case first.Type != "text" && len(words) > 1:
		err = fmt.Errorf("%s: its first option, %s, takes one word, so %q is one too many", s.Name, first.Name, words[1])
	case !o.targeted(command):
		err = programForPattern("run "+s.Name, words)
	}
	if err != nil {
		if status.HintOf(err) == "" {
			err = status.Hinted(err, extraHint(words[0]))
		}
		return gotap.Script{}, status.With(status.Usage, err)
	}
	o.args = append(o.args, first.Name+"="+strings.Join(words, ","))
	o.generated = true
	o.ofGo(w, s, command)
	return text, nil
}

// firstOption returns the first option that a sample declares; its name is "" when there is none.
func firstOption(w *World, sample string) script.Option {
	all := scriptOptions(w, []string{sample}, "", false)
	if len(all) == 0 {
		return script.Option{}
	}
	return all[0]
}
