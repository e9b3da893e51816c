package dialect

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/tenterhook/tenterhook/hook"
)

func TestLongTextsGoIntoAFileAndLeaveAPreview(t *testing.T) {
	long := strings.Repeat("é", 10_001)
	for _, tc := range []struct {
		name   string
		event  hook.Event
		stdout string
		field  string
		get    func(*hook.Output) string
	}{
		{"additionalContext", hook.EventSessionStart, specific(hook.EventSessionStart, `"additionalContext":"`+long+`"`),
			"additionalContext", func(o *hook.Output) string { return o.Context }},
		{"initialUserMessage", hook.EventSessionStart, specific(hook.EventSessionStart, `"initialUserMessage":"`+long+`"`),
			"initialUserMessage", func(o *hook.Output) string { return o.InitialUserMessage }},
		{"systemMessage", hook.EventPreToolUse, `{"systemMessage":"` + long + `"}`,
			"systemMessage", func(o *hook.Output) string { return o.SystemMessage }},
		{"plain context", hook.EventSessionStart, long, "stdout", func(o *hook.Output) string { return o.Context }},
		{"plain result", hook.EventStatusLine, long, "stdout", func(o *hook.Output) string { return o.Text }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var spilled []string
			rd := Reader{Spill: func(name, text string) (string, error) {
				spilled = append(spilled, name, text)
				return "/spill/file", nil
			}}
			c := newCall(t, tc.event)
			out, err := rd.Read(c, Reply{Stdout: []byte(tc.stdout)})
			if err != nil {
				t.Fatal(err)
			}
			got := tc.get(out)
			preview, note, _ := strings.Cut(got, "\n")
			if preview != strings.Repeat("é", 2_000)+"…" || note != "[10001 characters; all of it is in /spill/file]" {
				t.Errorf("preview of %d characters, note %q", utf8.RuneCountInString(preview), note)
			}
			if diff := cmp.Diff([]string{tc.field, long}, spilled); diff != "" {
				t.Errorf("spilled (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"too_long"}, codesOf(c)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTextsUpToTheLimitStayWhole(t *testing.T) {
	whole := strings.Repeat("é", 10_000)
	rd := Reader{Spill: func(string, string) (string, error) { t.Error("spilled"); return "", nil }}
	out, err := rd.Read(newCall(t, hook.EventUserPromptSubmit), Reply{Stdout: []byte(whole)})
	if err != nil || out.Context != whole {
		t.Errorf("%d bytes of context, %v", len(out.Context), err)
	}
}

func TestLongTextsAreCutWhereTheyCannotBeKept(t *testing.T) {
	for name, rd := range map[string]Reader{
		"no spill":    {},
		"a full disk": {Spill: func(string, string) (string, error) { return "", errors.New("disk full") }},
	} {
		c := newCall(t, hook.EventUserPromptSubmit)
		out, err := rd.Read(c, Reply{Stdout: []byte(strings.Repeat("x", 20_000))})
		if want := strings.Repeat("x", 2_000) + "…\n[20000 characters; the rest was dropped]"; err != nil || out.Context != want {
			t.Errorf("%s: %q, %v", name, out.Context, err)
		}
		if rd.Spill != nil && !cmp.Equal(codesOf(c), []string{"spill_failed", "too_long"}) {
			t.Errorf("%s: warnings %v", name, c.Report.Warnings)
		}
	}
}

func TestReasonsAreLimitedToo(t *testing.T) {
	long := strings.Repeat("é", 20_000)
	for _, r := range []Reply{
		{Stderr: []byte(long), ExitCode: 2},
		{Stdout: []byte(`{"decision":"block","reason":"` + long + `"}`)},
	} {
		out, err := Read(newCall(t, hook.EventPreToolUse), r)
		if err != nil || out.Reason != strings.Repeat("é", 10_000)+"…" {
			t.Errorf("a reason of %d bytes, %v", len(out.Reason), err)
		}
	}
}
