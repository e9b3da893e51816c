package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// toWrite makes a file writable.
const toWrite = "attrib -r"

// owner is the access list of a file: a file in its place keeps it. The zero owner is what the directory gives.
type owner struct{ sd *windows.SECURITY_DESCRIPTOR }

func ownerOf(path string, _ fs.FileInfo) owner {
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil { // a disk without access lists
		return owner{}
	}
	return owner{sd}
}

// forNew is what new files beside others have: their directory's.
func (o owner) forNew() owner { return owner{} }

// give sets the access list of a file that this process wrote.
func (o owner) give(path string) error {
	if o.sd == nil || o.String() == ownerOf(path, nil).String() {
		return nil
	}
	list, _, err := o.sd.DACL()
	if err != nil {
		return err
	}
	control, _, err := o.sd.Control()
	if err != nil {
		return err
	}
	what := windows.SECURITY_INFORMATION(windows.DACL_SECURITY_INFORMATION | windows.UNPROTECTED_DACL_SECURITY_INFORMATION)
	if control&windows.SE_DACL_PROTECTED != 0 { // it inherits nothing
		what = windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
	}
	return windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, what, nil, nil, list, nil)
}

// String is the access list as text, "" if there is none.
func (o owner) String() string {
	if o.sd == nil {
		return ""
	}
	return o.sd.String()
}

// links is the number of names that a file has, 1 if the system does not say.
func links(path string, _ fs.FileInfo) uint64 {
	f, err := os.Open(path)
	if err != nil {
		return 1
	}
	defer f.Close()
	var info syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info); err != nil {
		return 1
	}
	return uint64(info.NumberOfLinks)
}

// executable reports whether a file is a program.
func executable(info fs.FileInfo) bool { return info.Mode().IsRegular() }

// endings are what a program's name may end with.
func endings(getenv func(string) string) []string {
	var list []string
	for _, ending := range filepath.SplitList(getenv("PATHEXT")) {
		list = append(list, strings.ToLower(ending))
	}
	if len(list) == 0 {
		return []string{".com", ".exe", ".bat", ".cmd"}
	}
	return list
}

// explain says more of why a file cannot be replaced: a program that has it open does not let others.
func explain(err error) error {
	if errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return fmt.Errorf("another program has it open, or you may not replace it: %w; close that program, and run the command again", err)
	}
	return err
}
