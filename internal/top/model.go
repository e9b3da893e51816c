package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenterhook/tenterhook/journal"
)

// Options say how the view runs.
type Options struct {
	Feed Feed
	In   io.Reader // the terminal
	Out  io.Writer
	Env  []string // decides about colours
	// Text makes a text safe to show: one line, without control characters.
	Text func(string) string
}

// Run shows the view until a person ends it, or ctx ends.
func Run(ctx context.Context, o Options) error {
	m := &model{Options: o, ctx: ctx, state: newState(), started: time.Now()}
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Env)).Run()
	if ctx.Err() != nil || errors.Is(err, tea.ErrInterrupted) {
		return nil
	}
	return err
}

// pane is a part of the screen that can have the keys.
type pane uint8

const (
	paneHooks pane = iota
	paneLive
	paneSessions
	paneBreakers
	panes
)

// mode is what the keys mean.
type mode uint8

const (
	modeBrowse  mode = iota
	modeFilter       // typing the filter
	modeRun          // a run is open
	modeDisable      // asked for how long
	modeHelp
)

type model struct {
	Options
	ctx           context.Context
	state         *state
	width, height int
	mode          mode
	focus         pane
	at            [panes]int // the row that is chosen in each pane
	filter        filter
	typed         string // of the filter, until Enter
	paused        bool
	waiting       []news // while paused; at most one of them has lines to wait
	open          []string
	scroll        int    // of the run that is open
	asked         string // the hook that is to be disabled
	message       string
	err           error
	loaded        bool
	started       time.Time
	lastSlow      time.Time
}

// Init asks for the first news.
func (m *model) Init() tea.Cmd { return m.look() }

// look asks the feed in another goroutine.
func (m *model) look() tea.Cmd {
	slow := time.Since(m.lastSlow) >= statsEvery
	if slow {
		m.lastSlow = time.Now()
	}
	return func() tea.Msg { return m.Feed.look(m.ctx, slow) }
}

type tick struct{}

// opened is a run that was asked for; done is the end of something.
type opened struct {
	entry *journal.Entry
	err   error
}

type done struct {
	text string
	err  error
}

// Update takes a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case news:
		m.err = msg.err
		m.take(msg)
		return m, tea.Tick(newsEvery, func(time.Time) tea.Msg { return tick{} })
	case tick:
		return m, m.look()
	case opened:
		if msg.err != nil {
			m.message = msg.err.Error()
			break
		}
		m.mode, m.scroll, m.open = modeRun, 0, m.describe(msg.entry)
	case done:
		m.message = msg.text
		if msg.err != nil {
			m.message = msg.err.Error()
		}
		m.lastSlow = time.Time{}
	case tea.KeyPressMsg:
		return m, m.key(msg)
	}
	return m, nil
}

// take shows news, or keeps them while the view is paused: no more than are kept
// at all.
func (m *model) take(n news) {
	m.loaded = true
	if n.err != nil {
		return
	}
	if !m.paused {
		m.show(n)
		return
	}
	if len(m.waiting) == 0 {
		m.waiting = append(m.waiting, news{})
	}
	w := &m.waiting[0]
	if w.lines = append(w.lines, n.lines...); len(w.lines) > maxLines {
		w.lines = append([]journal.Line(nil), w.lines[len(w.lines)-maxLines:]...)
	}
	if n.slow {
		w.slow, w.stats, w.breakers, w.off = true, n.stats, n.breakers, n.off
	}
}

// show takes news over. The line that is chosen stays chosen, unless it is the
// newest.
func (m *model) show(n news) {
	m.state.take(n)
	if m.at[paneLive] == 0 {
		return
	}
	for i := range n.lines {
		if m.filter.line(&n.lines[i]) {
			m.at[paneLive]++
		}
	}
}

func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name == "ctrl+c" {
		return tea.Quit
	}
	m.message = ""
	switch m.mode {
	case modeFilter:
		m.filterKey(k, name)
		return nil
	case modeDisable:
		return m.disableKey(name)
	case modeRun, modeHelp:
		m.readKey(name)
		return nil
	}
	return m.browseKey(name)
}

