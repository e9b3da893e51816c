package match

import (
	"slices"
	"strings"
	"sync"
)

// inert are programs that run none of their words.
var inert = wordSet(`
	: [ alias apropos b2sum base32 base64 basename bg break cal cat cd chattr chgrp chmod chown cksum clear cmp
	column comm continue cp csplit cut date declare df diff dir dirname dirs dmesg du echo egrep enable exit expand expr
	export factor false fg fgrep file fmt fold free getconf getfacl grep groups hash head help hexdump hostid hostname id info
	install jobs join jq kill last let ln local logname ls lsattr lsblk lscpu lsof mcookie md5sum mkdir mkfifo
	mknod mktemp mv nl nproc numfmt od paste pathchk pgrep pidof pinky popd pr printenv printf ps ptx pushd pwd
	readlink readonly realpath return rev rg rm rmdir seq setfacl sha1sum sha224sum sha256sum sha384sum sha512sum
	shasum shift shopt shred shuf sleep sort stat strings stty sum suspend sync tac tail tee test times touch tput tr
	tree true truncate tsort tty type typeset ulimit umask unalias uname unexpand uniq unlink unset uptime users vdir
	w wait wc whatis whence where whereis which who whoami xxd yes zcat zgrep
	dd mkfs mke2fs mkswap wipefs blkdiscard fdisk parted curl wget nslookup dig host ping
	reboot shutdown halt poweroff passwd useradd userdel usermod groupadd groupdel
	apt-cache dpkg-query code gofmt goimports`)

// builders are compilers, and tools that check or format code. Their words are
// files, but an option of many names a command.
var builders = wordSet(`black cc clang clang++ clang-format clang-tidy eslint flake8 g++ gcc golangci-lint isort javac mypy
	prettier pylint pyright rubocop ruff rustc rustfmt shellcheck shfmt staticcheck stylelint tsc`)

// build reads the words of one of builders. A command may have commas between
// its words: gcc -wrapper rm,-rf,/.
func (r *lineReader) build(name string, words []string, at int) {
	via := "in the words of " + plain(name)
	r.suffixes(words, at, mentioned, via)
	r.texts(words[1:], may, via)
	for i, w := range words[1:] {
		if strings.Contains(w, ",") && (isOption(w) || isOption(words[i])) {
			r.text(strings.ReplaceAll(w[strings.LastIndexByte(w, '=')+1:], ",", " "), may, via)
		}
	}
}

// wordList is a set of words, which is made when it is first asked. It may be used
// by many goroutines; nil is empty.
type wordList struct {
	list string // separated by blanks
	once sync.Once
	set  map[string]bool
}

func wordSet(list string) *wordList { return &wordList{list: list} }

func (w *wordList) has(word string) bool { return w.all()[word] }

func (w *wordList) all() map[string]bool {
	if w == nil {
		return nil
	}
	w.once.Do(func() {
		w.set = make(map[string]bool)
		for _, word := range strings.Fields(w.list) {
			w.set[word] = true
		}
	})
	return w.set
}

// isKnown reports whether it is known what a program runs, if anything.
func isKnown(name string) bool {
	_, carries := carriers()[name]
	return carries || inert.has(name) || builders.has(name) || isShell(name) || name == "git" || name == "find" || name == "xargs"
}

// isInert reports whether a program runs none of these words. Some have an
// option that does.
func isInert(name string, args []string) bool {
	switch {
	case name == "go":
		return goIsInert(args)
	case awks.has(name):
		return awkIsInert(args)
	case !inert.has(name) && !strings.HasPrefix(name, "mkfs."):
		return false
	}
	if name == "wget" && slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(w, "-e") || strings.HasPrefix(w, "--ex") }) {
		return false // --execute
	}
	for _, a := range args {
		for _, option := range []string{"--compress-program", "--pre", "--pager", "--filter", "--hostname-bin", "--use-askpass", "--strip-program", "--rsh", "--to-command"} {
			short, _, _ := strings.Cut(a, "=")
			if strings.HasPrefix(a, option) || len(short) > 4 && strings.HasPrefix(option, short) { // programs take options cut short
				return false
			}
		}
	}
	return true
}
