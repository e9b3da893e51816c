package dialect

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/built"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata")

// show writes a value on one line. Fields that are zero are left out.
func show(v reflect.Value) string {
	switch v.Type() {
	case reflect.TypeFor[json.RawMessage]():
		return string(v.Bytes())
	case reflect.TypeFor[time.Duration]():
		return time.Duration(v.Int()).String()
	case reflect.TypeFor[hook.Scope]():
		return hook.Scope(v.Uint()).String()
	}
	var parts []string
	switch v.Kind() {
	case reflect.String:
		return strconv.Quote(v.String())
	case reflect.Pointer:
		if p := reflect.TypeFor[*product](); v.Type() == p {
			return v.Elem().FieldByName("name").String()
		}
		return show(v.Elem())
	case reflect.Func:
		return "set"
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			parts = append(parts, show(v.Index(i)))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reflect.Map:
		for _, key := range v.MapKeys() {
			parts = append(parts, show(key)+":"+show(v.MapIndex(key)))
		}
		slices.Sort(parts)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				parts = append(parts, v.Type().Field(i).Name+":"+show(f))
			}
		}
	default:
		return fmt.Sprint(v)
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// showConfig writes a config, a line for each hook and each note.
func showConfig(c Config) string {
	var b strings.Builder
	fmt.Fprintf(&b, "product %q\n", c.Product)
	if s := show(reflect.ValueOf(c.Settings)); s != "{}" {
		fmt.Fprintf(&b, "settings %s\n", s)
	}
	for _, h := range c.Hooks {
		own := *h
		own.ID, own.Name, own.Event, own.Kind, own.State, own.Source.Line, own.Source.Path = "", "", "", "", "", 0, ""
		if own.Scope == hook.ScopeUser {
			own.Scope = 0
		}
		fmt.Fprintf(&b, "%d %s hook %q on %s: %s %s\n", h.Source.Line, h.State, h.Name, h.Event, h.Kind, show(reflect.ValueOf(own)))
	}
	for _, ref := range c.Refs {
		fmt.Fprintf(&b, "refers to %s\n", show(reflect.ValueOf(ref)))
	}
	for _, n := range c.Notes {
		fmt.Fprintf(&b, "%d %s %s: %s", n.Line, n.Severity, n.Code, n.Message)
		if n.Hint != "" {
			fmt.Fprintf(&b, " (%s)", n.Hint)
		}
		if n.Hook != "" {
			fmt.Fprintf(&b, " [%s]", n.Hook)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// expect holds a text against a file of testdata.
func expect(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got), -update rewrites it:\n%s", file, diff)
	}
}

// Each archive of testdata/configs holds config files, and behind them what
// they say, down to the words of each message.
func TestConfigFilesSayWhatTheirArchivesExpect(t *testing.T) {
	files, err := filepath.Glob("testdata/configs/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no archives", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			if name := strings.TrimSuffix(filepath.Base(file), ".txtar"); name == "claude-mistakes" || name == "products" || name == "tenterhook" {
				built.NotOnWindows(t, "the archive says what a POSIX system makes of it")
			}
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
			var got strings.Builder
			for _, f := range archive.Files {
				fmt.Fprintf(&got, "%s: %s", f.Name, showConfig(readText(f.Name, string(f.Data))))
			}
			archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(got.String())})
			expect(t, file, string(txtar.Format(archive)))
		})
	}
}

// Each line of testdata/replies.txt that is not indented is a reply: protocols,
// events, the exit code, stdout and behind || stderr, with ⏎ for a line break.
// Below it stands what it means to each.
func TestRepliesMeanWhatTheirListExpects(t *testing.T) {
	data, err := os.ReadFile("testdata/replies.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, " ") {
			continue
		}
		got.WriteString(line)
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "⏎", "\n")
		words := strings.SplitN(line, " ", 4)
		if strings.HasPrefix(line, "#") || len(words) < 3 {
			continue
		}
		stdout, stderr, _ := strings.Cut(append(words, "")[3], "||")
		for protocol := range strings.SplitSeq(words[0], ",") {
			for event := range strings.SplitSeq(words[1], ",") {
				fmt.Fprintf(&got, "    %s %s: %s\n", protocol, event, showReply(t, hook.Protocol(protocol), hook.Event(event), words[2], stdout, stderr))
			}
		}
	}
	expect(t, "testdata/replies.txt", got.String())
}

// showReply reads a reply with an exit code, or as a "body", a "model" or what
// comes "later" in the background.
func showReply(t *testing.T, protocol hook.Protocol, event hook.Event, how, stdout, stderr string) string {
	in, err := hook.DecodeInput([]byte(`{"hook_event_name":"` + string(event) + `","tool_name":"mcp__s__t","tool_input":{"a":1,"b":2},"source":"user_settings"}`))
	if err != nil {
		t.Fatal(err)
	}
	c := newCall(t, event, withInput(in), withProtocol(protocol))
	var out *hook.Output
	switch how {
	case "body":
		out, err = Reader{}.ReadBody(c, []byte(stdout))
	case "model":
		out, err = Reader{}.ReadModel(c, []byte(stdout))
	case "later":
		out, err = Reader{}.ReadLater(c, []byte(stdout))
	default:
		code, bad := strconv.Atoi(strings.TrimPrefix(how, "must"))
		if bad != nil {
			t.Fatal(bad)
		}
		if strings.HasPrefix(how, "must") {
			mustNotFail(c)
		}
		out, err = Read(c, Reply{[]byte(stdout), []byte(stderr), code})
	}
	text := "no answer"
	if out != nil {
		text = show(reflect.ValueOf(*out))
	}
	if err != nil {
		text += " failed: " + err.Error()
	}
	for _, w := range c.Report.Warnings {
		text += fmt.Sprintf("; %s %s: %s (%s)", w.Severity, w.Code, w.Message, w.Hint)
	}
	return strings.ReplaceAll(text, "\n", "⏎")
}
