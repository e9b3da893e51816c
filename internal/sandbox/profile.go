package sandbox

import (
	"fmt"
	"path/filepath"
	"strings"
)

// macReadable are what programs of macOS need to run, and which hold no secrets of a user.
var macReadable = []string{"/usr", "/bin", "/sbin", "/System", "/Library", "/opt", "/dev", "/private/etc", "/private/var/db/dyld",
	"/private/var/db/timezone", "/private/var/select", "/Applications/Xcode.app", "/nix/store"}

// macServices would do for a hook what it may not do itself: start programs, open files, hand out keys.
var macServices = []string{"com.apple.coreservices.launchservicesd", "com.apple.coreservices.quarantine-resolver", "com.apple.SecurityServer",
	"com.apple.securityd.xpc", "com.apple.pasteboard.1", "com.apple.lsd.open", "com.apple.lsd.mapdb", "com.apple.xpc.smd"}

// profile is the policy in the language of macOS's sandbox-exec, where the last rule that fits counts. own is the
// run's own directory.
func (p *Policy) profile(own string) string {
	var b strings.Builder
	rule := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	rule("(version 1)\n(allow default)")
	rule("(deny signal)\n(allow signal (target same-sandbox))")
	rule("(deny job-creation lsopen appleevent-send)")
	for _, name := range macServices {
		rule("(deny mach-lookup (global-name %s))", profileText(name))
	}
	rule("(deny network-outbound (remote unix-socket))")
	if p.offline() {
		rule("(deny network*)")
	}
	for _, port := range p.Ports {
		rule("(allow network-outbound (remote tcp \"*:%d\") (literal \"/private/var/run/mDNSResponder\"))", port)
	}
	if p.files() {
		p.profileFiles(rule, own)
	}
	return b.String()
}

// profileFiles are the rules about files.
func (p *Policy) profileFiles(rule func(string, ...any), own string) {
	rule("(deny file-write*)")
	rule("(allow file-write-data (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/dtracehelper\"))")
	readable := p.Read
	if p.Mode == Strict {
		rule("(deny file-read-data)\n(allow file-read-data (literal \"/\"))")
		readable = append(append([]string{}, macReadable...), readable...)
	}
	for _, path := range real(readable) {
		rule("(allow file-read-data (subpath %s))", profileText(path))
	}
	for _, path := range real(append([]string{own}, p.Write...)) {
		rule("(allow file-read-data file-write* (subpath %s))", profileText(path))
		if p.Serve {
			rule("(allow network-bind network-inbound (local unix-socket (subpath %s)))", profileText(path))
		}
	}
	if p.Mode == Strict { // what a file is to others
		rule("(deny file-write-mode file-write-owner file-write-flags file-write-times file-write-setugid file-write-acl)")
	}
	for _, path := range real(p.Deny) {
		rule("(deny file-read-data (subpath %s))", profileText(path))
	}
}

// profileText is a string of the language.
func profileText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// real resolves links: systems know files, and not the names that lead to them. What is not there is left out, as
// it can neither be allowed nor read.
func real(paths []string) []string {
	list := make([]string, 0, len(paths))
	for _, path := range paths {
		if path, err := filepath.EvalSymlinks(path); err == nil {
			list = append(list, path)
		}
	}
	return list
}
