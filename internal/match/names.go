package match

import (
	"slices"
	"strings"
	"sync"
)

// aliasOf returns the other name of a tool that was renamed, or "". The client
// selects Agent by the matcher Task, and the reverse keeps old payloads
// guarded.
func aliasOf(name string) string {
	switch name {
	case "Task":
		return "Agent"
	case "Agent":
		return "Task"
	}
	return ""
}

// synonyms are programs that take the same words as another.
var synonyms = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"bfs": "find", "srm": "rm", "wipe": "rm", "bsdtar": "tar", "fdfind": "fd", "batcat": "bat", "nodejs": "node", "pip3": "pip", "proxychains4": "proxychains",
		"podman": "docker", "nerdctl": "docker", "finch": "docker", "k": "kubectl", "oc": "kubectl", "kubecolor": "kubectl",
		"tofu": "terraform", "terragrunt": "terraform", "fly": "flyctl", "sls": "serverless", "hub": "git", "remove_directory": "rimraf", "gradlew": "gradle", "mvnw": "mvn", "mongo": "mongosh", "ip6tables": "iptables", "opentofu": "terraform",
		"rd": "rm", "del": "rm", "erase": "rm", "move": "mv", "ren": "mv", "copy": "cp", // of cmd.exe
		"cacls": "icacls", "takeown": "icacls", "set-acl": "icacls",
		"remove-item": "rm", "move-item": "mv", "copy-item": "cp", "clear-content": "truncate", "set-content": "tee", // of PowerShell
	}
})

// gnu are tools that some systems have with a g before the name.
var gnu = wordSet(`awk base64 cat chgrp chmod chown cp cut dd find grep head install ln ls mv readlink realpath rm rmdir sed shred sort split
	stdbuf tac tail tar tee timeout touch truncate unlink xargs`)

// kindOf returns the name that the tables have a program under.
func kindOf(name string) string {
	if kind, ok := synonyms()[name]; ok {
		return kind
	}
	if plain, ok := strings.CutPrefix(name, "g"); ok && gnu.has(plain) {
		return plain
	}
	return name
}

// builtinTools are names by which a slip is recognised: a matcher in another
// case, a permission rule in the wrong place. Nothing is selected by them.
var builtinTools = []string{
	"Agent", "AskUserQuestion", "Bash", "BashOutput", "Edit", "ExitPlanMode", "Glob", "Grep", "KillShell", "LS",
	"MultiEdit", "NotebookEdit", "NotebookRead", "PowerShell", "Read", "Skill", "SlashCommand", "Task",
	"TodoWrite", "WebFetch", "WebSearch", "Write",
}

func isBuiltinTool(name string) bool { return slices.Contains(builtinTools, name) }
