package plugins

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tenterhook/tenterhook/internal/safefile"
)

// bare is an error without the path that a caller says itself.
func bare(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "it does not exist"
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	}
	return err.Error()
}

// checkAt says what keeps the file at path from being a plugin.
func checkAt(path string) *Problem {
	info, err := os.Lstat(path)
	if err != nil {
		return about(CodeMissing, path, err, "install the package again, or take its hooks out")
	}
	return checkBinary(path, info)
}

// checkBinary says what keeps a file from being a plugin.
func checkBinary(path string, info fs.FileInfo) *Problem {
	unsafe := func(reason, hint string) *Problem {
		return &Problem{Code: CodeUnsafe, Path: path, Reason: reason, Hint: hint}
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return unsafe("it is a link", "put the executable itself there")
	case !info.Mode().IsRegular():
		return unsafe("it is no regular file", "put the executable there")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0:
		return unsafe("it may not be executed", "chmod +x "+path)
	}
	if who := foreign(info); who != "" {
		return unsafe(who, "chown it to yourself and chmod go-w "+path)
	}
	folder := filepath.Dir(path)
	if in, err := os.Stat(folder); err != nil {
		return about(CodeUnsafe, folder, err, "")
	} else if who := foreign(in); who != "" {
		return unsafe("its folder: "+who, "chown it to yourself and chmod go-w "+folder)
	}
	return nil
}

// readFile reads a small file that no other user can have written.
func readFile(path string, most int64) ([]byte, error) {
	f, err := safefile.Regular(os.OpenFile(path, os.O_RDONLY|safefile.NonBlock|safefile.NoFollow, 0))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if who := foreign(info); who != "" {
		return nil, errors.New(who)
	}
	return safefile.ReadAll(f, most)
}
