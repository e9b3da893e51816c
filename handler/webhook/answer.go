package webhook

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tenterhook/tenterhook/hook"
)

// errOverflow is an answer that is too long.
var errOverflow = errors.New("the answer is too long")

// refusedBy tells a response that is no answer. What it says beside its status
// is not shown: a server's error page may repeat what was sent to it.
func (p *plan) refusedBy(res *http.Response) error {
	status := fmt.Sprintf("%s answered with status %d", p.where, res.StatusCode)
	if text := http.StatusText(res.StatusCode); text != "" {
		status += " (" + text + ")"
	}
	switch code := res.StatusCode; {
	case code >= 300 && code < 400:
		return &hook.Error{Failure: hook.FailureTransport, Reason: status + ": redirects are not followed",
			Hint: "write the URL that it leads to, if you trust it"}
	case code < 200 || code >= 300:
		return &hook.Error{Failure: hook.FailureExit, Reason: status,
			Hint: "see the server's log; to block, answer 200 with a JSON object that says so"}
	}
	encoding := res.Header.Get("Content-Encoding") // gone where gzip is decoded
	if encoding != "" && !strings.EqualFold(encoding, "identity") {
		return &hook.Error{Failure: hook.FailureOutput, Reason: "the answer has an encoding that was not asked for",
			Hint: "answer as the request's Accept-Encoding says: gzip, or none"}
	}
	return nil
}

// trusted is how long a body may say that it is to get all of its memory at
// once, in bytes.
const trusted = 64 << 10

// read reads a body to its end, so that the connection can be used again, and
// not much further than the limit.
func read(res *http.Response, limit int64) ([]byte, error) {
	switch n := res.ContentLength; {
	case n > limit:
		return nil, errOverflow
	case n >= 0 && n <= trusted:
		body := make([]byte, n)
		_, err := io.ReadFull(res.Body, body)
		return body, err
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = errOverflow
	}
	return body, err
}
