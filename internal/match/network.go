package match

import (
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Network reports whether the call starts a command that speaks to the
// network, or fetches from it by itself. Suspected is what may: code in
// another language that names such a module, an unknown program that is handed
// such a command or a URL. A plain fetch by curl from this machine itself does
// not count, unless it sends a file.
func Network(c *Call) Decision {
	best := Decision{By: "nothing speaks to the network"}
	if c.ToolName == "WebFetch" || c.ToolName == "WebSearch" {
		texts, _ := c.texts("url")
		for _, text := range texts {
			if _, here := loopback(text); !here {
				return sure("fetches from " + excerpt(text))
			}
		}
		if len(texts) == 0 {
			return sure(c.ToolName + " speaks to the network")
		}
		return best
	}
	for _, l := range c.lines() {
		if d := networkOf(l); d.Certainty > best.Certainty {
			best = d
		}
	}
	return best
}

func networkOf(l *line) Decision {
	best := Decision{}
	for _, f := range l.files {
		if opensSocket(f.path) && f.how > mentioned {
			return sure("opens " + excerpt(shown(f.path)))
		}
	}
	work, wild := 0, map[string]bool{}
	for i := range l.started {
		s := &l.started[i]
		if s.how == mentioned || s.suffix && best.Certainty > No {
			continue
		}
		if work += len(s.words); work+len(wild)*maxJudged/maxPlaced > maxJudged {
			return suspected(lineText(l.text) + " has too many words to be judged")
		}
		certainty := s.network(l, wild)
		if s.how == may && certainty == Sure {
			certainty = Suspected
		}
		if certainty > best.Certainty {
			best = Decision{true, certainty, by(s.text, s.via, l.text)}
		}
		if certainty == Sure {
			return best
		}
	}
	if best.Certainty == No && l.unread != "" {
		return suspected(lineText(l.text) + " " + l.unread)
	}
	return best
}

func opensSocket(word string) bool {
	return strings.Contains(word, "/dev/tcp/") || strings.Contains(word, "/dev/udp/") || strings.Contains(word, "/inet/")
}

// network says how certain it is that a command speaks to the network. wild
// keeps which names with wild parts may be of a program that does.
func (s *started) network(l *line, wild map[string]bool) Certainty {
	name, args := kindOf(s.program()), s.args()
	if slices.ContainsFunc(s.words, opensSocket) && !inert.has(name) && !builders.has(name) {
		return Sure
	}
	switch {
	case s.variant:
		return No
	case windowsRuns(s.via) && slices.ContainsFunc(args, isShare):
		return Sure
	case !isPlain(name):
		return s.wildNetwork(name, wild)
	case name == "curl" && staysHere(args) && !strings.Contains(strings.ToLower(l.text), "_proxy="), (name == "rsync" || name == "scp") && staysLocal(args):
		return No
	case speaks.has(name), name == "rsync":
		if s.suffix && s.how == may && (len(args) == 0 || wordsToo.has(name)) {
			return No
		}
		if len(args) == 1 && (args[0] == "--version" || args[0] == "--help" || args[0] == "-V" || args[0] == "version") {
			return No
		}
		if slices.Contains(staysFor()[name], firstWord(args)) {
			return No
		}
		return Sure
	case sendsTo(name, args), name == "mount" && slices.ContainsFunc(args, isRemoteMount), (name == "deno" || name == "bun") && slices.ContainsFunc(args, isRemoteModule),
		(name == "restic" || name == "borg" || name == "duplicity") && slices.ContainsFunc(args, isRemoteRepository):
		return Sure
	case name == "npx" || name == "uvx" || name == "bunx" || name == "pnpx":
		if len(args) > 0 && projectTools.has(args[0]) && !fetching(args[1:]) {
			return No // it is installed here, in all likelihood
		}
		return Suspected
	}
	if subs, ok := speaksFor()[name]; ok {
		if certainty := s.subcommandNetwork(name, subs); certainty > No || name != "deno" && name != "bun" {
			return certainty
		}
	}
	if managers.has(name) && fetching(args) && !(s.suffix && wordsToo.has(name)) {
		return Sure
	}
	if (name == "php" || name == "ruby") && slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(w, "-S") && name == "php" || w == "httpd" }) {
		return Sure // their own servers
	}
	if isLanguage(name) {
		return codeNetwork(name, args, s.stdin)
	}
	if databases.has(name) {
		return s.databaseNetwork()
	}
	if s.suffix || inert.has(name) || builders.has(name) || namesOnly.has(name) || patterns.has(name) {
		return No
	}
	for _, w := range args {
		if hasURL(w) {
			return Suspected
		}
	}
	return No
}

// windowsRuns reports whether a shell of Windows runs a command. There a word may be a share: //server/share, with slashes
// for its backslashes.
func windowsRuns(via string) bool {
	shell, ok := strings.CutPrefix(via, "run by ")
	return ok && slices.Contains([]string{"cmd", "powershell", "pwsh"}, shell)
}

func isShare(w string) bool {
	return strings.HasPrefix(w, "//") && len(w) > 2 && w[2] != '.' && w[2] != '?'
}

