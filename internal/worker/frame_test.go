package worker

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// lineEnds are what some language takes for the end of a line.
var lineEnds = regexp.MustCompile("\r\n|[\n\r\u2028\u2029]")

// values makes JSON values with the characters that matter in strings and keys.
func values(depth int) *rapid.Generator[any] {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab \"\\\n\r\t\u2027\u2028\u2029\u202aéâ€")))
	plain := rapid.OneOf(text.AsAny(), rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Float64Range(-1e6, 1e6).AsAny())
	if depth == 0 {
		return plain
	}
	return rapid.OneOf(plain, rapid.SliceOfN(values(depth-1), 0, 3).AsAny(), rapid.MapOfN(text, values(depth-1), 0, 3).AsAny())
}

func TestRequestIsOneLineThatMeansTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(values(3).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "raw") { // as other encoders write them
			text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`\u2028`), []byte("\u2028")), []byte(`\u2029`), []byte("\u2029"))
		}
		if rapid.Bool().Draw(t, "pretty") {
			var b bytes.Buffer
			if err := json.Indent(&b, text, "\r\n", "\t"); err != nil {
				t.Fatal(err)
			}
			text = b.Bytes()
		}
		wantLine(t, text)
	})
}

// wantLine wants a JSON text to become one line that means the same.
func wantLine(t rapid.TB, text []byte) {
	t.Helper()
	before := string(text)
	flat, err := flatten(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	line := appendLine([]byte("before"), flat)
	if string(text) != before {
		t.Fatalf("%q was changed, to %q", before, text)
	}
	rest, ok := bytes.CutPrefix(line, []byte("before"))
	body, end := bytes.CutSuffix(rest, []byte("\n"))
	if !ok || !end || lineEnds.Match(body) {
		t.Fatalf("%q became %q", text, line)
	}
	var was, is any
	if json.Unmarshal(text, &was) != nil {
		return // numbers that Go does not take
	}
	if err := json.Unmarshal(body, &is); err != nil {
		t.Fatalf("%q became %q: %v", text, body, err)
	}
	if diff := cmp.Diff(was, is); diff != "" {
		t.Fatalf("%q (-before +after):\n%s", text, diff)
	}
}

func FuzzRequest(f *testing.F) {
	for _, seed := range []string{`{}`, "{\n \"a\" : 1\r\n}", "{\"a\":\"\u2028 \u2029 \u2027\"}", "\"\xe2\x80\"", "\"\xe2\x80\xa8", "{\n", ""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if json.Valid(text) {
			wantLine(t, text)
			return
		}
		if _, err := flatten(text); err == nil && bytes.ContainsAny(text, "\r\n") {
			t.Errorf("%q was taken", text)
		}
	})
}

// hear has a worker say something in pieces, and returns what is made of it, and whether more was there.
func hear(t rapid.TB, said []byte, piece int) (line []byte, more bool, err error) {
	t.Helper()
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer out.Close()
		for rest := said; len(rest) > 0; {
			n, err := out.Write(rest[:min(len(rest), piece)])
			if err != nil {
				return
			}
			rest = rest[n:]
		}
	}()
	defer func() { <-done }()
	defer r.Close()
	r.SetReadDeadline(time.Now().Add(time.Minute))
	w := &worker{stdout: r, pending: pending(r)}
	if line, err = w.answer(); err != nil {
		return nil, false, err
	}
	for began := time.Now(); time.Since(began) < time.Minute; {
		n, end := w.pending(make([]byte, 1))
		if n > 0 || end {
			return line, n > 0, nil
		}
	}
	t.Fatal("its end was not seen")
	return nil, false, nil
}

