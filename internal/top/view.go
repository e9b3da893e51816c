package top

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
	"github.com/tenterhook/tenterhook/journal"
)

// The smallest screen, and the one from which all panes stand side by side.
const (
	minWidth, minHeight = 40, 10
	wideFrom            = 110
	sideWidth           = 44
)

// View draws the screen.
func (m *model) View() tea.View {
	v := tea.View{AltScreen: true, WindowTitle: "tenterhook top"}
	v.Content = strings.Join(m.screen(), "\n")
	return v
}

// screen is exactly as many lines as there is room for, none longer than that.
func (m *model) screen() []string {
	if m.width == 0 || m.height == 0 {
		return nil
	}
	if m.width < minWidth || m.height < minHeight {
		return fit([]string{fmt.Sprintf("the window is smaller than %d×%d", minWidth, minHeight), "q ends"}, m.width, m.height)
	}
	body := m.height - 2
	var lines []string
	switch {
	case m.mode == modeRun || m.mode == modeHelp:
		text := m.wrapped()
		lines = fit(text[min(m.scroll, len(text)):], m.width, body)
	case m.width >= wideFrom:
		left, right := m.width-sideWidth-1, sideWidth
		top := m.hooksHeight(body)
		one := append(m.pane(paneHooks, left, top), m.pane(paneLive, left, body-top)...)
		two := append(m.pane(paneSessions, right, body/2), m.pane(paneBreakers, right, body-body/2)...)
		for i := range one {
			lines = append(lines, one[i]+" "+two[i])
		}
	default:
		below := m.focus
		if below == paneHooks {
			below = paneLive
		}
		top := m.hooksHeight(body)
		lines = append(m.pane(paneHooks, m.width, top), m.pane(below, m.width, body-top)...)
	}
	return append(append([]string{m.title()}, lines...), m.footer())
}

// wrapped is what is open, in lines that fit.
func (m *model) wrapped() (lines []string) {
	for _, line := range m.open {
		lines = append(lines, strings.Split(ansi.Hardwrap(line, max(m.width, 1), true), "\n")...)
	}
	return lines
}

// hooksHeight leaves the results what the hooks do not need.
func (m *model) hooksHeight(body int) int {
	return max(4, min(body*2/5, len(m.state.shownHooks(m.filter))+2))
}

// fit makes exactly height lines of at most width columns.
func fit(lines []string, width, height int) []string {
	fitted := make([]string, height)
	for i := range fitted {
		if i < len(lines) {
			fitted[i] = lines[i]
		}
		fitted[i] = cell(fitted[i], width)
	}
	return fitted
}

// cell cuts or fills a text to a width.
func cell(text string, width int) string {
	text = ansi.Truncate(text, max(width, 0), "…")
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// word is cell with a space at its end.
func word(text string, width int) string {
	if width < 1 {
		return ""
	}
	return cell(text, width-1) + " "
}

// right is cell for numbers.
func right(text string, width int) string {
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(text))) + ansi.Truncate(text, width, "…")
}

func paint(code, text string) string { return "\x1b[" + code + "m" + text + "\x1b[0m" }

func (m *model) title() string {
	s := m.state
	parts := []string{"tenterhook top", fmt.Sprintf("%d/min", s.perMinute()), phrase.Count(len(s.sessions), "session")}
	text := strings.Join(parts, "  ")
	if n := len(s.breakers); n > 0 {
		text += "  " + paint("31", phrase.Count(n, "open breaker"))
	}
	if m.filter.text != "" {
		text += "  " + paint("33", "filter: "+m.Text(m.filter.text))
	}
	if m.filter.failed {
		text += "  " + paint("33", "failures and denials")
	}
	if m.paused {
		text += "  " + paint("33", "paused")
	}
	return paint("1", cell(text, m.width-9)) + " " + time.Now().Format("15:04:05")
}