// isRemoteModule recognises what deno and bun fetch before they run it.
func isRemoteModule(w string) bool {
	return strings.HasPrefix(w, "npm:") || strings.HasPrefix(w, "jsr:") || hasURL(w)
}

// isRemoteMount recognises a file system of another machine, by its kind or its name.
func isRemoteMount(w string) bool {
	return slices.Contains([]string{"nfs", "nfs4", "cifs", "smbfs", "smb3", "davfs", "ceph", "glusterfs", "fuse.sshfs"}, w) || strings.Contains(w, ":/") || strings.HasPrefix(w, "//")
}

// isRemoteRepository recognises where a backup goes: sftp:host:/dir, s3:…, host:dir.
func isRemoteRepository(w string) bool {
	return strings.Contains(strings.TrimPrefix(w, "-"), ":") && !strings.HasPrefix(w, "/") && !strings.HasPrefix(w, ".")
}

// staysFor are subcommands for which a program of speaks stays here.
var staysFor = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"kubectl": {"config", "kustomize", "completion", "help"}, "helm": {"template", "lint", "create", "package", "help", "env"},
		"aws": {"configure", "help"}, "gcloud": {"config", "info", "help"}, "az": {"config", "help"}, "gh": {"config", "help", "alias", "completion"},
		"net": {"user", "start", "stop", "localgroup"},
	}
})

// firstWord returns the first word that is no option.
func firstWord(args []string) string {
	for _, a := range args {
		if !isOption(a) {
			return a
		}
	}
	return ""
}

// wildNetwork judges a program whose name is not known.
func (s *started) wildNetwork(name string, wild map[string]bool) Certainty {
	if s.suffix && isUnknown(name) {
		return No
	}
	if isUnknown(name) {
		if len(s.args()) > 0 {
			return Suspected
		}
		return No
	}
	may, known := wild[name]
	if !known {
		may = maySpeak(name)
		wild[name] = may
	}
	if may {
		return Suspected
	}
	return No
}

// maySpeak reports whether a name with wild parts may be one of speaks.
func maySpeak(name string) bool {
	g := compileGlob(name, false)
	for i, c := range g {
		switch c {
		case wildStar, wildWord, wildWords:
			g[i] = anyText
		case wildChar:
			g[i] = anyChar
		}
	}
	for program := range speaks.all() {
		if g.match(program) {
			return true
		}
	}
	return false
}

// fetching reports whether an option or one of the first two other words of a
// manager says that it fetches.
func fetching(args []string) bool {
	plains := 0
	return slices.ContainsFunc(args, func(w string) bool {
		if !isOption(w) {
			plains++
		}
		return plains < 3 && fetches.has(w)
	})
}

func (s *started) subcommandNetwork(name string, subs *wordList) Certainty {
	args := s.args()
	for i, a := range args {
		if subs.has(a) {
			if a == "submodule" && !slices.Contains(args, "update") && !slices.Contains(args, "add") {
				return No
			}
			if a == "lfs" && !slices.ContainsFunc(args, func(w string) bool { return fetches.has(w) || w == "locks" || w == "lock" || w == "unlock" }) {
				return No
			}
			if name == "uv" && a == "pip" && i+1 < len(args) && pipLocal.has(args[i+1]) {
				return No
			}
			if a == "compose" && !slices.ContainsFunc(args, func(w string) bool { return w == "pull" || w == "push" || w == "build" || w == "up" }) {
				return No
			}
			return Sure
		}
		if isOption(a) || i > 0 && isOption(args[i-1]) {
			continue
		}
		switch {
		case name == "git" && a == "remote" && slices.ContainsFunc(args[i:], func(w string) bool {
			return w == "update" || w == "show" || w == "prune" || w == "set-head" || w == "-f"
		}):
			return Sure
		case name == "git" && a == "subtree" && slices.ContainsFunc(args[i:], func(w string) bool { return w == "pull" || w == "push" || w == "add" }):
			return Sure
		case name == "git" && a == "maintenance" && slices.ContainsFunc(args[i:], func(w string) bool { return w == "start" || strings.Contains(w, "prefetch") }):
			return Sure
		case name == "git" && a == "web--browse" && slices.ContainsFunc(args, hasURL):
			return Suspected
		case name == "git" && a == "archive" && strings.Contains(s.text, "--remote"):
			return Sure
		case name == "go" && a == "mod":
			if i+1 < len(args) && (args[i+1] == "download" || args[i+1] == "tidy" || args[i+1] == "vendor") {
				return Sure
			}
		case name == "go" && a == "run" && slices.ContainsFunc(args, func(w string) bool { return strings.Contains(w, "@") }):
			return Sure
		case name == "go" && a == "list" && slices.ContainsFunc(args, func(w string) bool { return w == "-u" || strings.Contains(w, "@") }):
			return Sure
		}
		break
	}
	if (name == "yarn" || name == "bundle") && firstWord(args) == "" && !slices.Contains(args, "--version") && !slices.Contains(args, "-v") && !slices.Contains(args, "--help") {
		return Sure // install is their default
	}
	if name == "docker" && (slices.Contains(args, "-H") || slices.Contains(args, "--host")) {
		return Suspected
	}
	return No
}

