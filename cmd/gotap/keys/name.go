package keys

import (
	"strings"
	"unicode/utf8"
)

// sequences are the names of keys for which terminals send more than a character (xterm's and the Linux console's).
var sequences = map[string]string{
	"\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left", "\x1bOA": "up", "\x1bOB": "down", "\x1bOC": "right", "\x1bOD": "left",
	"\x1b[H": "home", "\x1b[F": "end", "\x1bOH": "home", "\x1bOF": "end", "\x1b[1~": "home", "\x1b[4~": "end",
	"\x1b[2~": "insert", "\x1b[3~": "delete", "\x1b[5~": "pageup", "\x1b[6~": "pagedown", "\x1b[Z": "backtab",
	"\x1bOP": "f1", "\x1bOQ": "f2", "\x1bOR": "f3", "\x1bOS": "f4", "\x1b[15~": "f5", "\x1b[17~": "f6", "\x1b[18~": "f7", "\x1b[19~": "f8",
	"\x1b[20~": "f9", "\x1b[21~": "f10", "\x1b[23~": "f11", "\x1b[24~": "f12",
}

// singles are the names of control characters that have a key of their own.
var singles = map[byte]string{'\r': "enter", '\n': "enter", '\t': "tab", 0x7f: "backspace", '\b': "backspace", 0x1b: "escape"}

// Names splits what a terminal has sent into keys: a character stands for itself, others have names such as "up",
// "enter", "ctrl-a". Sequences that are not known are left out.
func Names(sent []byte) []string {
	var list []string
	for len(sent) > 0 {
		name, n := first(sent)
		if name != "" {
			list = append(list, name)
		}
		sent = sent[n:]
	}
	return list
}

// first returns the name of the first key, "" if it has none, and its length.
func first(sent []byte) (name string, n int) {
	c := sent[0]
	switch {
	case c == 0x1b && len(sent) > 1 && (sent[1] == '[' || sent[1] == 'O'):
		n = sequenceEnd(sent)
		return sequences[string(sent[:n])], n
	case singles[c] != "":
		return singles[c], 1
	case c == 0:
		return "ctrl-space", 1
	case c < ' ':
		return "ctrl-" + strings.ToLower(string(rune(c+'@'))), 1
	}
	r, n := utf8.DecodeRune(sent)
	if r == utf8.RuneError && n <= 1 {
		return "", 1
	}
	return string(r), n
}

// sequenceEnd returns the length of the sequence at the beginning: its final character is from @ to ~ (ECMA-48).
func sequenceEnd(sent []byte) int {
	for i := 2; i < len(sent); i++ {
		if sent[i] >= '@' && sent[i] <= '~' {
			return i + 1
		}
	}
	return len(sent)
}