func (m *model) footer() string {
	text := "Tab pane  ↑↓ row  ↵ open  / filter  f failed  d disable  p pause  ? help  q quit"
	if m.width < ansi.StringWidth(text) {
		text = "Tab pane  ↑↓ row  ↵ open  ? help  q quit"
	}
	switch {
	case m.mode == modeFilter:
		text = "filter: " + m.Text(m.typed) + "▏  Enter applies, Esc cancels"
	case m.mode == modeDisable:
		text = paint("33", "disable "+m.Text(m.asked)+"?") + "  1 for 10 minutes  2 for an hour  3 for 8 hours  u until enabled  Esc no"
	case m.mode == modeRun || m.mode == modeHelp:
		text = "↑↓ scroll  Esc back"
	case m.message != "":
		text = paint("33", m.Text(m.message))
	case m.err != nil:
		text = paint("31", m.Text(m.err.Error()))
	}
	return cell(text, m.width)
}

// pane draws a pane with its heading.
func (m *model) pane(p pane, width, height int) []string {
	var heading string
	var rows []string
	switch p {
	case paneHooks:
		heading, rows = m.hookRows(width)
	case paneLive:
		heading, rows = m.liveRows(width)
	case paneSessions:
		heading, rows = m.sessionRows(width)
	case paneBreakers:
		heading, rows = m.breakerRows(width)
	}
	m.at[p] = max(0, min(m.at[p], len(rows)-1))
	mark := "  "
	if m.focus == p {
		mark = "▸ "
	}
	lines := []string{paint("7", cell(mark+heading, width))}
	room := height - 1
	first := max(0, min(m.at[p]-room/2, len(rows)-room))
	for i := first; i < len(rows) && len(lines) < height; i++ {
		row := "  " + rows[i]
		if i == m.at[p] && m.focus == p {
			row = "▸ " + paint("1", rows[i])
		}
		lines = append(lines, row)
	}
	if len(rows) == 0 {
		lines = append(lines, paint("2", "  "+m.nothing(p)))
	}
	return fit(lines, width, height)
}

// nothing says why a pane is empty.
func (m *model) nothing(p pane) string {
	switch {
	case !m.loaded:
		return "reading the journal…"
	case p == paneBreakers:
		return "every breaker is closed"
	case m.filter != (filter{}):
		return "nothing fits the filter; Esc clears it"
	}
	return "nothing yet: hooks leave results when an agent fires an event"
}

// columns are those of the hooks' pane, as far as there is room.
func columns(width int) (name, plot int, outcomes, p50 bool) {
	outcomes, p50 = width >= 66, width >= 56
	if width < 50 {
		return width - 2 - 3*7, 0, false, false
	}
	name = width - 2 - 4*7
	if p50 {
		name -= 7
	}
	plot = max(8, min(30, (width-58)/2))
	name -= plot + 2
	if outcomes {
		name -= plot + 2
	}
	return name, plot, outcomes, p50
}

func (m *model) hookRows(width int) (string, []string) {
	name, plot, withOutcomes, withP50 := columns(width)
	row := func(id, runs, denied, failed, p50, p95, latency, outcome string) string {
		text := word(id, name) + right(runs, 7) + right(denied, 7) + right(failed, 7)
		if withP50 {
			text += right(p50, 7)
		}
		if plot > 0 {
			text += right(p95, 7) + "  " + cell(latency, plot)
		}
		if withOutcomes {
			text += "  " + cell(outcome, plot)
		}
		return text
	}
	var rows []string
	for _, h := range m.state.shownHooks(m.filter) {
		id, failed := m.Text(h.Hook), fmt.Sprint(h.Failed)
		if _, off := m.state.off[h.Hook]; off {
			id = paint("33", "off ") + id
		} else if m.breakerOpen(h.Hook) {
			id = paint("31", "open ") + id
		}
		if h.Failed > 0 {
			failed = paint("31", failed)
		}
		rows = append(rows, row(id, fmt.Sprint(h.Runs), fmt.Sprint(h.Denied), failed, millis(h.P50MS), millis(h.P95MS), latencies(h.recent, plot), outcomes(h.recent, plot)))
	}
	return row("HOOK", "RUNS", "DENY", "FAIL", "P50", "P95", "LATENCY", "OUTCOME"), rows
}

