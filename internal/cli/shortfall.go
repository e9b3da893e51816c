package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tenterhook/tenterhook/bridge"
	"github.com/tenterhook/tenterhook/hook"
	"github.com/tenterhook/tenterhook/internal/phrase"
)

// shortfall is what an agent does not do of what a hook can ask for.
type shortfall struct {
	Ability string `json:"ability"` // "" = the agent does not have the event
	Level   string `json:"level"`   // partly, stricter, later, no
	Note    string `json:"note,omitempty"`
}

func registerAgent(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "agent", "", "also say what this agent cannot enforce of each hook")
}

// agentFlag finds the agent of --agent, nil without the flag.
func agentFlag(name string) (*bridge.Agent, error) {
	if name == "" {
		return nil, nil
	}
	list, err := agentsNamed([]string{name}, nil)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// shortfallsOf is empty without an agent.
func shortfallsOf(agent *bridge.Agent, event hook.Event) []shortfall {
	if agent == nil || event == "" {
		return nil
	}
	var list []shortfall
	for _, s := range agent.Shortfalls([]hook.Event{event}) {
		list = append(list, shortfall{string(s.Ability), string(s.Cell.Level), s.Cell.Note})
	}
	return list
}

func (a *app) printShortfalls(agent *bridge.Agent, what string, event hook.Event) {
	style := a.styleOf(a.Out)
	for _, s := range shortfallsOf(agent, event) {
		if s.Ability == "" {
			fmt.Fprintf(a.Out, "%s %s never runs: %s does not have %s\n", style.yellow("note:"), what, agent.Title, phrase.Printable(string(event)))
			continue
		}
		fmt.Fprintf(a.Out, "%s %s, %s: %s is %s", style.yellow("note:"), agent.Title, what, s.Ability, s.Level)
		if s.Note != "" {
			fmt.Fprintf(a.Out, "; %s", s.Note)
		}
		fmt.Fprintln(a.Out)
	}
}
