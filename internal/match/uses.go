package match

import (
	"slices"
	"strings"
)

// use is what a program does with its words, as far as that is known.
type use struct {
	roles     []role // of each word; nil = all are def
	def       role
	opens     bool // a word that is not known may be a file that it opens
	recursive bool // it takes directories with all that is below
	here      bool // and the current one, if none is named
}

// role is what a word is to its program.
type role uint8

const (
	asRead  role = 1 << iota // a file whose content is read, copied or sent
	asWrite                  // a file that is made, changed or deleted
	asGuess                  // the program is not known, so writing is a guess
	asProse                  // text or a pattern, no file
	asPlace                  // perhaps a directory that gets a file
)

func (u *use) role(i, _ int) role {
	if u.roles != nil {
		return u.roles[i]
	}
	return u.def
}

var (
	// namesOnly are programs that name a file without showing what is in it.
	namesOnly = wordSet(`: [ alias basename bg break cal cd chdir clear command date df dirname dirs du echo exit export expr false fg
		hash help hostname id jobs kill let local ls lsattr man mkdir mkfifo mktemp pgrep pidof pkill popd printf ps pushd pwd read
		readlink readonly realpath return rmdir seq set shift sleep ssh ssh-add ssh-copy-id ssh-keygen stat test time touch tput trap tree true tty
		type ulimit umask unset wait whereis which declare typeset chmod chown chgrp chattr attrib icacls rm unlink find fd`)
	// onlyRead are programs that change none of the files that they name.
	onlyRead = wordSet(`awk base32 base64 bat cat cksum cmp column comm cut diff egrep expand fgrep file fmt fold grep head hexdump
		jq less ls mawk md5sum more nl od paste rev rg sha1sum sha256sum sha512sum sort source stat strings tac tail tar tr uniq vdir wc xxd yq zcat
		zgrep nc ncat ssh du df ag ack tree . sum b2sum gunzip readlink realpath basename dirname
		cd pushd test [ echo printf which type file kill export unset declare local readonly`)
	// changes are programs that change the files that they name.
	changes = wordSet(`attrib icacls chattr chgrp chmod chown ed emacs ex install ln mkdir mkfifo mknod mv nano patch rm rmdir shred sponge tee touch truncate
		unlink unzip vi vim nvim wipefs mkfs mke2fs blkdiscard`)
	// copies change their last word alone.
	copies = wordSet("cp scp rsync")
	// patterns are programs whose first word is a pattern or a program text.
	patterns = wordSet("grep egrep fgrep zgrep rg ag ack sed awk mawk nawk jq yq perl tr expr")
	// searches are programs that take how many lines to show.
	searches = wordSet("grep egrep fgrep zgrep rg ag ack")
	// trees take directories with all that is below.
	trees = wordSet("tar zip 7z 7za rsync rg ag ack bsdtar gtar cpio pax restic borg duplicity rclone docker podman scp")
	// unrelated are tools whose words are seldom files of their own.
	unrelated = wordSet(`go git docker podman kubectl npm yarn pnpm npx make cargo systemctl gh terraform helm aws gcloud az apt apt-get brew pip
		pip3 kill pkill service journalctl ssh dpkg rustup mvn gradle bundle gem xargs sudo env timeout nice nohup time bash sh eval exec`)
)

// usesOf says what a program does with its words.
func usesOf(name string, args []string) use {
	program := name
	name = kindOf(name)
	u := use{def: asRead | asWrite | asGuess, opens: !namesOnly.has(name) && !unrelated.has(name) && isPlain(name)}
	switch {
	case changes.has(name):
		u.def = asRead | asWrite
	case onlyRead.has(name):
		u.def = asRead
	}
	if namesOnly.has(name) {
		u.def &^= asRead
		if !changes.has(name) {
			u.def &^= asWrite
		}
	}
	if (name == "icacls" || name == "attrib") && !changesModes(program, args) {
		u.def = 0
	}
	u.recursive = trees.has(name) || recursiveOption(name, args)
	u.here = name == "rg" || name == "ag" || name == "ack"
	switch {
	case name == "find":
		u.findUse(args)
	case copies.has(name):
		u.each(args, func(i int) role {
			if i == len(args)-1 {
				return asWrite
			}
			return asRead
		})
	case (name == "mv" || name == "ln") && !slices.ContainsFunc(args, namesTarget):
		u.each(args, func(i int) role {
			if i == len(args)-1 {
				return u.def | asPlace
			}
			return u.def
		})
	case name == "dd":
		u.each(args, func(i int) role {
			if strings.HasPrefix(args[i], "of=") {
				return asWrite
			}
			return asRead
		})
	case patterns.has(name):
		u.patternUse(name, args)
	case name == "git":
		u.gitUse(args)
	case name == "curl" || name == "wget":
		u.each(args, func(i int) role {
			if i > 0 && (args[i-1] == "-o" || args[i-1] == "--output" || args[i-1] == "-O") || strings.HasPrefix(args[i], "--output") {
				return asWrite
			}
			return asRead
		})
	case messages[name] != nil:
		u.prose(args, messages[name])
	case name == "date" || name == "du":
		u.each(args, func(i int) role {
			if strings.HasPrefix(args[i], "--file") || i > 0 && (args[i-1] == "-f" && name == "date" || args[i-1] == "--file") {
				return asRead
			}
			return u.def
		})
	}
	return u
}

