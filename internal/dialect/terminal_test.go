package dialect

import (
	"encoding/json"
	"testing"

	"github.com/tenterhook/tenterhook/hook"
)

func TestTerminalSequenceCanOnlyNotifyOrNameTheWindow(t *testing.T) {
	for s, harmless := range map[string]bool{
		"":                                      true,
		"\a":                                    true,
		"\a\a":                                  true,
		"\x1b]0;title\a":                        true,
		"\x1b]1;icon\x1b\\":                     true,
		"\x1b]2;t\a\x1b]9;done\a\a":             true,
		"\x1b]99;i=1:d=0;hello\x1b\\":           true,
		"\x1b]777;notify;title;häuser\a":        true,
		"\x1b]0;\a":                             true,
		"x":                                     false,
		"\x1b]0;title\ax":                       false,
		" \x1b]0;title\a":                       false,
		"\x1b]52;c;ZXZpbA==\a":                  false, // clipboard
		"\x1b]8;;http://x\a":                    false, // link
		"\x1b]4;1;red\a":                        false,
		"\x1b]00;t\a":                           false,
		"\x1b]0\a":                              false,
		"\x1b]0;never ends":                     false,
		"\x1b]0;t\x1b":                          false,
		"\x1b]0;t\x1b]52;c;x\a":                 false,
		"\x1b]0;t\x1b[2J\a":                     false,
		"\x1b]0;a\rb\a":                         false,
		"\x1b]0;a\u009cb\a":                     false,
		"\x1b[2J":                               false,
		"\x1bc":                                 false,
		"\x9d0;t\a":                             false,
		"\u009d0;t\a":                           false,
		"\x1bP+q\x1b\\":                         false,
		"\x1b]9;x\a" + "\x1b]1337;File=:eA==\a": false,
	} {
		raw, err := json.Marshal(map[string]any{"terminalSequence": s, "systemMessage": "M"})
		if err != nil {
			t.Fatal(err)
		}
		c := newCall(t, hook.EventPreToolUse)
		out, err := Read(c, Reply{Stdout: raw})
		if err != nil || out.SystemMessage != "M" {
			t.Fatalf("%q: %+v, %v", s, out, err)
		}
		want := s
		if !harmless {
			want = ""
		}
		if out.TerminalSequence != want {
			t.Errorf("%q became %q", s, out.TerminalSequence)
		}
		if said := len(c.Report.Warnings) == 1 && c.Report.Warnings[0].Code == "terminal_sequence"; said == harmless {
			t.Errorf("%q: warnings %v", s, c.Report.Warnings)
		}
	}
}
