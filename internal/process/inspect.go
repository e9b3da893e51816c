package process

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenterhook/tenterhook/internal/environ"
	"github.com/tenterhook/tenterhook/internal/safefile"
)

// Inspect looks at a program on disk for what keeps it from starting with that environment. It
// reports false if the program looks well.
func Inspect(path string, env []string) (Diagnosis, bool) { return inspect(path, env) }

// inspect looks at a program on disk for what keeps it from starting. It reports nothing (false) about
// a program that looks well.
func inspect(path string, env []string) (Diagnosis, bool) {
	say := func(c Cause, reason, remedy string) (Diagnosis, bool) {
		return Diagnosis{c, path, reason, remedy}, true
	}
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return say(CauseNotFound, "there is no such file", "check the path, or install the program")
	case err != nil:
		return say(CauseNotExecutable, "it can not be reached ("+plain(err)+")", "give this user access to it and to its folders")
	case fi.IsDir():
		return say(CauseDirectory, "it is a directory", "name the program in it")
	case !fi.Mode().IsRegular():
		return say(CauseDirectory, "it is no regular file", "name a program")
	case fi.Mode().Perm()&0o111 == 0 && runtime.GOOS != "windows":
		return say(CauseNotExecutable, "it is not executable", "run: chmod +x "+quote(path))
	}
	if runtime.GOOS == "windows" {
		return Diagnosis{}, false // no first line is read there: what runs a script was found before
	}
	head := readHead(path)
	if len(head) == 0 && fi.Size() > 0 {
		return Diagnosis{}, false // executable but not readable: there is nothing to see
	}
	if first, ok := bytes.CutPrefix(head, []byte("#!")); ok {
		return inspectShebang(path, string(first), env)
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf#!")):
		return say(CauseFormat, "a byte order mark stands before its first line", "save it as UTF-8 without a byte order mark")
	case looksLikeText(head):
		return say(CauseFormat, "it is a script without a first line", "begin it with the program that runs it, such as #!/bin/sh")
	}
	return Diagnosis{}, false
}

// inspectShebang looks at a script by what follows its "#!".
func inspectShebang(path, head string, env []string) (Diagnosis, bool) {
	line, _, _ := strings.Cut(head, "\n")
	if strings.HasSuffix(line, "\r") {
		return Diagnosis{CauseCRLF, path, "its lines end in CR LF, so that its interpreter's name ends in a CR",
			"save it with LF line ends (dos2unix, or sed -i 's/\\r$//')"}, true
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return Diagnosis{CauseInterpreter, path, "its first line names no interpreter", "begin it with, for instance, #!/bin/sh"}, true
	}
	interpreter := words[0]
	if fi, err := os.Stat(interpreter); err != nil || fi.IsDir() || fi.Mode().Perm()&0o111 == 0 {
		return Diagnosis{CauseInterpreter, path, "its interpreter " + quote(interpreter) + " is missing or not executable",
			"install it, or correct the first line"}, true
	}
	if filepath.Base(interpreter) != "env" {
		return Diagnosis{}, false
	}
	for _, w := range words[1:] {
		if strings.HasPrefix(w, "-") || strings.Contains(w, "=") {
			continue
		}
		if lookPath(w, env) == "" {
			return Diagnosis{CauseInterpreter, path, "its interpreter " + quote(w) + " is not on the PATH it is run with",
				"install it, or add its folder to PATH"}, true
		}
		break
	}
	return Diagnosis{}, false
}

// lookPath finds a program by the PATH in env. Relative elements of PATH are passed over: they would
// let a workspace name the program.
func lookPath(name string, env []string) string {
	for _, dir := range filepath.SplitList(environ.Get(env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		p := filepath.Join(dir, name)
		if fi, err := os.Stat(p); err == nil && fi.Mode().IsRegular() && (fi.Mode().Perm()&0o111 != 0 || runtime.GOOS == "windows") {
			return p
		}
	}
	return ""
}

// readHead reads as much of a file as the system looks at to tell what runs it;
// nothing of a program that cannot be read.
func readHead(path string) []byte {
	f, err := safefile.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := io.ReadFull(f, head)
	return head[:n]
}

func looksLikeText(head []byte) bool {
	for _, b := range head {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' || b == 0x7f {
			return false
		}
	}
	return true
}

// quote makes a path safe and plain to read, quoted only where it must be.
func quote(path string) string {
	if path != "" && !strings.ContainsFunc(path, func(r rune) bool {
		return r <= ' ' || r == '"' || r == '\'' || r == utf8.RuneError || !strconv.IsPrint(r)
	}) {
		return path
	}
	return strconv.Quote(path)
}

// plain is an error without the path that the sentence around it names already.
func plain(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