// breakerOpen reports whether a breaker of the hook is open.
func (m *model) breakerOpen(id string) bool {
	for _, b := range m.state.breakers {
		if b.Hook == id {
			return true
		}
	}
	return false
}

// millis is a time in milliseconds, in at most six columns.
func millis(ms float64) string {
	switch {
	case ms >= 10_000:
		return fmt.Sprintf("%.0fs", ms/1000)
	case ms >= 100:
		return fmt.Sprintf("%.0fms", ms)
	}
	return fmt.Sprintf("%.1fms", ms)
}

// latencies draws how long the last results took, the newest on the right, on a
// scale of its own.
func latencies(recent []outcome, width int) string {
	recent = recent[max(0, len(recent)-width):]
	var most float64
	for _, o := range recent {
		most = max(most, o.ms)
	}
	blocks := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", width-len(recent)))
	for _, o := range recent {
		b.WriteRune(blocks[min(int(o.ms/max(most, 0.001)*float64(len(blocks))), len(blocks)-1)])
	}
	return b.String()
}

// outcomes draws how the last results ended: x failed, d denied.
func outcomes(recent []outcome, width int) string {
	recent = recent[max(0, len(recent)-width):]
	text := strings.Repeat(" ", width-len(recent))
	for _, o := range recent {
		switch {
		case o.failed:
			text += paint("31", "x")
		case o.denied:
			text += paint("33", "d")
		default:
			text += "·"
		}
	}
	return text
}

func (m *model) liveRows(width int) (string, []string) {
	agent, results := 8, 14
	if width < 66 {
		agent = 0
	}
	if width < 50 {
		results = 8
	}
	rest := width - 2 - 9 - results - agent - 9
	name := rest * 2 / 5
	if width < 50 {
		name = rest // the run tells the event
	}
	row := func(at, result, id, event, by, took string) string {
		return cell(at, 9) + word(result, results) + word(id, name) + word(event, rest-name) + word(by, agent) + right(took, 8)
	}
	var rows []string
	for _, l := range m.state.shownLines(m.filter) {
		rows = append(rows, row(l.Time.Local().Format("15:04:05"), m.result(&l), m.Text(l.Hook), m.Text(strings.TrimSpace(string(l.Event)+" "+l.Tool)), m.Text(l.Agent), millis(l.ElapsedMS)))
	}
	return row("TIME", "RESULT", "HOOK", "EVENT", "AGENT", "TOOK"), rows
}

// result is a line's verdict, or how it failed.
func (m *model) result(l *journal.Line) string {
	switch {
	case l.Failure != "":
		return paint("31", m.Text(string(l.Failure)))
	case l.Status == hook.StatusSkipped:
		return paint("2", "skipped")
	case l.Verdict == hook.Deny:
		return paint("33", "deny")
	case l.Verdict == hook.NoOpinion:
		return paint("2", m.Text(string(l.Status)))
	}
	return l.Verdict.String()
}

func (m *model) sessionRows(width int) (string, []string) {
	name := width - 2 - 8 - 3*6 - 1
	heading := cell("AGENT", 8) + cell("SESSION", name) + right("RUNS", 6) + right("DENY", 6) + right("FAIL", 6)
	var rows []string
	for _, s := range m.state.shownSessions(m.filter) {
		rows = append(rows, word(m.Text(s.agent), 8)+word(m.Text(s.session), name)+right(fmt.Sprint(s.results), 6)+right(fmt.Sprint(s.denied), 6)+right(fmt.Sprint(s.failed), 6))
	}
	return heading, rows
}

func (m *model) breakerRows(width int) (string, []string) {
	name := width - 2 - 10 - 9 - 1
	heading := cell("OPEN BREAKER", name) + right("FAILURES", 9) + right("AGAIN IN", 10)
	var rows []string
	for _, b := range m.state.shownBreakers(m.filter) {
		again := max(0, time.Until(b.RetryAt)).Round(time.Second).String()
		rows = append(rows, word(m.Text(b.Hook+" "+b.By), name)+right(fmt.Sprint(b.Failures), 9)+right(again, 10))
	}
	return heading, rows
}
