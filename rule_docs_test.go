package tenterhook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tenterhook/tenterhook"
	"github.com/tenterhook/tenterhook/hook"
)

// The rule is the one of docs/kinds/rule.md, as a reader copies it. The zone of the
// caller makes the hour.
func TestNoPushFromMainOutsideWorkingHours(t *testing.T) {
	doc, err := os.ReadFile("docs/kinds/rule.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)outside of working hours:\n\n(    \+\+\+\n.*?    \+\+\+\n)`).FindSubmatch(doc)
	if found == nil {
		t.Fatal("docs/kinds/rule.md has no such rule")
	}
	dir, work := t.TempDir(), t.TempDir()
	put(t, filepath.Join(dir, "no-push", "HOOK.md"), strings.ReplaceAll("\n"+string(found[1]), "\n    ", "\n")[1:])
	zone := func(hour int) string { // in which it is that hour now
		offset := (hour - time.Now().UTC().Hour() + 36) % 24
		return fmt.Sprintf("TZ=Etc/GMT%+d", 12-offset)
	}
	weekend := func(tz string) bool {
		at, err := time.LoadLocation(strings.TrimPrefix(tz, "TZ="))
		if err != nil {
			t.Skip(err)
		}
		day := time.Now().In(at).Weekday()
		return day == time.Saturday || day == time.Sunday
	}
	for _, c := range []struct {
		branch, command string
		hour            int
		want            func(weekend bool) hook.Verdict
	}{
		{"main", "git push", 3, func(bool) hook.Verdict { return hook.Deny }},
		{"main", "git push origin HEAD", 20, func(bool) hook.Verdict { return hook.Deny }},
		{"main", "git status", 3, func(bool) hook.Verdict { return hook.NoOpinion }},
		{"topic", "git push", 3, func(bool) hook.Verdict { return hook.NoOpinion }},
		{"main", "git push", 12, func(weekend bool) hook.Verdict {
			if weekend {
				return hook.Deny
			}
			return hook.NoOpinion
		}},
	} {
		put(t, filepath.Join(work, ".git", "HEAD"), "ref: refs/heads/"+c.branch+"\n")
		tz := zone(c.hour)
		reg, err := tenterhook.Open(t.Context(), tenterhook.Options{Workspace: work, Dirs: []string{dir}, StateDir: t.TempDir(), Env: []string{tz, "HOME=" + work},
			Without: []hook.Scope{hook.ScopeManaged, hook.ScopeUser, hook.ScopePlugin, hook.ScopeProject, hook.ScopeLocal}})
		if err != nil {
			t.Fatal(err)
		}
		out, err := reg.Dispatch(t.Context(), bash(c.command))
		_ = reg.Close()
		if err != nil || out.Verdict != c.want(weekend(tz)) || len(out.Failures()) > 0 {
			t.Errorf("%s on %s at %d h (%s): %v %v %s", c.command, c.branch, c.hour, tz, err, out.Verdict, out.Reason)
		}
	}
}
