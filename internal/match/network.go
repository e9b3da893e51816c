package match

import (
	"net/url"
	"slices"
	"strings"
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
		certainty := s.network(wild)
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

var (
	// speaks are programs that speak to the network whatever they are told.
	speaks = wordSet(`ansible ansible-playbook aria2c aws axel az chromium cloudflared conda curl curlie dhclient dig doggo drill duplicity elinks
		fetch firefox flyctl ftp gcloud gh glab google-chrome gsutil helm heroku host http https httpie kubectl lftp links lynx mail mailx
		mosh msmtp mtr mutt nc ncat net netcat netlify ngrok nmap nslookup pftp ping ping6 rclone rdesktop rsh rlogin s3cmd scp
		sendmail sftp smbclient snap socat ssh ssh-copy-id ssh-keyscan sshfs sshpass svn swaks tailscale tcpdump telnet tftp tnftp traceroute tracepath
		twine autossh croc finger grpcurl iperf3 iwr irm invoke-webrequest invoke-restmethod kafkacat kcat magic-wormhole masscan mosquitto_pub mosquitto_sub nix-env nix-shell openvpn wg-quick wormhole
		ab azcopy bore chisel curlftpfs davfs2 delv fping frpc gobuster hey hping3 httperf hydra kdig ldapmodify nats ncftp nikto nuclei oci plink pscp psftp pssh pdsh rpcinfo rtorrent s3fs s5cmd showmount siege smbget snmpget snmpwalk sqlmap stunnel tcping transmission-cli wrk xfreerdp zerotier-cli ntpdate sntp
		vercel vncviewer w3m websocat wget wget2 whois wrangler wscat xh youtube-dl yt-dlp zmap`)
	// wordsToo are names that are words as well: behind an unknown program they
	// say nothing.
	wordsToo = wordSet("fetch host http https links mail net go git snap open az bore chisel fetch finger hey hydra irm nats oci q siege wormhole")
	// speaksFor are programs that speak to the network for some subcommands.
	speaksFor = map[string]*wordList{
		"apk": wordSet("add update upgrade fetch"), "apt": installs, "apt-get": installs, "aptitude": installs,
		"brew": wordSet("install upgrade update fetch tap reinstall search bundle"), "bun": wordSet("install i add update x create publish upgrade"),
		"bundle": wordSet("install update add"), "bzr": wordSet("push pull branch checkout"),
		"cargo": wordSet("add install update fetch publish search login yank vendor generate-lockfile owner"),
		"choco": wordSet("install upgrade"), "composer": wordSet("install update require create-project global"),
		"dnf": installs, "docker": wordSet("pull push login build buildx run search compose create"), "dotnet": wordSet("restore add publish nuget tool"),
		"flatpak": wordSet("install update"), "gem": wordSet("install update push fetch"),
		"git": wordSet("clone fetch pull push ls-remote submodule send-email request-pull fetch-pack send-pack http-fetch http-push daemon svn p4 lfs"),
		"go":  wordSet("get install"), "hg": wordSet("clone pull push incoming outgoing"), "mvn": wordSet("deploy install"),
		"npm":   wordSet("install i in ci add update up upgrade publish audit login adduser view info show search outdated exec x create init unpublish dist-tag access ping whoami owner deprecate token org team isntall install-test it rebuild pack-remote"),
		"nuget": wordSet("install restore push"), "openssl": wordSet("s_client s_time ocsp s_server"), "pacman": wordSet("-S -Sy -Syu -Syyu -U"),
		"pip": wordSet("install download search wheel index"), "pip3": wordSet("install download search wheel index"), "pipx": wordSet("install run upgrade inject upgrade-all"),
		"pnpm":   wordSet("install i add update up publish dlx audit create fetch outdated"),
		"podman": wordSet("pull push login build run search"), "poetry": wordSet("install add update publish lock self"), "rustup": wordSet("update install toolchain target component self default"),
		"skopeo": wordSet("copy inspect sync"), "terraform": wordSet("init apply plan destroy login get import refresh"), "uv": wordSet("add sync pip tool lock publish run"),
		"vagrant": wordSet("up box init"), "yarn": wordSet("install add up upgrade publish dlx npm create audit global outdated"), "yum": installs, "zypper": installs,
		"getent": wordSet("hosts ahosts ahostsv4 ahostsv6"), "gpg": wordSet("--recv-keys --send-keys --refresh-keys --search-keys --keyserver --locate-keys --locate-external-keys --fetch-keys"), "gpg2": wordSet("--recv-keys --send-keys --refresh-keys --search-keys --keyserver --fetch-keys"),
		"adb": wordSet("connect"), "doctl": wordSet("compute auth apps databases kubernetes registry projects"),
		"docker-compose": wordSet("pull push build up"), "nix": wordSet("build run shell develop flake profile"), "deno": wordSet("add install cache upgrade publish"),
	}
	installs = wordSet("install update upgrade dist-upgrade full-upgrade download source build-dep makecache check-update distro-sync reinstall refresh in up dup")
	// languages are interpreters, whose code may open a connection.
	languages = []string{"python", "perl", "ruby", "node", "nodejs", "php", "lua", "deno", "bun", "osascript", "tclsh", "awk", "gawk", "mawk", "cmd", "pwsh", "powershell", "java", "jshell", "groovy", "r", "rscript", "julia", "elixir", "ghci", "swift", "go", "ts-node", "tsx"}
	// netCode are parts of code that opens one.
	netCode = []string{"urllib", "requests", "http.client", "httplib", "httpx", "aiohttp", "socket", "fetch(", "axios", "net/http", "lwp", "net::", "open-uri",
		"xmlhttprequest", "smtplib", "ftplib", "http.get", "https.get", "require('http", `require("http`, "'net'", `"net"`, "node:http", "node:net", "'https'", `"https"`, "http.server", "http::tiny", "telnetlib", "paramiko",
		"webclient", "invoke-webrequest", "invoke-restmethod", "iwr ", "irm ", "file_get_contents('http", `file_get_contents("http`, "curl_", "fsockopen", "tcpsocket", "/inet/", "urlopen", "dgram", "websocket", "xmlrpc", "nntplib", "poplib", "imaplib", "ssl.", "http.request", "https.request", "tls.connect", "urlretrieve"}
	// urlSchemes begin addresses on the network.
	urlSchemes = []string{"http://", "https://", "ftp://", "ftps://", "sftp://", "ssh://", "ws://", "wss://", "git://", "rsync://", "tcp://", "udp://", "smb://", "ldap://", "telnet://", "s3://", "gs://", "smtp://", "imap://", "mqtt://", "redis://", "postgres://", "postgresql://", "mysql://", "mongodb://"}
)

// network says how certain it is that a command speaks to the network. wild
// keeps which names with wild parts may be of a program that does.
func (s *started) network(wild map[string]bool) Certainty {
	name, args := s.program(), s.args()
	if slices.ContainsFunc(s.words, opensSocket) && !inert.has(name) && !builders.has(name) {
		return Sure
	}
	switch {
	case s.variant:
		return No
	case !isPlain(name):
		return s.wildNetwork(name, wild)
	case name == "curl" && staysHere(args), (name == "rsync" || name == "scp") && staysLocal(args):
		return No
	case speaks.has(name), name == "rsync":
		if s.suffix && s.how == may && (len(args) == 0 || wordsToo.has(name)) {
			return No
		}
		if len(args) == 1 && (args[0] == "--version" || args[0] == "--help" || args[0] == "-V" || args[0] == "version") {
			return No
		}
		if slices.Contains(staysFor[name], firstWord(args)) {
			return No
		}
		return Sure
	case name == "mount" && slices.ContainsFunc(args, isRemoteMount), (name == "deno" || name == "bun") && slices.ContainsFunc(args, hasURL),
		(name == "restic" || name == "borg" || name == "duplicity") && slices.ContainsFunc(args, isRemoteRepository):
		return Sure
	case name == "npx" || name == "uvx" || name == "bunx" || name == "pnpx": // unless it is installed here
		return Suspected
	}
	if subs, ok := speaksFor[name]; ok {
		if certainty := s.subcommandNetwork(name, subs); certainty > No || name != "deno" && name != "bun" {
			return certainty
		}
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

// isRemoteMount recognises a file system of another machine, by its kind or its name.
func isRemoteMount(w string) bool {
	return slices.Contains([]string{"nfs", "nfs4", "cifs", "smbfs", "smb3", "davfs", "ceph", "glusterfs", "fuse.sshfs"}, w) || strings.Contains(w, ":/") || strings.HasPrefix(w, "//")
}

// isRemoteRepository recognises where a backup goes: sftp:host:/dir, s3:…, host:dir.
func isRemoteRepository(w string) bool {
	return strings.Contains(strings.TrimPrefix(w, "-"), ":") && !strings.HasPrefix(w, "/") && !strings.HasPrefix(w, ".")
}

// staysFor are subcommands for which a program of speaks stays here.
var staysFor = map[string][]string{
	"kubectl": {"config", "kustomize", "completion", "help"}, "helm": {"template", "lint", "create", "package", "help", "env"},
	"aws": {"configure", "help"}, "gcloud": {"config", "info", "help"}, "az": {"config", "help"}, "gh": {"config", "help", "alias", "completion"},
	"net": {"user", "start", "stop", "localgroup"},
}

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

func (s *started) subcommandNetwork(name string, subs *wordList) Certainty {
	args := s.args()
	for i, a := range args {
		if subs.has(a) {
			if name == "git" && a == "submodule" && !slices.Contains(args, "update") && !slices.Contains(args, "add") {
				return No
			}
			if name == "docker" && a == "compose" && !slices.ContainsFunc(args, func(w string) bool { return w == "pull" || w == "push" || w == "build" || w == "up" }) {
				return No
			}
			return Sure
		}
		if isOption(a) || i > 0 && isOption(args[i-1]) {
			continue
		}
		switch {
		case name == "git" && a == "remote" && i+1 < len(args) && (args[i+1] == "update" || args[i+1] == "show" || args[i+1] == "prune" || args[i+1] == "set-head"):
			return Sure
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
		case name == "yarn" && a == "":
			return Sure
		}
		break
	}
	if name == "yarn" && len(args) == 0 {
		return Sure
	}
	return No
}

var databases = wordSet("psql mysql mariadb mongo mongosh redis-cli sqlcmd sqlplus cqlsh influx clickhouse-client mysqldump pg_dump pg_restore mongodump")

// databaseNetwork: a client of a database speaks to the network where it is
// given a host.
func (s *started) databaseNetwork() Certainty {
	for i, a := range s.args() {
		host := ""
		switch {
		case (a == "-h" || a == "--host") && i+1 < len(s.args()):
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
				if len(args) > i+2 && speaksFor["pip"].has(args[i+2]) {
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
		if !strings.ContainsAny(low, " (;\"'$") && !strings.HasPrefix(low, "-m") && !strings.HasPrefix(low, "-r") {
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

func hasURL(w string) bool {
	if !strings.Contains(w, "://") {
		return false
	}
	low := strings.ToLower(w)
	return slices.ContainsFunc(urlSchemes, func(scheme string) bool { return strings.Contains(low, scheme) })
}

var (
	loopbackHosts = wordSet("localhost 127.0.0.1 ::1")
	// curlFlags and curlOptions cannot lead to another host, without and with a
	// value.
	curlFlags   = wordSet("-f -s -S -i -I -k -v -q -L -sS -fsS -fsSL -sSL -sL -sf --fail --silent --show-error --include --head --location --verbose --quiet")
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
