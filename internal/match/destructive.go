package match

import (
	"slices"
	"strings"
)

// Destructive reports whether the call would lose data that cannot be restored: a
// system, a home directory, the workspace, a disk, a protected branch, a
// database. Sure is what is never meant; Suspected is what only a person can
// judge: `rm -rf "$DIR"/*`, git reset --hard, such a command as text in
// another one.
func Destructive(c *Call) Decision {
	best := Decision{By: "nothing is lost for good"}
	for _, l := range c.lines() {
		d := destruction{line: l, call: c}
		d.judge()
		if d.best.Certainty > best.Certainty {
			best = d.best
		}
	}
	return best
}

// destruction judges one line.
type destruction struct {
	line *line
	call *Call
	best Decision
	now  *started
	work int              // words that were judged
	seen map[string]place // what words name
}

// maxJudged bounds how many words of a line are judged, words that stand in
// several commands each time. maxPlaced bounds how many places they may name.
const (
	maxJudged = 1 << 16
	maxPlaced = 1 << 12
)

// danger says how bad it is to lose what a word names.
func (d *destruction) danger(word string) place {
	if p, ok := d.seen[word]; ok {
		return p
	}
	if d.work += maxJudged / maxPlaced; d.work > maxJudged {
		return place{harm: doubtful, what: "one of too many words to be judged"}
	}
	p := d.line.danger(word, d.call)
	if d.seen == nil {
		d.seen = map[string]place{}
	}
	d.seen[word] = p
	return p
}

// verdict takes down what a command would do.
func (d *destruction) verdict(h harm, what string) {
	certainty := No
	switch {
	case h == harmless:
		return
	case d.now != nil && d.now.how == mentioned:
		if h == fatal && (!d.now.said || d.line.keeps() || d.line.substitutes) {
			certainty = Suspected
			what += " (unless that is only text here)"
		}
	case h == doubtful, d.now.how == may:
		certainty = Suspected
	default:
		certainty = Sure
	}
	if certainty <= d.best.Certainty {
		return
	}
	if d.now != nil {
		what = by(d.now.text, d.now.via, d.line.text) + " " + what
	}
	d.best = Decision{true, certainty, what}
}

func (d *destruction) judge() {
	for _, f := range d.line.files {
		if !f.write || f.how == mentioned {
			continue
		}
		d.now = &started{text: "> " + f.path, how: f.how}
		if isDisk(f.path) {
			d.verdict(fatal, "would overwrite the disk "+excerpt(shown(f.path)))
		} else if isPlain(f.path) && d.danger(f.path).system {
			d.verdict(doubtful, "would overwrite a file of the system")
		}
	}
	for i := range d.line.started {
		d.now = &d.line.started[i]
		if judges(d.now.program()) {
			d.work += len(d.now.words)
		}
		if d.work > maxJudged {
			if d.now.how > mentioned {
				d.verdict(doubtful, "has too many words to be judged")
			}
			continue
		}
		if !d.now.variant {
			d.command()
		}
		if d.best.Certainty == Sure {
			return
		}
	}
	d.now = nil
	if d.line.unread != "" {
		d.verdict(doubtful, lineText(d.line.text)+" "+d.line.unread)
	}
}

// looked are the programs whose words are looked at one by one.
var looked = wordSet(`rm find chmod chown chgrp chattr setfacl icacls attrib mv cp tee shred truncate install ln sponge unlink rmdir rename prename
	dd dcfldd ddrescue rsync git curl wget kill pkill killall diskutil sqlite3 sqlite duckdb bq skill sed perl ed ex patch tar zip 7z 7za rimraf del-cli trash trash-put gio`)

func judges(name string) bool {
	name = kindOf(name)
	return looked.has(name) || !isPlain(name) || erasers.has(name) || databases.has(name) || losing()[name] != nil || isLanguage(name) || strings.HasPrefix(name, "mkfs")
}

