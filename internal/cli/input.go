package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/registry"
)

// maxPayload bounds what --payload reads.
const maxPayload = 64 << 20

// eventFlags describe an event on the command line.
type eventFlags struct {
	tool, input, prompt, payload string
	set                          []string
}

// eventCommand completes a command that takes an event and asks the registry
// about it.
func (a *app) eventCommand(cmd *cobra.Command, ask func(context.Context, *registry.Registry, hook.Input) error) *cobra.Command {
	var event eventFlags
	event.register(cmd)
	cmd.Args = cobra.MaximumNArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		in, err := event.read(cmd, args, a.In)
		if err != nil {
			return err
		}
		reg, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer func() {
			if err := reg.Close(); err != nil { // hooks in the background were ended
				fmt.Fprintln(a.Err, "tenterhook: "+err.Error())
			}
		}()
		return ask(cmd.Context(), reg, in)
	}
	return cmd
}

func (f *eventFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.tool, "tool", "", "the tool's name (tool_name)")
	cmd.Flags().StringVar(&f.input, "input", "", "the tool's input as JSON (tool_input)")
	cmd.Flags().StringVar(&f.prompt, "prompt", "", "the prompt's text (prompt)")
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "another field, as key=json (repeatable)")
	cmd.Flags().StringVar(&f.payload, "payload", "", "a file with the whole event as JSON; - is standard input")
	_ = cmd.MarkFlagFilename("payload", "json")
}

// read makes the event. Flags go over the payload's fields.
func (f *eventFlags) read(cmd *cobra.Command, args []string, stdin io.Reader) (hook.Input, error) {
	fields := make(map[string]json.RawMessage)
	if f.payload != "" {
		members, err := f.readPayload(stdin)
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			fields[m.Key] = m.Value
		}
	}
	if err := nameEvent(fields, args); err != nil {
		return nil, err
	}
	changed := cmd.Flags().Changed
	if changed("tool") {
		fields["tool_name"] = quoted(f.tool)
	}
	if changed("input") {
		if err := hook.CheckJSON([]byte(f.input)); err != nil {
			return nil, &located{"bad_input", fmt.Sprintf("--input is not JSON: %v", err), `quote it whole, as in --input '{"command":"ls"}'`}
		}
		fields["tool_input"] = json.RawMessage(f.input)
	}
	if changed("prompt") {
		fields["prompt"] = quoted(f.prompt)
	}
	for _, kv := range f.set {
		key, value, ok := strings.Cut(kv, "=")
		if !ok || key == "" {
			return nil, &located{"bad_set", fmt.Sprintf("--set %q: want key=json", kv), `as in --set source='"startup"'`}
		}
		if err := hook.CheckJSON([]byte(value)); err != nil {
			return nil, &located{"bad_set", fmt.Sprintf("--set %s: the value is not JSON: %v", key, err), fmt.Sprintf("a text wants quotes: --set %s='%s'", key, quoted(value))}
		}
		fields[key] = json.RawMessage(value)
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	in, err := hook.DecodeInput(data)
	if err != nil {
		return nil, &located{"bad_event", fmt.Sprintf("the event: %v", err), ""}
	}
	return in, nil
}

func (f *eventFlags) readPayload(stdin io.Reader) ([]hook.Member, error) {
	r := stdin
	if f.payload != "-" {
		file, err := os.Open(f.payload)
		if err != nil {
			return nil, &located{"bad_payload", fmt.Sprintf("--payload: %v", err), "give a file with the event as JSON, or - for standard input"}
		}
		defer file.Close()
		r = file
	}
	data, err := io.ReadAll(io.LimitReader(r, maxPayload+1))
	switch {
	case err != nil:
		return nil, &located{"bad_payload", fmt.Sprintf("--payload %s: %v", f.payload, err), ""}
	case len(data) > maxPayload:
		return nil, &located{"bad_payload", fmt.Sprintf("--payload %s: more than %d MiB", f.payload, maxPayload>>20), ""}
	}
	members, err := hook.Members(data)
	if err != nil {
		return nil, &located{"bad_payload", fmt.Sprintf("--payload %s: %v", f.payload, err), "want one JSON object, as hooks get it on standard input"}
	}
	return members, nil
}

// nameEvent settles which event it is: the argument's, or the payload's.
func nameEvent(fields map[string]json.RawMessage, args []string) error {
	var said string
	if raw, ok := fields["hook_event_name"]; ok {
		if err := json.Unmarshal(raw, &said); err != nil {
			return &located{"bad_payload", "the payload's hook_event_name is no text", ""}
		}
	}
	switch {
	case len(args) == 0 && said == "":
		return errors.New("which event? as in 'tenterhook run PreToolUse --tool Bash'; 'tenterhook events' lists them")
	case len(args) == 0:
		args = []string{said}
	case said != "" && said != args[0]:
		return &located{"bad_payload", fmt.Sprintf("the payload is a %s, the command says %s", said, args[0]), "leave one out"}
	}
	if _, known := hook.Lookup(hook.Event(args[0])); !known && hook.NearestEvent(args[0]) != "" {
		return unknownEvent(args[0])
	}
	fields["hook_event_name"] = quoted(args[0])
	return nil
}

func quoted(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string always encodes
	return b
}
