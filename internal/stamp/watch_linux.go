package stamp

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Watch says without a look at them that trees of files are as they were. The
// kernel queues a report of a change before the call returns that makes it, and
// nothing runs until [Watch.Quiet] reads the queue. It is not safe for concurrent
// use.
//
// It covers each folder on the way to a tree, links on it and in it, other names
// of a file, changes of owner and mode, and what is mounted over any of these. It
// does not see what is written through a mapping of a file until that is closed.
type Watch struct {
	queue, mounts int // descriptors
	paths         []string
	marks         map[int32]*mark
	moved         bool // what is watched may be elsewhere: Arm begins again
	heard         bool // anything changed since Arm
	buffer        []byte
}

// mark is a file or a folder that the kernel reports about.
type mark struct {
	all   bool            // each report counts; else those about itself, and
	names map[string]bool // those about these names in it
}

const (
	// maxMarks bounds what one Watch watches: the system has a limit for each user.
	maxMarks = 4096
	maxLinks = 40
)

// What is reported. A folder that is only on the way is not asked for what is
// written into its files.
const (
	entryEvents = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO
	selfEvents  = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ATTRIB
	wayEvents   = entryEvents | selfEvents | unix.IN_DONT_FOLLOW | unix.IN_MASK_ADD
	allEvents   = wayEvents | unix.IN_MODIFY | unix.IN_CLOSE_WRITE
	// stillThere are the reports after which the same marks cover the same files.
	stillThere = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB
)

// reporting are the file systems on which all changes come through this kernel.
var reporting = map[int64]bool{unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true,
	unix.TMPFS_MAGIC: true, unix.RAMFS_MAGIC: true, unix.F2FS_SUPER_MAGIC: true}

// NewWatch returns a Watch of nothing. Close it.
func NewWatch() (*Watch, error) {
	queue, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, errors.Join(ErrBlind, err)
	}
	mounts, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(queue)
		return nil, errors.Join(ErrBlind, err)
	}
	return &Watch{queue: queue, mounts: mounts, moved: true}, nil
}

// Close ends the watch.
func (w *Watch) Close() {
	unix.Close(w.queue)
	unix.Close(w.mounts)
}

// Arm has Quiet speak of the time from now on, about all that lies at and below
// paths, which need not exist. After an error Quiet is false.
func (w *Watch) Arm(paths ...string) error {
	w.look()
	w.heard = false
	if !w.moved && slices.Equal(paths, w.paths) {
		return nil
	}
	w.moved, w.paths = true, slices.Clone(paths)
	a := arming{w: w, marks: make(map[int32]*mark), ways: make(map[string]*mark), seen: make(map[string]bool), local: make(map[uint64]bool)}
	for _, path := range paths {
		if err := a.cover(path, maxLinks); err != nil {
			return err
		}
	}
	for wd := range w.marks {
		if a.marks[wd] == nil {
			_, _ = unix.InotifyRmWatch(w.queue, uint32(wd)) // it may be gone
		}
	}
	w.marks, w.moved = a.marks, false
	return nil
}

// Quiet reports whether nothing has changed since Arm.
func (w *Watch) Quiet() bool {
	w.look()
	return !w.moved && !w.heard
}

// look reads what is queued.
func (w *Watch) look() {
	fds := []unix.PollFd{{Fd: int32(w.queue), Events: unix.POLLIN}, {Fd: int32(w.mounts), Events: unix.POLLPRI}}
	n, err := unix.Poll(fds, 0)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll(fds, 0)
	}
	if n == 0 && err == nil {
		return
	}
	if err != nil || fds[1].Revents != 0 {
		w.moved = true
	}
	if w.buffer == nil {
		w.buffer = make([]byte, 16<<10)
	}
	for {
		n, err := unix.Read(w.queue, w.buffer)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			w.moved = w.moved || !errors.Is(err, unix.EAGAIN)
			return
		}
		w.take(w.buffer[:n])
	}
}