func (m *model) browseKey(name string) tea.Cmd {
	switch name {
	case "q":
		return tea.Quit
	case "tab", "right":
		m.focus = (m.focus + 1) % panes
	case "shift+tab", "left":
		m.focus = (m.focus + panes - 1) % panes
	case "down", "j":
		m.at[m.focus]++
	case "up", "k":
		m.at[m.focus]--
	case "pgdown", "space":
		m.at[m.focus] += 10
	case "pgup":
		m.at[m.focus] -= 10
	case "home", "g":
		m.at[m.focus] = 0
	case "/":
		m.mode, m.typed = modeFilter, m.filter.text
	case "f":
		m.filter.failed = !m.filter.failed
	case "p":
		m.pause()
	case "esc":
		m.filter = filter{}
	case "?":
		m.mode, m.scroll, m.open = modeHelp, 0, help
	case "enter":
		return m.enter()
	case "d":
		if m.asked = m.chosenHook(); m.asked != "" {
			m.mode = modeDisable
		}
	}
	return nil
}

func (m *model) pause() {
	m.paused = !m.paused
	if !m.paused && len(m.waiting) > 0 {
		m.show(m.waiting[0])
		m.waiting = nil
	}
}

// filterKey edits the filter.
func (m *model) filterKey(k tea.KeyPressMsg, name string) {
	switch name {
	case "enter":
		m.mode, m.filter.text, m.at = modeBrowse, m.typed, [panes]int{}
	case "esc":
		m.mode = modeBrowse
	case "backspace":
		if r := []rune(m.typed); len(r) > 0 {
			m.typed = string(r[:len(r)-1])
		}
	case "ctrl+u":
		m.typed = ""
	default:
		if text := m.Text(k.Text); len(m.typed)+len(text) <= 100 {
			m.typed += text
		}
	}
}

// readKey scrolls what is open, or closes it.
func (m *model) readKey(name string) {
	switch name {
	case "q", "esc", "enter", "?", "left":
		m.mode, m.open = modeBrowse, nil
	case "down", "j":
		m.scroll++
	case "up", "k":
		m.scroll--
	case "pgdown", "space":
		m.scroll += m.height - 2
	case "pgup":
		m.scroll -= m.height - 2
	}
	m.scroll = max(0, min(m.scroll, len(m.wrapped())-max(m.height-2, 1)))
}

func (m *model) disableKey(name string) tea.Cmd {
	id := m.asked
	m.mode, m.asked = modeBrowse, ""
	lengths := map[string]time.Duration{"1": 10 * time.Minute, "2": time.Hour, "3": 8 * time.Hour, "u": 0}
	length, ok := lengths[name]
	if !ok {
		m.message = "nothing was changed"
		return nil
	}
	text := m.Text(id) + " is switched off until it is enabled"
	if length > 0 {
		text = fmt.Sprintf("%s is switched off for %s", m.Text(id), strings.TrimSuffix(strings.TrimSuffix(length.String(), "0s"), "0m"))
	}
	return func() tea.Msg { return done{text, m.Feed.Disable(m.ctx, id, length)} }
}

// enter opens the run that is chosen, or shows what the chosen hook, session or
// breaker is about.
func (m *model) enter() tea.Cmd {
	switch m.focus {
	case paneLive:
		if l, ok := chosen(m, paneLive, m.state.shownLines(m.filter)); ok {
			return func() tea.Msg {
				e, err := m.Feed.Run(m.ctx, l.Run)
				return opened{e, err}
			}
		}
	case paneSessions:
		if s, ok := chosen(m, paneSessions, m.state.shownSessions(m.filter)); ok {
			m.filter.text, m.focus = s.session, paneLive
			if s.session == "" {
				m.filter.text = s.agent
			}
		}
	default:
		if id := m.chosenHook(); id != "" {
			m.filter.text, m.focus = id, paneLive
		}
	}
	return nil
}

// chosenHook is the hook of the row that is chosen; "" = there is none.
func (m *model) chosenHook() string {
	switch m.focus {
	case paneHooks:
		if h, ok := chosen(m, paneHooks, m.state.shownHooks(m.filter)); ok {
			return h.Hook
		}
	case paneLive:
		if l, ok := chosen(m, paneLive, m.state.shownLines(m.filter)); ok {
			return l.Hook
		}
	case paneBreakers:
		if b, ok := chosen(m, paneBreakers, m.state.shownBreakers(m.filter)); ok {
			return b.Hook
		}
	}
	return ""
}

// chosen is the row of a pane that is chosen.
func chosen[T any](m *model, p pane, list []T) (one T, ok bool) {
	m.at[p] = max(0, min(m.at[p], len(list)-1))
	if len(list) == 0 {
		return one, false
	}
	return list[m.at[p]], true
}
