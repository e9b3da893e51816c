package process

import (
	"bytes"
	"math"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// sweepFinds tells that sweep returns what it found.
const sweepFinds = true

// stray is a leftover on its way out.
type stray struct {
	leftover
	pidfd   int
	inGroup bool // it had stayed in the leader's group
}

// sweep kills what the leader left behind, in its group and outside, and waits for it to be gone. It
// returns what it found, but for those members of a group under way to its end that reached it.
func (c *child) sweep(until time.Time) []leftover {
	var all []leftover
	for range 3 { // again, for what was being forked meanwhile
		found := c.strays()
		unix.Kill(-c.pid, unix.SIGKILL)
		for _, s := range found {
			unix.PidfdSendSignal(s.pidfd, unix.SIGKILL, nil, 0)
		}
		awaitEnd(found, until)
		for _, s := range found {
			if s.alive || !s.inGroup || !c.res.Stopped() {
				all = append(all, s.leftover)
			}
		}
		if len(found) == 0 || !time.Now().Before(until) {
			break
		}
	}
	return all
}

// strays finds the living processes that descend from the leader. Only a process younger than the
// leader can, and pids are given out in order: so there is mostly no process to ask. While a service runs
// they may come round more than once, so for one everybody is asked.
func (c *child) strays() []stray {
	since := span{c.pid, lastPID(c.census)}
	if c.stays != nil {
		since = span{0, math.MaxInt32}
	}
	var found []stray
	for _, pid := range since.pids() {
		if leaders.has(pid) {
			continue
		}
		if group, err := unix.Getpgid(pid); err != nil || !c.mayHave(group, since) {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0) // refuses threads
		if err != nil {
			continue
		}
		// From here on the pid can not pass to another.
		inGroup := c.leads(pid)
		name, alive := status(pid)
		if !alive || !inGroup && !c.marked(pid) {
			unix.Close(fd)
			continue
		}
		found = append(found, stray{leftover{Process: Process{pid, name}}, fd, inGroup})
	}
	return found
}

// mayHave tells whether a process of this group can be one of the run: the group is the leader's, or
// a younger one of no other run. That spares a look at nearly all processes of others.
func (c *child) mayHave(group int, since span) bool {
	return group == c.pid || since.has(group) && !leaders.has(group)
}

func (c *child) leads(pid int) bool {
	group, err := unix.Getpgid(pid)
	return err == nil && group == c.pid
}

// marked tells whether a process has the token of this run in its environment.
func (c *child) marked(pid int) bool {
	environ, _ := os.ReadFile(procFile(pid, "environ"))
	return bytes.Contains(environ, []byte(c.token))
}

// span is the pids given out after one, up to and with the last. They may have wrapped in between.
type span struct{ than, last int }

func (s span) has(pid int) bool {
	if s.last < s.than {
		return pid > s.than || pid <= s.last
	}
	return pid > s.than && pid <= s.last
}

// pids returns those of the span that may be in use.
func (s span) pids() []int {
	const many = 4096
	if s.last < s.than || s.last-s.than > many { // to ask for each would take long
		return s.listed()
	}
	var pids []int
	for pid := s.than + 1; pid <= s.last; pid++ {
		pids = append(pids, pid)
	}
	return pids
}

// listed returns those of the span that are in /proc.
func (s span) listed() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && s.has(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// openCensus opens what lastPID reads, or returns -1.
func openCensus() int {
	fd, err := unix.Open("/proc/loadavg", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return closed
	}
	return fd
}

// lastPID is the pid given out last, or 0 if that is unknown. It is the last field of
// /proc/loadavg, see proc_loadavg(5).
func lastPID(census int) int {
	var buf [128]byte
	n, _ := unix.Pread(census, buf[:], 0)
	line := bytes.TrimSpace(buf[:max(n, 0)])
	pid, _ := strconv.Atoi(string(line[bytes.LastIndexByte(line, ' ')+1:]))
	return pid
}

// status reads a process's name, and whether it lives: a zombie does not.
func status(pid int) (name string, alive bool) {
	stat, err := os.ReadFile(procFile(pid, "stat")) // 12 (name) S …
	if err != nil {
		return "", false
	}
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end+2 >= len(stat) {
		return "", false
	}
	state := stat[end+2]
	return string(stat[open+1 : end]), state != 'Z' && state != 'X'
}

// mayHaveChildren tells whether a process has started others, if the kernel is built to say.
func mayHaveChildren(pid int) bool {
	list, err := os.ReadFile(procFile(pid, "task/"+strconv.Itoa(pid)+"/children"))
	return err != nil || len(list) > 0
}

func procFile(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// awaitEnd waits for processes that got SIGKILL, notes which are still there, and closes their pidfds.
func awaitEnd(strays []stray, until time.Time) {
	for i := range strays {
		s := &strays[i]
		poll := []unix.PollFd{{Fd: int32(s.pidfd), Events: unix.POLLIN}}
		for {
			wait := max(0, time.Until(until).Milliseconds())
			n, err := unix.Poll(poll, int(wait))
			if err == unix.EINTR {
				continue
			}
			s.alive = n == 0
			break
		}
		unix.Close(s.pidfd)
	}
}

func (s *pidSet) has(pid int) bool { return s[pid%len(s)].Load() == int32(pid) }