// take reads events: four numbers, and a name that is padded with zeros.
func (w *Watch) take(events []byte) {
	for len(events) >= unix.SizeofInotifyEvent {
		wd, mask := int32(binary.NativeEndian.Uint32(events)), binary.NativeEndian.Uint32(events[4:])
		size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		if size > len(events) {
			w.moved = true
			return
		}
		name, _, _ := strings.Cut(string(events[unix.SizeofInotifyEvent:size]), "\x00")
		events = events[size:]
		if mask&unix.IN_Q_OVERFLOW != 0 {
			w.moved = true
			continue
		}
		m := w.marks[wd]
		if m == nil || name != "" && !m.all && !m.names[name] {
			continue
		}
		w.heard = true
		if mask&^(stillThere|unix.IN_ISDIR) != 0 {
			w.moved = true
		}
	}
}

// arming are the marks of one Arm.
type arming struct {
	w     *Watch
	marks map[int32]*mark
	ways  map[string]*mark // folders on the way, by path
	seen  map[string]bool  // what is covered whole
	local map[uint64]bool  // devices that report
}

// add asks the kernel for reports about what lies at a path, itself.
func (a *arming) add(path string, events uint32) (*mark, error) {
	wd, err := unix.InotifyAddWatch(a.w.queue, path, events)
	if err != nil {
		return nil, &os.PathError{Op: "watch", Path: path, Err: errors.Join(ErrBlind, err)}
	}
	m := a.marks[int32(wd)]
	if m == nil {
		if m = (&mark{names: make(map[string]bool)}); len(a.marks) == maxMarks {
			return nil, &os.PathError{Op: "watch", Path: path, Err: ErrBlind}
		}
		a.marks[int32(wd)] = m
	}
	return m, nil
}

// cover watches the way to a path, and all below its end.
func (a *arming) cover(path string, links int) error {
	at, todo := "/", strings.Split(path, "/")
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		if err := a.enter(at, name); err != nil {
			return err
		}
		next := filepath.Join(at, name)
		var st unix.Stat_t
		err := unix.Lstat(next, &st)
		switch {
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
			return nil // its appearance is reported
		case err != nil:
			return &os.PathError{Op: "watch", Path: next, Err: errors.Join(ErrBlind, err)}
		case st.Mode&unix.S_IFMT != unix.S_IFLNK:
			if err := a.reports(next, &st); err != nil {
				return err
			}
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if links--; err != nil || links < 0 {
			return &os.PathError{Op: "watch", Path: next, Err: ErrBlind}
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return a.whole(at, links)
}

// enter watches a folder on the way for a name in it.
func (a *arming) enter(folder, name string) error {
	m := a.ways[folder]
	if m == nil {
		var err error
		if m, err = a.add(folder, wayEvents); err != nil {
			return err
		}
		a.ways[folder] = m
	}
	m.names[name] = true
	return nil
}

// reports refuses files on a device whose changes may be another machine's.
func (a *arming) reports(path string, st *unix.Stat_t) error {
	known, ok := a.local[st.Dev]
	if !ok {
		var fs unix.Statfs_t
		known = unix.Statfs(path, &fs) == nil && reporting[int64(fs.Type)]
		a.local[st.Dev] = known
	}
	if !known {
		return &os.PathError{Op: "watch", Path: path, Err: ErrBlind}
	}
	return nil
}

// whole watches what lies at a path that has no links in it, and all below.
func (a *arming) whole(path string, links int) error {
	if a.seen[path] {
		return nil
	}
	a.seen[path] = true
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return a.vanished(path, err)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return a.cover(path, links)
	}
	if err := a.reports(path, &st); err != nil {
		return err
	}
	m, err := a.add(path, allEvents)
	if err != nil {
		return a.vanished(path, err)
	}
	m.all = true
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return nil
	}
	entries, err := os.ReadDir(path) // what appears from here on is reported
	if err != nil {
		return a.vanished(path, errors.Join(ErrBlind, err))
	}
	for _, e := range entries {
		if err := a.whole(filepath.Join(path, e.Name()), links); err != nil {
			return err
		}
	}
	return nil
}

// vanished passes over what is gone: the folder that it was in reports that.
func (a *arming) vanished(path string, err error) error {
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return &os.PathError{Op: "watch", Path: path, Err: err}
}

// The events are read without a copy of the struct; this keeps its size in step.
var _ = [1]struct{}{}[unix.SizeofInotifyEvent-unsafe.Sizeof(unix.InotifyEvent{})]