// command judges one command.
func (d *destruction) command() {
	s := d.now
	name, args := kindOf(s.program()), s.args()
	switch name {
	case "rm":
		d.remove(args, false)
	case "rimraf", "del-cli", "trash", "trash-put":
		d.remove(args, true)
	case "gio":
		if len(args) > 0 && (args[0] == "trash" || args[0] == "remove") {
			d.remove(args, true)
		}
	case "tar", "zip", "7z", "7za":
		d.archive(args)
	case "find":
		d.find(args)
	case "chmod", "chown", "chgrp", "chattr", "setfacl", "icacls", "attrib":
		d.mode(name, args)
	case "mv", "cp", "tee", "shred", "truncate", "install", "ln", "sponge", "unlink", "rmdir", "rename", "prename":
		d.overwrite(name, args)
	case "dd", "dcfldd", "ddrescue":
		d.copyDisk(name, args)
	case "sed", "perl", "ed", "ex", "patch":
		d.edit(name, args)
	case "rsync":
		d.mirror(args)
	case "curl", "wget":
		d.edit(name, args)
		d.other(name, args)
	case "git":
		d.git(args)
	case "reboot", "shutdown", "halt", "poweroff", "telinit":
		if s.how == does {
			d.verdict(doubtful, "stops the machine")
		}
	case "kill", "skill", "pkill", "killall", "killall5":
		d.kill(name, args)
	case forkBombName, strings.TrimSuffix(forkBombName, "/"):
		d.verdict(fatal, "is a fork bomb: it starts itself twice, for ever")
	default:
		d.other(name, args)
	}
	d.code(name, args)
}

func (d *destruction) other(name string, args []string) {
	switch {
	case strings.HasPrefix(name, "mkfs"), strings.HasPrefix(name, "newfs"), erasers.has(name):
		d.erase(name, args)
	case name == "diskutil" && len(args) > 0:
		for _, verb := range []string{"erase", "partition", "zero", "secureerase", "reformat", "apfs"} {
			if strings.HasPrefix(strings.ToLower(args[0]), verb) {
				d.verdict(fatal, "erases a disk")
			}
		}
	case !isPlain(name):
		d.unknownProgram(name, args)
	case databases.has(name) || name == "sqlite3" || name == "sqlite" || name == "duckdb" || name == "bq":
		d.database(args)
		d.cloud(name, args)
	default:
		d.cloud(name, args)
	}
}

// unknownProgram judges a command whose name is only partly known.
func (d *destruction) unknownProgram(name string, args []string) {
	if isUnknown(name) && d.now.suffix {
		return
	}
	g := compileGlob("rm", false)
	if g.meets(name, false) {
		held := d.now.how
		copied := *d.now
		copied.how = min(held, may)
		d.now = &copied
		d.remove(args, false)
		return
	}
	if slices.ContainsFunc(args, isDisk) && slices.ContainsFunc(eraserGlobs(), func(g glob) bool { return g.meets(name, false) }) {
		d.verdict(doubtful, "may erase a disk")
	}
}

// archive judges a packer that removes what it has packed, or writes onto a disk.
func (d *destruction) archive(args []string) {
	removes := slices.ContainsFunc(args, func(w string) bool {
		return len(w) > 4 && strings.HasPrefix("--remove-files", w) || w == "-sdel" || w == "--move" || isOption(w) && w[1] != '-' && strings.Contains(w, "m") && d.now.program() == "zip"
	})
	for _, w := range args {
		if !removes && isDisk(w) && strings.Contains(args[0], "c") {
			d.verdict(doubtful, "would write an archive onto "+excerpt(shown(w)))
		}
		if p := d.danger(w); removes && !isOption(w) {
			d.verdict(p.harm, "would pack and delete "+describe(w, p))
		}
	}
}

