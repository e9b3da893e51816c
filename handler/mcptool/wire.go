package mcptool

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/tenterhook/tenterhook/hook"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

// wire speaks newline-delimited JSON-RPC. Unlike the SDK's own it says what was
// wrong with a line, and holds to a bound of ours.
type wire struct {
	in    *bufio.Reader
	close func() error // ends a Read and a Write that wait
	blame func(*hook.Error)

	writing sync.Mutex
	out     io.Writer
}

func newWire(in io.Reader, out io.Writer, close func() error, blame func(*hook.Error)) *wire {
	return &wire{in: bufio.NewReaderSize(in, 32<<10), out: out, close: sync.OnceValue(close), blame: blame}
}

var (
	errTooLong = errors.New("a message is too long")
	errGarbage = errors.New("a line is no message")
)

// Read returns the next message.
func (w *wire) Read(context.Context) (jsonrpc.Message, error) {
	for {
		line, err := w.line()
		if err != nil {
			return nil, err
		}
		if blank(line) {
			continue
		}
		if !json.Valid(line) { // the decoder would take what stands before the fault
			return nil, w.garbage(line)
		}
		msg, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			return nil, w.garbage(line)
		}
		return msg, nil
	}
}

// line returns the next line; it is void at the next call.
func (w *wire) line() ([]byte, error) {
	var long []byte
	for {
		part, err := w.in.ReadSlice('\n')
		switch {
		case len(long)+len(part) > maxMessage:
			w.blame(&hook.Error{Failure: hook.FailureOverflow, Reason: fmt.Sprintf("it sent a message of more than %d MiB", maxMessage>>20),
				Hint: "let the tool answer with little: a decision and its reason"})
			return nil, errTooLong
		case err == nil && long == nil:
			return part, nil
		case err == nil:
			return append(long, part...), nil
		case errors.Is(err, bufio.ErrBufferFull):
			long = append(long, part...)
		case errors.Is(err, io.EOF) && !blank(append(long, part...)):
			return nil, w.garbage(append(long, part...))
		default:
			return nil, err
		}
	}
}

func (w *wire) garbage(line []byte) error {
	w.blame(&hook.Error{Failure: hook.FailureTransport, Reason: "it wrote something to stdout that is no message of the protocol: " + strconv.Quote(phrase.First(string(line[:min(len(line), 1024)]), 80)),
		Hint: "a server's stdout is for the protocol alone: let it log to stderr"})
	return errGarbage
}

// Write sends a message. It may wait for a server that does not read, until
// Close.
func (w *wire) Write(_ context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	_, err = w.out.Write(append(data, '\n'))
	return err
}

// Close ends the connection at once. The SDK calls it under its lock.
func (w *wire) Close() error { return w.close() }

// SessionID is empty: a pipe has one session.
func (w *wire) SessionID() string { return "" }

func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}
