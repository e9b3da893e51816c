package stamp

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Stamp is a file's identity. A write, a rename, a change of attributes each make it another one; a program that sets
// its times back changes Ctime, unless it calls the system below the Windows API. Stamps are compared with ==, and may
// be kept as JSON. The zero Stamp is no file's.
type Stamp struct {
	File  uint64 `json:"file"` // its number on its volume
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"` // in nanoseconds
	Ctime int64  `json:"ctime"` // in nanoseconds
	Mode  uint32 `json:"mode"`  // the attributes
}

// basicInfo is FILE_BASIC_INFO: what alone has the time of the last change of any kind.
type basicInfo struct {
	Created, Read, Written, Changed windows.Filetime
	Attributes                      uint32
	_                               uint32
}

// Of is the stamp of what path leads to, or of a link itself. Its error is bare: it is on the way of every dispatch.
func Of(path string, follow bool) (Stamp, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return Stamp{}, err
	}
	flags := uint32(windows.FILE_FLAG_BACKUP_SEMANTICS) // without it folders cannot be opened
	if !follow {
		flags |= windows.FILE_FLAG_OPEN_REPARSE_POINT
	}
	const others = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.FILE_READ_ATTRIBUTES, others, nil, windows.OPEN_EXISTING, flags, 0)
	if err != nil {
		return Stamp{}, err
	}
	defer windows.CloseHandle(h)
	return of(h)
}

// OfFile is the stamp of an open file.
func OfFile(f *os.File) (Stamp, error) {
	s, err := of(windows.Handle(f.Fd()))
	if err != nil {
		return Stamp{}, &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return s, nil
}

func of(h windows.Handle) (Stamp, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return Stamp{}, err
	}
	var basic basicInfo
	if err := windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&basic)), uint32(unsafe.Sizeof(basic))); err != nil {
		return Stamp{}, err
	}
	s := Stamp{File: uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
		Size: int64(info.FileSizeHigh)<<32 | int64(info.FileSizeLow), Mtime: info.LastWriteTime.Nanoseconds(),
		Ctime: basic.Changed.Nanoseconds(), Mode: info.FileAttributes}
	if info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0 {
		s.Size = 0
	}
	return s, nil
}