// remove judges rm, and programs that delete directories without an option.
func (d *destruction) remove(args []string, recursive bool) {
	options, targets := true, 0
	for _, w := range args {
		if w == "--" {
			break
		}
		low := strings.ToLower(w)
		switch {
		case len(w) > 4 && strings.HasPrefix("--no-preserve-root", low):
			d.verdict(fatal, "deletes / itself")
		case len(w) > 2 && strings.HasPrefix("--recursive", low), isOption(w) && w[1] != '-' && strings.Contains(low, "r"):
			recursive = true
		}
	}
	for _, w := range args {
		if options && isOption(w) {
			options = w != "--"
			continue
		}
		targets++
		p := d.danger(w)
		switch {
		case recursive:
			d.verdict(p.harm, "would delete "+describe(w, p))
		case p.harm == fatal, p.harm > harmless && !isPlain(w) && !isUnknown(w), isDisk(w):
			d.verdict(doubtful, "would delete "+describe(w, p))
		case isPlain(w) && (p.system || p.kind == ofHome && p.harm > harmless):
			d.verdict(doubtful, "would delete a file that the system or its owner needs")
		}
	}
	runner, inCode := strings.CutPrefix(d.now.via, "perhaps run by ")
	if recursive && targets == 0 && (d.now.how == does || d.now.how == may && inCode && isLanguage(runner)) {
		d.verdict(doubtful, "takes its targets from elsewhere")
	}
}

func describe(w string, p place) string {
	if p.what == "" {
		return excerpt(shown(w))
	}
	return excerpt(shown(w)) + ", " + p.what
}

// deleters are programs that delete what find hands to them, or its content.
var deleters = wordSet("rm shred unlink srm wipe rmdir truncate trash trash-put")

// isCopier reports whether a program copies or moves files, and isNothing whether a word names a file that has no content.
func isCopier(word string) bool {
	return slices.Contains([]string{"cp", "mv", "dd", "install", "ln"}, programName(word))
}
func isNothing(word string) bool {
	return slices.Contains([]string{"/dev/null", "/dev/zero"}, strings.TrimPrefix(word, "if="))
}

// find judges find with an action that deletes. With a test, a start within
// the workspace is ordinary cleaning.
func (d *destruction) find(args []string) {
	deletes := false
	for i, a := range args {
		if a == "-delete" || (a == "-exec" || a == "-execdir" || a == "-ok" || a == "-okdir") && i+1 < len(args) &&
			(deleters.has(programName(args[i+1])) || isCopier(args[i+1]) && slices.ContainsFunc(args[i:], isNothing)) {
			deletes = true
		}
	}
	if !deletes {
		return
	}
	starts, filtered := findStarts(args)
	for _, w := range starts {
		p := d.danger(w)
		if filtered {
			if p.harm == fatal && p.kind != ofHere {
				p.harm = doubtful
			} else {
				p.harm = harmless
			}
		}
		d.verdict(p.harm, "would delete in "+describe(w, p))
	}
}

// mode judges a change of all files' modes or owners.
func (d *destruction) mode(name string, args []string) {
	recursive := slices.ContainsFunc(args, func(w string) bool {
		return isOption(w) && w[1] != '-' && strings.Contains(w, "R") || strings.HasPrefix(w, "--rec")
	})
	program := d.now.program()
	for i := range args {
		recursive = recursive || isTreeSwitch(program, args, i)
	}
	for i, w := range args {
		if windowsSwitch(program, args, i) != "" {
			continue
		}
		p := d.danger(w)
		if !recursive && name == "chmod" && p.system && slices.ContainsFunc(args, takesAway) {
			d.verdict(doubtful, "would take the permissions of a file of the system")
		}
		if (name == "chown" || name == "chgrp") && p.system && p.harm < fatal {
			d.verdict(doubtful, "would change who owns a file of the system")
		}
		if isOption(w) || p.harm != fatal || p.kind == ofHere {
			continue
		}
		switch {
		case recursive && p.kind == ofSystem && isPlain(w):
			d.verdict(fatal, "would change every file of "+describe(w, p))
		case recursive || p.kind == ofSystem && name != "chattr":
			d.verdict(doubtful, "would change "+describe(w, p))
		}
	}
}