// pipLocal are the commands of uv pip that look at what is installed.
var pipLocal = wordSet("list show freeze check tree uninstall")

// sendsTo reports whether a program that works here is given another machine.
func sendsTo(name string, args []string) bool {
	switch name {
	case "logger":
		return slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(w, "-n") || strings.HasPrefix(w, "--server") })
	case "lp", "lpr", "lpstat":
		return slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(w, "-H") || strings.HasPrefix(w, "-h") })
	}
	return false
}

var databases = wordSet("psql mysql mariadb mongo mongosh redis-cli sqlcmd sqlplus cqlsh influx clickhouse clickhouse-client mysqldump pg_dump pg_restore mongodump")

// databaseNetwork: a client of a database speaks to the network where it is
// given a host.
func (s *started) databaseNetwork() Certainty {
	for i, a := range s.args() {
		host := ""
		switch {
		case s.program() == "cqlsh" && i == 0 && !isOption(a):
			host = a
		case (a == "-h" || a == "--host" || a == "-S") && i+1 < len(s.args()):
			host = s.args()[i+1]
		case strings.HasPrefix(a, "--host="):
			host = a[len("--host="):]
		case strings.HasPrefix(a, "-h") && len(a) > 2:
			host = a[2:]
		case hasURL(a):
			host = a
		}
		if host != "" && !loopbackHosts.has(host) && !strings.HasPrefix(host, "/") {
			return Sure
		}
	}
	return No
}

func isLanguage(name string) bool {
	name = strings.TrimRight(name, "0123456789.")
	return slices.Contains(languages, name)
}

// codeNetwork judges code that an interpreter is given.
func codeNetwork(name string, args []string, stdin string) Certainty {
	for i, a := range args {
		if a == "-m" && i+1 < len(args) && strings.HasPrefix(name, "python") {
			switch m := args[i+1]; m {
			case "http.server", "SimpleHTTPServer", "smtpd", "xmlrpc.server", "urllib.request", "webbrowser", "ensurepip":
				return Sure
			case "pip", "pipx", "uv":
				if len(args) > i+2 && speaksFor()["pip"].has(args[i+2]) {
					return Sure
				}
			}
		}
	}
	for _, text := range append(args[:len(args):len(args)], stdin) {
		low := strings.ToLower(text)
		if hasURL(low) {
			return Suspected
		}
		if !strings.ContainsAny(low, " (;\"'$") && !strings.HasPrefix(low, "-m") && !strings.HasPrefix(low, "-r") && !strings.HasPrefix(low, "+") && !strings.HasPrefix(low, "package-") {
			continue
		}
		for _, part := range netCode {
			if strings.Contains(low, part) {
				return Suspected
			}
		}
	}
	return No
}

// hasURL reports whether a word names something by a URL that is not of this
// machine's files.
func hasURL(w string) bool {
	for {
		scheme, rest, ok := strings.Cut(w, "://")
		if !ok {
			return false
		}
		start := strings.LastIndexFunc(scheme, func(c rune) bool { return !isWordByte(byte(c)) && c != '+' && c != '-' || c > '~' }) + 1
		if scheme = strings.ToLower(scheme[start:]); scheme != "" && !localSchemes.has(scheme) {
			return true
		}
		w = rest
	}
}

var (
	loopbackHosts = wordSet("localhost 127.0.0.1 ::1")
	// curlFlags and curlOptions cannot lead to another host, without and with a
	// value.
	curlFlags   = wordSet("-f -s -S -i -I -k -v -q -sS -fsS -sf --fail --silent --show-error --include --head --verbose --quiet")
	curlOptions = wordSet("-X --request -d --data --json -H --header -o --output -m --max-time -w --write-out")
)

// staysHere reports whether curl is given nothing but URLs of this machine and
// options that are known to lead nowhere else and to send no file.
func staysHere(args []string) bool {
	urls := 0
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case !isPlain(a):
			return false
		case curlOptions.has(a):
			if i++; i < len(args) && (strings.HasPrefix(args[i], "@") || !isPlain(args[i])) {
				return false
			}
		case curlFlags.has(a):
		default:
			if plain, here := loopback(a); !here || !plain {
				return false
			}
			urls++
		}
	}
	return urls > 0
}

// loopback reports whether a URL is of this machine, and whether there is
// nothing unusual in it.
func loopback(text string) (plain, here bool) {
	u, err := url.Parse(strings.ToLower(text))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || strings.ContainsAny(text, "\\{}[]@*? ") && !strings.Contains(text, "[::1]") {
		return false, false
	}
	return true, loopbackHosts.has(u.Hostname())
}

// staysLocal reports whether rsync or scp copies here alone.
func staysLocal(args []string) bool {
	return !slices.ContainsFunc(args, func(w string) bool {
		return strings.Contains(w, ":") || strings.ContainsAny(w, "\x03\x04") || w == "-e" || strings.HasPrefix(w, "--rsh")
	})
}