// wantHeard compares what is made of a worker's words with what the protocol says of them.
func wantHeard(t rapid.TB, said []byte, piece int) {
	t.Helper()
	line, more, err := hear(t, said, piece)
	first, rest, whole := bytes.Cut(said, []byte("\n"))
	trimmed := bytes.TrimSpace(first)
	good := len(trimmed) == 0 || trimmed[0] == '{' && json.Valid(trimmed)
	var bad *AnswerError
	switch {
	case err == nil:
		if !whole || !good || !bytes.Equal(line, trimmed) || more != (len(rest) > 0) {
			t.Fatalf("%q in pieces of %d: got %q, more %v", said, piece, line, more)
		}
	case errors.As(err, &bad):
		if whole && good && len(rest) == 0 && len(first) <= maxLine || bad.Reason == "" || bad.Hint == "" || strings.ContainsAny(bad.Reason, "\x1b\r\n\u2028\u202e") {
			t.Fatalf("%q in pieces of %d: got %v", said, piece, err)
		}
	case !errors.Is(err, errDied) || whole:
		t.Fatalf("%q in pieces of %d: got %v", said, piece, err)
	}
}

func TestAnswerIsReadInWhateverPiecesItComes(t *testing.T) {
	lines := []string{"{}", "", " ", `{"decision":"block"}`, "noise", "\x1b[31m\u202e", "[]", "{", "{}{}", `{"a":"` + strings.Repeat("x", 20_000) + `"}`}
	rapid.Check(t, func(t *rapid.T) {
		said := strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 3).Draw(t, "lines"), rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end"))
		if rapid.Bool().Draw(t, "ends") {
			said += "\n"
		}
		wantHeard(t, []byte(said), rapid.SampledFrom([]int{1, 2, 3, 100, 1 << 20}).Draw(t, "piece"))
	})
}

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{"{}\n", "\n", "{}\n{}\n", "{\"a\":1}", "Welcome\n{}\n", "\xff\x00\n", "{\n}\n", " {} \r\n"} {
		f.Add([]byte(seed), uint16(1))
		f.Add([]byte(seed), uint16(4096))
	}
	f.Fuzz(func(t *testing.T, said []byte, piece uint16) { wantHeard(t, said, max(1, int(piece))) })
}

func TestLongAnswersEndAtTheCap(t *testing.T) {
	object := func(n int) []byte { return []byte(`{"a":"` + strings.Repeat("x", n-len(`{"a":""}`)) + `"}` + "\n") }
	for n, ok := range map[int]bool{maxKept: true, maxLine - 1: true, maxLine: true, maxLine + 1: false, 3 * maxLine: false} {
		line, _, err := hear(t, object(n), 1<<20)
		var bad *AnswerError
		if ok != (err == nil) || ok && len(line) != n || !ok && (!errors.As(err, &bad) || !bad.TooLong) {
			t.Errorf("%d bytes: got %d, %v", n, len(line), err)
		}
	}
}

func TestStderrKeepsTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s stderr
		var all strings.Builder
		for range rapid.IntRange(0, 20).Draw(t, "lines") {
			line := strings.Repeat(string(rapid.ByteRange('a', 'z').Draw(t, "byte")), rapid.SampledFrom([]int{0, 1, 100, 5000, 9000, 20_000}).Draw(t, "length"))
			s.add([]byte(line))
			all.WriteString(line + "\n")
			if len(s.text) > 3*maxStderr {
				t.Fatalf("%d bytes are kept", len(s.text))
			}
		}
		got := s.take()
		if !strings.HasSuffix(all.String(), got) || len(got) != min(all.Len(), maxStderr) {
			t.Fatalf("%d bytes of %d: %.20q", len(got), all.Len(), got)
		}
		if again := s.take(); again != "" {
			t.Fatalf("told twice: %q", again)
		}
	})
}

func TestPausesDoubleUpToALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s slot
		for i, want := range []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond,
			800 * time.Millisecond, 1600 * time.Millisecond, 3200 * time.Millisecond, 5 * time.Second, 5 * time.Second} {
			s.pace.Ended(spacing, false)
			if got := max(0, s.pace.Wait()); got != want {
				t.Errorf("after %d failures: a pause of %v, want %v", i+1, got, want)
			}
		}
		s.pace.Reset()
		if s.pace.Ended(spacing, false); s.pace.Failed() != 1 || s.pace.Wait() > 0 {
			t.Errorf("after a success: %+v", s)
		}
	})
}
