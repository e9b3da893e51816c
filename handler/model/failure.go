package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/tenterhook/tenterhook/hook"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

func startError(reason, hint string) *hook.Error {
	return &hook.Error{Failure: hook.FailureStart, Reason: reason, Hint: hint}
}

func outputError(reason, hint string) *hook.Error {
	return &hook.Error{Failure: hook.FailureOutput, Reason: reason, Hint: hint}
}

func transportError(reason, hint string) *hook.Error {
	return &hook.Error{Failure: hook.FailureTransport, Reason: reason, Hint: hint}
}

// modelFailure is an error of a Model as a failure of the hook.
func modelFailure(err error) error {
	var failed *hook.Error
	if errors.As(err, &failed) {
		return failed
	}
	return &hook.Error{Failure: hook.FailureTransport, Reason: "the model could not be asked: " + phrase.Line(err.Error(), 200), Err: err}
}

// stopFailure says why a response is no answer, nil if it is one.
func stopFailure(s StopReason) *hook.Error {
	switch s {
	case StopEnd, StopTools:
		return nil
	case StopMaxTokens:
		return outputError(fmt.Sprintf("max_tokens: the model's answer was cut short at %d tokens", maxTokens), "ask for less, or choose a model that thinks less")
	case StopContext:
		return outputError("context_window: the event and what was read are too long for the model", "choose a model with a longer context, or narrow the matcher")
	case StopRefusal:
		return outputError("refusal: the model refused to answer", "change the prompt, or the model")
	case StopFilter:
		return outputError("content_filter: the provider kept the model's answer back", "change the prompt, or the provider")
	}
	return outputError("the model stopped for an unknown reason: "+phrase.Quote(string(s)), "")
}

// replyFailure says why a provider gave no reply; nil if it gave one. res is
// the last response, nil if there was none.
func (e *endpoint) replyFailure(ctx context.Context, r *Request, res *http.Response, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errTooLong):
		return transportError(fmt.Sprintf("%s sent more than %d MiB", e.host(), maxReply>>20), "")
	case res != nil && res.StatusCode/100 == 3:
		return transportError(fmt.Sprintf("%s redirects elsewhere (%s), which is not followed", e.host(), status(res)), "set base_url to the final address")
	case res != nil && res.StatusCode != http.StatusOK:
		return e.refused(r, res)
	case err != nil:
		return transportError("the way to "+e.host()+" broke: "+e.safe(cause(err)), "check base_url and the network")
	}
	return nil
}

// refused says what a provider answered in place of a reply.
func (e *endpoint) refused(r *Request, res *http.Response) *hook.Error {
	reason := fmt.Sprintf("%s answered %s", e.host(), status(res))
	if text := e.message(r, res); text != "" {
		reason += ": " + text
	}
	hint := ""
	switch code := res.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		hint = "check the key in " + e.keyFrom
	case code == http.StatusNotFound:
		hint = "check the model's name and base_url"
	case code == http.StatusTooManyRequests:
		hint = "it limits how often it may be asked"
		if wait, ok := retryAfter(res); ok {
			hint += ", and wants to be left alone for " + wait.String()
		}
	case code >= 500:
		hint = "try again later"
	}
	return transportError(reason, hint)
}

// message is the provider's own word for an error, made safe to show: short,
// on one line, without keys, and not if it repeats what it was sent.
func (e *endpoint) message(r *Request, res *http.Response) string {
	body, _ := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	_ = res.Body.Close()
	var reply struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &reply) != nil {
		return ""
	}
	var text string
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(reply.Error, &text) != nil && json.Unmarshal(reply.Error, &object) == nil {
		text = object.Message
	}
	if text = e.safe(text); repeats(text, r) {
		return "its message repeats the request and is left out"
	}
	return text
}

// repeats reports whether a text has a longer piece of what was sent in it.
func repeats(text string, r *Request) bool {
	const piece, step = 24, 8
	for i := 0; i+piece <= len(text); i += step {
		for _, m := range r.Messages {
			if strings.Contains(m.Text, text[i:i+piece]) {
				return true
			}
		}
	}
	return false
}

// keyLike are texts that look like the keys of providers, whole or masked.
var keyLike = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:sk|pk|rk|xai|gsk|key|api)[-_][\w*.-]{4,}|\bbearer\s+\S+`)
})

// safe makes a text of a provider fit for a message. Keys are taken out before
// it is cut, which might leave half of one.
func (e *endpoint) safe(text string) string {
	for _, secret := range []string{e.key, e.token} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[key]")
		}
	}
	return phrase.Line(keyLike().ReplaceAllString(text, "[key]"), 200)
}

// cause is what broke, without the URL, which may hold secrets.
func cause(err error) string {
	var failed *url.Error
	if errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}

func status(res *http.Response) string {
	return strings.TrimSpace(strconv.Itoa(res.StatusCode) + " " + http.StatusText(res.StatusCode))
}