// namesTarget recognises options of mv and ln by which the last word is no directory to put files into: -t, -sfT.
func namesTarget(w string) bool {
	return strings.HasPrefix(w, "--t") || strings.HasPrefix(w, "--no-t") || isOption(w) && w[1] != '-' && strings.ContainsAny(w, "tT")
}

func (u *use) each(args []string, f func(int) role) {
	u.roles = make([]role, len(args))
	for i := range args {
		u.roles[i] = f(i)
	}
}

// prose marks the values of options that are text.
func (u *use) prose(args []string, options *wordList) {
	u.each(args, func(i int) role {
		option, _, valued := strings.Cut(args[i], "=")
		if i > 0 && options.has(args[i-1]) || valued && options.has(option) {
			return asProse
		}
		return u.def
	})
}

// patternUse marks the pattern of grep, or the program of sed and awk.
func (u *use) patternUse(name string, args []string) {
	given := false
	for _, a := range args {
		if takesPattern(a, "ef") || strings.HasPrefix(a, "--regexp") || strings.HasPrefix(a, "--file") || strings.HasPrefix(a, "--expression") {
			given = true
		}
	}
	if name == "sed" || name == "perl" {
		for _, a := range args {
			if strings.HasPrefix(a, "-i") || strings.HasPrefix(a, "--in-place") || name == "perl" && isOption(a) && strings.Contains(a, "i") {
				u.def = asRead | asWrite
			}
		}
		if u.def&asGuess != 0 && name != "perl" {
			u.def = asRead
		}
	}
	u.each(args, func(i int) role {
		a := args[i]
		switch {
		case i > 0 && (takesPattern(args[i-1], "e") || args[i-1] == "--regexp" || args[i-1] == "--expression"):
		case !given && !isOption(a) && (i == 0 || !isCount(name, args[i-1], a)):
			given = true
		default:
			return u.def
		}
		// A program may open files by itself.
		if strings.ContainsAny(a, "\"<>") || name == "sed" && strings.ContainsAny(a, "rRwW") && strings.Contains(a, " ") || name == "perl" {
			return u.def
		}
		return asProse
	})
}

// isCount reports whether a word is the number behind an option of a program that searches: -A 2, -nC 3, -m 1.
func isCount(name, option, word string) bool {
	return searches.has(name) && takesPattern(option, "ABCm") && strings.Trim(word, "0123456789") == ""
}

// takesPattern reports whether an option's last letter takes the next
// word: -e, -rf.
func takesPattern(option, letters string) bool {
	return isOption(option) && option[1] != '-' && strings.IndexByte(letters, option[len(option)-1]) >= 0
}

// gitUse marks messages, and what reads nothing.
func (u *use) gitUse(args []string) {
	sub := ""
	if behind := behindGitOptions(args); len(behind) > 0 {
		sub = behind[0]
	}
	u.prose(args, gitProse)
	switch sub {
	case "check-ignore", "rm", "status", "branch", "checkout", "switch", "restore", "ls-files", "init", "fetch", "pull", "remote":
		for i := range u.roles {
			u.roles[i] &^= asRead
		}
	}
}

// findUse: find names files, and reads what it is given by -files0-from alone.
func (u *use) findUse(args []string) {
	u.def = 0
	for _, a := range args {
		if a == "-delete" {
			u.def = asWrite
		}
	}
	u.each(args, func(i int) role {
		if i > 0 && strings.HasPrefix(args[i-1], "-f") { // -fprint FILE, -files0-from FILE
			return asRead | asWrite
		}
		return u.def
	})
}

// recursiveOption reports whether an option makes the program take directories.
func recursiveOption(name string, args []string) bool {
	letters := ""
	switch name {
	case "grep", "egrep", "fgrep", "zgrep":
		letters = "rR"
	case "cp":
		letters = "rRa"
	case "rm", "chmod", "chown", "chgrp":
		letters = "rR"
	case "mv", "ln":
		return true
	case "diff":
		letters = "r"
	}
	for _, a := range args {
		if isOption(a) && (a[1] != '-' && strings.ContainsAny(a, letters) || strings.HasPrefix(a, "--rec") || a == "--archive" || a == "--dereference-recursive") && letters != "" {
			return true
		}
	}
	return false
}
