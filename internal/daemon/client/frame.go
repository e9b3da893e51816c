package client

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/tenterhook/tenterhook/bridge/closed"
)

// The kinds of frames. A client sends the first three.
const (
	KindCall     = 'c' // fields of a Call; answered by taken, unless the answer is quick, and answer, or by replaced
	KindPing     = 'p' // answered by taken
	KindYield    = 'y' // answered by replaced: another program takes the daemon's place
	KindTaken    = 't' // the call is read and the answer follows; said after TakenWithin, and again each BeatEvery
	KindAnswer   = 'a' // exit code, stdout, stderr
	KindReplaced = 'r' // ask the daemon that comes next
)

// BeatEvery is how often a daemon says that it still has a call.
const BeatEvery = 5 * time.Second

// TakenWithin is how soon a daemon says that it has a call, if it has no answer yet.
const TakenWithin = 100 * time.Millisecond

// MaxFrame is the largest frame that either side takes, in bytes.
const MaxFrame = 64 << 20

// headerSize is a kind, a protocol version and the size of the body.
const headerSize = 8

// protocol is the version of the frames.
const protocol = 2

// ErrFrame is the error of bytes that are no frame, ErrProtocol that of a frame of
// another version of the protocol.
var (
	ErrFrame    = errors.New("not a frame")
	ErrProtocol = errors.New("a frame of another version")
)

// readStep bounds what is allocated ahead of what was received, in bytes.
const readStep = 1 << 20

// AppendFrame appends a frame whose body is a list of fields.
func AppendFrame(to []byte, kind byte, fields ...[]byte) []byte {
	size := 0
	for _, f := range fields {
		size += 4 + len(f)
	}
	to = append(to, 't', 'h', protocol, kind)
	to = binary.BigEndian.AppendUint32(to, uint32(size))
	for _, f := range fields {
		to = binary.BigEndian.AppendUint32(to, uint32(len(f)))
		to = append(to, f...)
	}
	return to
}

// ReadFrame reads one frame. read fills its whole argument or fails.
func ReadFrame(read func([]byte) error) (kind byte, fields [][]byte, err error) {
	var header [headerSize]byte
	if err := read(header[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(header[4:])
	switch {
	case header[0] != 't' || header[1] != 'h' || size > MaxFrame:
		return 0, nil, ErrFrame
	case header[2] != protocol:
		return 0, nil, ErrProtocol
	}
	body := make([]byte, 0, min(size, readStep))
	for have := uint32(0); have < size; have = uint32(len(body)) {
		body = append(body, make([]byte, min(size-have, readStep))...)
		if err := read(body[have:]); err != nil {
			return 0, nil, err
		}
	}
	for len(body) > 0 {
		if len(body) < 4 {
			return 0, nil, ErrFrame
		}
		n := binary.BigEndian.Uint32(body)
		if body = body[4:]; uint64(n) > uint64(len(body)) {
			return 0, nil, ErrFrame
		}
		fields, body = append(fields, body[:n:n]), body[n:]
	}
	return header[3], fields, nil
}

// Call is what a hook entry was started with.
type Call struct {
	Agent, Event string
	Stdin        []byte
	Env          []string
	Dir          string        // the working directory, "" = unknown
	Umask        int           // negative = unknown
	Patience     time.Duration // how long the caller waits for the answer
	Program      string        // which tenterhook the caller would start: see [Stamp]
	Began        time.Time     // when the caller was started
	// Where is what the entry says of where the operator's hooks are, as
	// "HOME=/home/me"; empty = where the account's are.
	Where []string
}

// callFields is how many fields the frame of a Call has.
const callFields = 10

// Frame writes a call as a frame.
func (c *Call) Frame() []byte {
	env := strings.Join(c.Env, "\x00")
	size := headerSize + 4*callFields + len(c.Stdin) + len(env) + 512
	return AppendFrame(make([]byte, 0, size), KindCall, []byte(c.Agent), []byte(c.Event), c.Stdin, []byte(env),
		[]byte(c.Dir), strconv.AppendInt(nil, int64(c.Umask), 10), strconv.AppendInt(nil, c.Patience.Milliseconds(), 10), []byte(c.Program),
		strconv.AppendInt(nil, c.Began.UnixNano(), 10), []byte(strings.Join(c.Where, "\x00")))
}

// ParseCall reads the fields of a call. It shares their memory.
func ParseCall(fields [][]byte) (*Call, error) {
	if len(fields) != callFields {
		return nil, ErrFrame
	}
	umask, err1 := strconv.Atoi(string(fields[5]))
	patience, err2 := strconv.ParseInt(string(fields[6]), 10, 64)
	began, err3 := strconv.ParseInt(string(fields[8]), 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return nil, ErrFrame
	}
	c := &Call{Agent: string(fields[0]), Event: string(fields[1]), Stdin: fields[2], Dir: string(fields[4]),
		Umask: umask, Patience: time.Duration(patience) * time.Millisecond, Program: string(fields[7]), Began: time.Unix(0, began)}
	c.Env, c.Where = variables(fields[3]), variables(fields[9])
	return c, nil
}

// variables reads a list of variables, nil if it is empty.
func variables(field []byte) []string {
	if len(field) == 0 {
		return nil
	}
	return strings.Split(string(field), "\x00")
}

// Answer is what the entry prints, and how it exits.
type Answer struct {
	Stdout, Stderr []byte
	ExitCode       int // 0 to 255
}

// Frame writes an answer as a frame.
func (a *Answer) Frame() []byte {
	return AppendFrame(nil, KindAnswer, []byte{byte(a.ExitCode)}, a.Stdout, a.Stderr)
}

// Code is the exit code of an entry whose answer was printed to out with this error. A gate whose answer goes to the null
// device has printed nothing: Go opens that device in place of a stdout that its parent had closed.
func (a *Answer) Code(agent, event string, out *os.File, printed error) int {
	lost := printed != nil || len(a.Stdout) > 0 && closed.Classify(agent, event) != closed.Observer && isNull(out)
	if lost {
		return closed.Unheard(agent, event, a.ExitCode)
	}
	return a.ExitCode
}

func isNull(f *os.File) bool {
	if f == nil || runtime.GOOS == "windows" { // where os.SameFile cannot tell devices and pipes apart
		return false
	}
	this, err := f.Stat()
	null, statErr := os.Stat(os.DevNull)
	return err == nil && statErr == nil && os.SameFile(this, null)
}

// ParseAnswer reads the fields of an answer.
func ParseAnswer(fields [][]byte) (*Answer, error) {
	if len(fields) != 3 || len(fields[0]) != 1 {
		return nil, ErrFrame
	}
	return &Answer{ExitCode: int(fields[0][0]), Stdout: fields[1], Stderr: fields[2]}, nil
}

// Stamp tells two versions of a program file apart: what an upgrade writes or
// renames has another one. It is "" for a file that is not there.
func Stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return stampOf(info)
}

func stampOf(info os.FileInfo) string {
	return strconv.FormatInt(info.Size(), 36) + "." + strconv.FormatInt(info.ModTime().UnixNano(), 36) + "." + inode(info)
}
