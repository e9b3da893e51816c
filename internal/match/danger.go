package match

import (
	"slices"
	"strings"
)

// harm is how bad it is to lose something.
type harm uint8

const (
	harmless harm = iota
	doubtful      // a person has to say
	fatal         // it is never meant
)

// A place is what a path stands for: how bad it is to lose it, and why.
type place struct {
	harm   harm
	kind   placeKind
	what   string
	system bool // it is a file without which a system does not start, or that every login needs
}

type placeKind uint8

const (
	elsewhere placeKind = iota
	ofSystem            // the root, or a directory of the system
	ofHome              // a home directory, or a part of one
	ofHere              // the current directory
)

var (
	// systemDirs are the directories under / without which a machine is lost.
	systemDirs = wordSet("bin boot dev etc home lib lib32 lib64 media mnt nix opt private proc root run sbin srv sys usr var " +
		"applications cores library network system users volumes")
	// systemParts are those of which a part is worth a question.
	systemParts = wordSet("usr boot etc system library bin sbin lib lib64 var srv mnt media volumes")
	// dataDirs hold what services keep, each in a directory of its own.
	dataDirs = wordSet("var/lib var/www var/spool lib/modules usr/lib")
	// stores are services whose data is lost with a part of it, however deep.
	stores = wordSet("postgresql postgres pgsql mysql mariadb mongodb mongo redis etcd couchdb cassandra elasticsearch opensearch clickhouse influxdb neo4j minio vault consul kubelet libvirt")
	// ownDirs below a home hold data that no repository restores.
	ownDirs = wordSet(".aws .config .gnupg .kube .local .ssh desktop documents downloads library pictures music movies videos .password-store")
)

var withoutUnknown = strings.NewReplacer("\x03", "", "\x04", "")

// danger says how bad it is to lose what a word names.
func (l *line) danger(word string, c *Call) place {
	if strings.ContainsAny(word, "\x03\x04") {
		// An unknown part may be empty: rm -rf "$DIR"/*.
		rest := withoutUnknown.Replace(word)
		if rest == "" {
			return place{harm: doubtful, what: "known to the shell only"}
		}
		if p := l.danger(rest, c); p.harm == fatal {
			return place{harm: doubtful, what: "known to the shell only, and " + excerpt(shown(rest)) + " if a part is empty"}
		}
		return place{}
	}
	if strings.HasPrefix(word, "~") { // the shell has replaced what it replaces
		word = "./" + word
	}
	worst := textPlace(word)
	if worst.harm == fatal {
		return worst
	}
	if !onWindows && hasDrive(word) && (len(word) == 2 || word[2] == '/') { // a program of Windows may get it, in WSL
		parts, _ := placeParts(word[2:])
		worst = worst.or(drivePlace(parts))
	}
	for _, name := range l.places(word, homeOf(c)) {
		if strings.HasPrefix(name, wildWordsText) {
			continue
		}
		name = throughProc(name, c.cwd())
		worst = worst.or(rootedPlace(name, c))
		if !isPlain(name) {
			continue
		}
		to, ok := c.resolved(name)
		switch {
		case to != "":
			worst = worst.or(rootedPlace(to, c))
		case !ok && worst.harm == harmless:
			worst.harm, worst.what = doubtful, "one of too many paths to be looked at"
		}
	}
	for _, name := range l.behindLinks(word, homeOf(c)) {
		if !isPlain(name) {
			continue
		}
		if to, _ := c.resolved(name); to != "" {
			worst = worst.or(rootedPlace(to, c))
		}
	}
	return worst
}

// or returns the worse of two places that a word may name.
func (p place) or(other place) place {
	other.system, p.system = p.system || other.system, p.system || other.system
	if other.harm > p.harm {
		return other
	}
	return p
}

// parts cleans a path into its parts; up says that it leads above its start.
func placeParts(name string) (parts []string, up bool) {
	for part := range strings.SplitSeq(strings.ToLower(name), "/") {
		switch {
		case part == "" || part == ".":
		case part != "..":
			if parts == nil {
				parts = make([]string, 0, 8)
			}
			parts = append(parts, part)
		case len(parts) > 0:
			parts = parts[:len(parts)-1]
		default:
			up = true
		}
	}
	return parts, up
}

// textPlace judges a relative path by its text alone.
func textPlace(word string) place {
	if word == "" || strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~") {
		return place{}
	}
	parts, up := placeParts(word)
	all := true
	for _, part := range parts {
		all = all && everything(part)
	}
	switch {
	case all && up:
		return place{harm: fatal, what: "everything in a directory above"}
	case all:
		return place{harm: fatal, kind: ofHere, what: "everything in the current directory"}
	case !up && parts[0] == ".git" && (len(parts) == 1 || len(parts) == 2 && (parts[1] == "objects" || parts[1] == "refs" || everything(parts[1]))):
		return place{harm: doubtful, kind: ofHere, what: "the repository's history"}
	}
	return place{}
}

// rootedPlace judges an absolute path.
func rootedPlace(name string, c *Call) place {
	parts, _ := placeParts(name)
	p := lostPlace(parts, c)
	p.system = isSystemFile(parts)
	return p
}

