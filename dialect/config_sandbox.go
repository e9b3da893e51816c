package dialect

import "github.com/tenterhook/tenterhook/hook"

// sandboxScopes are the scopes whose hooks come from files.
var sandboxScopes = []string{hook.ScopeManaged.String(), hook.ScopeUser.String(), hook.ScopeProject.String(),
	hook.ScopeLocal.String(), hook.ScopePlugin.String(), hook.ScopeDir.String()}

// sandboxes reads the sandbox that hooks of a scope get which declare none.
func (e *entry) sandboxes() map[string]hook.SandboxMode {
	table := e.sub("sandbox")
	if table == nil {
		return nil
	}
	table.onlyKeys(sandboxScopes)
	modes := make(map[string]hook.SandboxMode)
	words := make([]string, 0, len(hook.SandboxModes()))
	for _, m := range hook.SandboxModes() {
		words = append(words, string(m))
	}
	for _, scope := range sandboxScopes {
		if word := table.word(scope, words); word != "" {
			modes[scope] = hook.SandboxMode(word)
		} else if table.get(scope) != nil { // who misspells a mode wants one
			modes[scope] = hook.SandboxStrict
		}
	}
	return modes
}