// takesAway recognises a mode that takes permissions: 000, a-x, -x.
func takesAway(mode string) bool {
	who, taken, ok := strings.Cut(mode, "-")
	return ok && strings.Trim(who, "ugoa") == "" && taken != "" && strings.Trim(taken, "rwxst") == "" || mode != "" && strings.Trim(mode, "0") == ""
}

// edit judges programs that change a file in place.
func (d *destruction) edit(name string, args []string) {
	use := usesOf(name, args)
	for i, w := range args {
		if use.role(i, len(args))&(asWrite|asGuess) == asWrite && isPlain(w) && d.danger(w).system {
			d.verdict(doubtful, "would change a file of the system")
		}
	}
}

// overwrite judges what is written or moved away.
func (d *destruction) overwrite(name string, args []string) {
	last := len(args) - 1
	for last > 0 && isOption(args[last]) {
		last--
	}
	recursive := slices.ContainsFunc(args, func(w string) bool { return isOption(w) && w[1] != '-' && strings.ContainsAny(w, "rR") })
	for i, w := range args {
		if isOption(w) {
			continue
		}
		target := i == last || name != "cp" && name != "install" && name != "ln"
		p := d.danger(w)
		switch {
		case target && isDisk(w) && name != "mv":
			d.verdict(fatal, "would overwrite the disk "+excerpt(shown(w)))
		case name == "mv" && i == last && isDisk(w):
			d.verdict(fatal, "would overwrite the disk "+excerpt(shown(w)))
		case name == "mv" && i < last && p.harm == fatal && (p.kind == ofSystem || p.kind == ofHome):
			d.verdict(fatal, "would move away "+describe(w, p))
		case name == "mv" && i < last && p.harm == doubtful && (p.kind == ofSystem || slices.Contains(args, "/dev/null")),
			(name == "rename" || name == "prename") && p.harm > harmless && p.kind != ofHere:
			d.verdict(doubtful, "would move away "+describe(w, p))
		case name == "shred" && (p.harm > harmless || recursive):
			d.verdict(doubtful, "would destroy "+describe(w, p))
		case target && name != "rmdir" && isPlain(w) && p.system && !(name == "install" && !slices.Contains(args, "/dev/null") || name == "cp" && strings.HasSuffix(w, "/")):
			d.verdict(doubtful, "would overwrite a file of the system")
		}
	}
}

// kill judges signals to every process.
func (d *destruction) kill(name string, args []string) {
	if name == "killall5" {
		d.verdict(fatal, "ends every process")
	}
	if name == "kill" {
		d.signal(args)
		return
	}
	for i, w := range args {
		switch {
		case isOption(w) && i+1 < len(args) && (strings.HasSuffix(w, "u") || strings.HasSuffix(w, "U") || w == "--uid" || w == "--euid" || w == "--user"):
			d.verdict(doubtful, "ends every process of a user")
		case (name == "pkill" || name == "killall") && (w == "." || w == ".*" || w == "" || w == "init" || w == "systemd" || w == "launchd"):
			d.verdict(doubtful, "ends processes that it does not name")
		case name == "pkill" && (w == "-v" || w == "--inverse"):
			d.verdict(doubtful, "ends processes that it does not name")
		}
	}
}

// signal judges the processes that kill sends a signal to: 1 is the first of them, which takes all others along in a
// container, and -1 is every one, but as the first word a signal.
func (d *destruction) signal(args []string) {
	for i, w := range args {
		switch {
		case w == "-l" || w == "-L" || w == "--list" || w == "--table",
			i == 0 && w == "-0" && !slices.ContainsFunc(args[1:], func(w string) bool { return isOption(w) && w != "-1" && w != "--" }): // no other signal
			return // it lists the signals, or asks whether a process is there
		case i > 0 && slices.Contains([]string{"-s", "-n", "-q", "--signal", "--queue", "--timeout"}, args[i-1]):
		case w == "1", w == "-1" && i > 0:
			d.verdict(fatal, "ends every process")
		}
	}
}