// lostPlace judges the loss of all that a path names. A directory above the current one may be a home directory too:
// the worse counts.
func lostPlace(parts []string, c *Call) place {
	p := ownedPlace(parts, c)
	for _, dir := range []string{c.cwd(), c.workspace()} {
		p = p.or(abovePlace(parts, dir))
	}
	return p
}

// ownedPlace judges a path by whose it is: the caller's, the system's.
func ownedPlace(parts []string, c *Call) place {
	if len(parts) == 0 {
		return place{harm: fatal, kind: ofSystem, what: "the whole file system"}
	}
	home, _ := placeParts(homeOf(c))
	if len(parts) >= len(home) && len(home) > 0 && slices.Equal(parts[:len(home)], home) {
		return homePlace(parts[len(home):])
	}
	if driveOf("/"+parts[0]) != "" {
		return drivePlace(parts[1:])
	}
	at := func(i int) string {
		if i < len(parts) {
			return parts[i]
		}
		return ""
	}
	switch {
	case everything(at(0)):
		return place{harm: fatal, kind: ofSystem, what: "the whole file system"}
	case at(0) == "home" || at(0) == "users":
		if len(parts) == 1 || everything(at(1)) {
			return place{harm: fatal, kind: ofSystem, what: "all home directories"}
		}
		return homePlace(parts[2:])
	case at(0) == "root" && len(parts) > 1 && !everything(at(1)):
		return homePlace(parts[1:])
	case len(parts) > 2 && !everything(at(1)) && dataDirs.has(at(0)+"/"+at(1)) && at(2) != "apt",
		at(0) == "mnt" && len(at(1)) == 1 && len(parts) > 2: // a drive of Windows
		if len(parts) == 3 || len(parts) == 4 && everything(at(3)) || at(0) == "var" && stores.has(at(2)) {
			return place{harm: doubtful, kind: ofSystem, what: "data of the system"}
		}
		return place{}
	case len(parts) > 2, len(parts) == 2 && !everything(at(1)):
		if len(parts) == 2 && systemParts.has(at(0)) {
			return place{harm: doubtful, kind: ofSystem, what: "a part of the system"}
		}
		return place{}
	case systemDirs.has(at(0)), strings.ContainsAny(at(0), wilds):
		return place{harm: fatal, kind: ofSystem, what: "a directory of the system"}
	}
	return place{harm: doubtful, kind: ofSystem, what: "a directory directly under /"}
}

// abovePlace recognises a directory that the call is made from, and those above.
func abovePlace(parts []string, dir string) place {
	above := fatal
	if n := len(parts); n > 0 && everything(parts[n-1]) {
		parts, above = parts[:n-1], doubtful
	}
	if len(parts) == 0 {
		return place{}
	}
	from, _ := placeParts(dir)
	switch {
	case len(parts) > len(from) || !slices.Equal(parts, from[:len(parts)]):
		return place{}
	case len(parts) == len(from):
		return place{harm: fatal, kind: ofHere, what: "everything in the current directory"}
	}
	return place{harm: above, what: "a directory above the current one"}
}

// homePlace judges the parts of a path below a home directory.
func homePlace(parts []string) place {
	switch {
	case len(parts) == 0, len(parts) == 1 && everything(parts[0]):
		return place{harm: fatal, kind: ofHome, what: "a home directory"}
	case len(parts) == 1 && (ownDirs.has(parts[0]) || strings.HasPrefix(parts[0], ".") && !isPlain(parts[0])),
		len(parts) == 2 && ownDirs.has(parts[0]) && (everything(parts[1]) || parts[0] == ".ssh" || parts[0] == ".gnupg"):
		return place{harm: doubtful, kind: ofHome, what: "a person's own files"}
	}
	return place{}
}

// everything recognises * .* ?* *.* [!.]* and the like.
func everything(part string) bool {
	return strings.ContainsAny(part, "\x01\x02") && strings.Trim(part, ".\x01\x02") == ""
}

// isDisk reports whether a word names a disk, or the machine's memory.
func isDisk(word string) bool {
	if onWindows && windowsDisk().MatchString(word) {
		return true
	}
	parts, _ := placeParts(word)
	if !strings.HasPrefix(word, "/") || len(parts) < 2 || parts[0] != "dev" {
		return false
	}
	return parts[1] != "mdev" && slices.ContainsFunc([]string{"disk", "rdisk", "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "mapper", "md", "dm-", "nbd", "loop", "zd", "mem", "kmem", "port", "ada", "da0", "da1", "zvol", "\x01", "\x02"}, func(disk string) bool {
		return strings.HasPrefix(parts[1], disk)
	})
}

// isSystemFile recognises files without which a system does not start, or no user
// can log in.
func isSystemFile(parts []string) bool {
	if len(parts) < 2 {
		return false
	}
	if driveOf("/"+parts[0]) != "" {
		return parts[1] == "windows" || parts[1] == "boot"
	}
	switch parts[0] {
	case "etc":
		return !strings.HasPrefix(parts[1], "ssl")
	case "boot", "bin", "sbin", "lib", "sys":
		return true
	case "usr":
		return len(parts) >= 3 && (parts[1] == "bin" || parts[1] == "sbin" || parts[1] == "lib")
	case "var":
		return len(parts) > 3 && parts[1] == "lib" && parts[2] != "apt" && parts[2] != "dpkg"
	case "proc":
		return strings.HasPrefix(parts[1], "sysrq")
	}
	return false
}
