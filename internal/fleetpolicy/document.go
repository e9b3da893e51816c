package fleetpolicy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/dialect"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// The channels.
const (
	ChannelPacks = "packs" // what runs, and the settings
	ChannelGuard = "guard" // what is denied or asked, and hooks that are switched off
)

// MaxSize is how long an envelope may be, in bytes.
const MaxSize = 1 << 20

// Document is what a fleet says to its machines.
type Document struct {
	Fleet   string    `json:"fleet"`
	Channel string    `json:"channel"`
	Version int64     `json:"version"` // from 1; each channel counts its own
	Issued  time.Time `json:"issued"`
	Expires time.Time `json:"expires"`
	Reason  string    `json:"reason,omitempty"`
	// Settings are those of a settings file, as far as [Says] allows them. Its hooks
	// are rules, in the channel guard rules that deny or ask.
	Settings json.RawMessage `json:"settings"`
}

// Clock is the time as far as the document tells: no clock that was set back makes
// it younger than when it was issued.
func (d *Document) Clock(now time.Time) time.Time {
	if now.Before(d.Issued) {
		return d.Issued
	}
	return now
}

// Stale reports whether the document has expired: a newer one is kept back,
// or none was made.
func (d *Document) Stale(now time.Time) bool { return !d.Clock(now).Before(d.Expires) }

// Encode is the document as it is signed.
func (d *Document) Encode() ([]byte, error) { return json.Marshal(d) }

// decode reads a payload whose signature holds.
func decode(payload []byte) (*Document, *Refusal) {
	d := new(Document)
	if err := strict(payload, d); err != nil {
		return nil, refuse(CodeMalformed, "sign it with a tenterhook of this version", "its payload is no policy: %v", err)
	}
	switch {
	case !slices.Contains(dialect.PolicyChannels, d.Channel):
		return nil, refuse(CodeMalformed, "", "there is no channel %q", d.Channel)
	case d.Version < 1:
		return nil, refuse(CodeMalformed, "", "its version is %d; the first one is 1", d.Version)
	case d.Issued.IsZero() || !d.Expires.After(d.Issued):
		return nil, refuse(CodeMalformed, "", "it expires before it is issued, or does not say when")
	case len(d.Settings) == 0 || d.Settings[0] != '{':
		return nil, refuse(CodeMalformed, "", "it has no settings")
	}
	return d, nil
}

// strict decodes JSON that has no unknown key, no key twice and nothing behind it.
func strict(text []byte, into any) error {
	if err := once(text); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// once fails for JSON with a key that stands twice in an object, whatever its
// case, or with something behind the value: readers differ in which one counts.
func once(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	type level struct {
		keys  map[string]bool // nil = a list
		value bool            // what comes next belongs to a key
	}
	var open []level
	for {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		top := len(open) - 1
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				if len(open) == maxDepth {
					return fmt.Errorf("it is nested more than %d deep", maxDepth)
				}
				if top >= 0 {
					open[top].value = false
				}
				l := level{}
				if t == '{' {
					l.keys = make(map[string]bool)
				}
				open = append(open, l)
			} else {
				open = open[:top]
			}
		case string:
			if top >= 0 && open[top].keys != nil && !open[top].value {
				key := strings.ToLower(t)
				if open[top].keys[key] {
					return fmt.Errorf("the key %q stands there twice", t)
				}
				open[top].keys[key], open[top].value = true, true
				continue
			}
			if top >= 0 {
				open[top].value = false
			}
		default:
			if top >= 0 {
				open[top].value = false
			}
		}
		if len(open) == 0 {
			if _, err := dec.Token(); !errors.Is(err, io.EOF) {
				return errors.New("there is something behind it")
			}
			return nil
		}
	}
}

// maxDepth bounds how deep a document nests.
const maxDepth = 64

// Config reads the settings of a document as a scope has them: that of the
// settings which name the fleet. path is the file that the hooks are said to be
// from. Nothing that starts a program is ever among them.
func (d *Document) Config(scope hook.Scope, path string) (dialect.Config, *Refusal) {
	src := dialect.ConfigSource{Scope: scope, Product: "tenterhook", Source: hook.Source{Path: settingsPath}}
	c := dialect.ReadConfig(src, d.Settings)
	for _, n := range c.Notes {
		if n.Severity != hook.SeverityInfo { // what has no effect was meant to have one
			return c, refuse(CodeMalformed, n.Hint, "its settings: %s", n.Message)
		}
	}
	if c.Product != src.Product {
		return c, refuse(CodeMalformed, "", "its settings are those of another product")
	}
	if r := d.reach(&c); r != nil {
		return c, r
	}
	for _, h := range c.Hooks {
		h.Name = "fleet-" + d.Channel + "/" + strings.TrimPrefix(h.Name, settingsPath[len(settingsDir):]+":")
		h.ID = dialect.HookID(scope, "", h.Name)
		h.Source = hook.Source{Path: path, Line: h.Source.Line}
		h.OnFailure = hook.FailureBlock // a rule that cannot judge is no leave
	}
	return c, nil
}

// settingsPath is a path of our own settings, by which their reader knows them.
const (
	settingsDir  = ".tenterhook/"
	settingsPath = settingsDir + "settings.json"
)

// reach refuses what a channel may not say.
func (d *Document) reach(c *dialect.Config) *Refusal {
	for _, h := range c.Hooks {
		if !h.Kind.Info().Instant || h.Command != nil {
			return refuse(CodeReach, "put it into a pack, and name the pack's digest", "it declares a hook of kind %s: no document brings code", h.Kind)
		}
		if h.State != "" && h.State != hook.StateReady {
			return refuse(CodeMalformed, "", "its rule %s cannot run: %s", h.Name, h.Why)
		}
		rule, _ := hook.RuleOf(h.Params)
		if d.Channel == ChannelGuard && rule.Decision != hook.DecisionDeny && rule.Decision != hook.DecisionAsk {
			return refuse(CodeReach, "only the channel packs has others", "its rule %s decides %q, and a guard denies or asks", h.Name, rule.Decision)
		}
	}
	var said map[string]json.RawMessage
	if err := json.Unmarshal(d.Settings, &said); err != nil {
		return refuse(CodeMalformed, "", "its settings: %v", err)
	}
	for key := range said {
		key = dialect.SettingKey(key)
		if !slices.Contains(Says[d.Channel], key) {
			return refuse(CodeReach, "a document of this channel has "+strings.Join(Says[d.Channel], ", "), "it sets %s", phrase.Clip(key, 64))
		}
	}
	return nil
}

// Says are the settings that a document of a channel may have. None of them starts
// a program but for the digest of a pack, says whom to trust, or switches off what
// this machine's own managed folder declares.
var Says = map[string][]string{
	ChannelGuard: {"hooks", "disabled"},
	ChannelPacks: {"packs", "hooks", "disabled", "disable_all_hooks", "allow_managed_hooks_only", "default_on_failure", "sandbox", "breaker", "max_async",
		"allowed_http_hook_urls", "http_hook_allowed_env_vars", "allow_local_http_hook_targets", "model", "journal", "audit"},
}
