// Package match decides which hooks an event concerns: by the hook's matcher
// and by its `if` rule.
//
// It is the select stage of the pipeline
//
//	discover → parse → trust, eligibility → register | select → dispatch → merge
//
// and is imported by the registry, which compiles each hook's [Matcher] and
// [Rule] once at load and asks them at every event. It imports no other
// package of this project.
//
// A [Matcher] selects names (tools, sources, reasons): every name, a list of
// exact names, or a JavaScript regular expression. A [Rule] is one permission
// rule such as Bash(git push *) that is held against the call itself; shell
// commands are parsed, so that the rule sees every command in
//
//	npm test && git push
//
// Two principles decide all doubtful cases. A pattern that cannot work is a
// [Problem] for the operator to see, never a failed load. And a hook that
// guards something rather runs once too often: text that cannot be parsed, a
// construct whose commands cannot be read off it, a command that is run by
// another one (sudo, timeout, bash -c): the rule matches, and [Decision.By]
// says why.
//
// Nothing here starts a process or keeps state between calls. Of files it reads
// links, and the names in a directory that a pattern of the shell stands for.
// The one goroutine is regexp2's clock: it starts with the first match of an
// expression that Go's own engine cannot run (lookaround, back-references) and
// ends by itself about a second after the last one.
package match
