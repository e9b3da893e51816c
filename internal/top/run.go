package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/journal"
)

// barWidth is how wide the bar of a run's slowest hook is.
const barWidth = 20

// describe shows a run with all its hooks.
func (m *model) describe(e *journal.Entry) []string {
	lines := []string{paint("1", "run "+m.Text(e.Run))}
	fact := func(name, value string) {
		if value = m.Text(value); value != "" {
			lines = append(lines, fmt.Sprintf("  %-9s %s", name, value))
		}
	}
	fact("verdict", strings.TrimSpace(e.Verdict.String()+" "+e.Reason))
	fact("error", e.Error)
	fact("event", string(e.Event)+" "+e.Tool)
	fact("time", e.Time.Local().Format(time.DateTime))
	fact("took", millis(e.ElapsedMS))
	fact("agent", e.Agent)
	fact("session", e.Session)
	fact("workspace", e.Workspace)
	fact("input", string(e.Payload))
	fact("no input", e.Omitted)
	lines = append(lines, "")
	var longest float64
	for _, r := range e.Results {
		longest = max(longest, r.ElapsedMS)
	}
	for i := range e.Results {
		lines = append(lines, m.describeResult(&e.Results[i], longest)...)
	}
	return lines
}

func (m *model) describeResult(r *journal.Result, longest float64) []string {
	bar := strings.Repeat("█", max(1, int(r.ElapsedMS/max(longest, 0.001)*barWidth)))
	status := string(r.Status)
	if r.Failure != "" {
		status = paint("31", status+" ("+m.Text(string(r.Failure))+")")
	}
	lines := []string{fmt.Sprintf("%s %s  %s  %s  %s", cell(bar, barWidth), right(millis(r.ElapsedMS), 8), m.Text(r.Hook), r.Verdict, status)}
	for _, more := range []struct{ name, text string }{{"why", r.Reason}, {"hint", r.Hint}, {"stderr", r.Stderr}, {"source", r.Source}} {
		if more.text != "" {
			lines = append(lines, "    "+more.name+": "+m.Text(more.text))
		}
	}
	if r.ExitCode != nil {
		lines = append(lines, fmt.Sprintf("    exit code: %d", *r.ExitCode))
	}
	return lines
}

var help = []string{
	"Hooks are counted over the last day, everything else since this view began.",
	"LATENCY and OUTCOME show a hook's last results, the newest on the right:",
	"x failed, d denied, · everything else. \"off\" is switched off, \"open\" has an",
	"open breaker, and is skipped.",
	"",
	"  Tab, Shift+Tab  another pane; a narrow window has one below the hooks",
	"  ↑ ↓ PgUp PgDn   choose a row",
	"  Enter           open a run; of a hook or a session show its results",
	"  /               filter by hook, event, tool, agent or session",
	"  f               only failures and denials",
	"  Esc             no filter",
	"  d               disable the hook of the chosen row, after a question",
	"  p               pause: what comes meanwhile is shown afterwards",
	"  q, Ctrl+C       quit",
}
