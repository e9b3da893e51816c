package worker

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tenterhook/tenterhook/internal/phrase"
)

// A request is one line for whatever its reader takes for the end of one: LF, CR, and for Node.js U+2028
// and U+2029 too. In JSON the first two are white space between tokens, and the other two stand in
// strings alone, where an escape means the same.

// flatten returns a JSON text without line ends: itself, if it has none.
func flatten(request []byte) ([]byte, error) {
	if bytes.IndexByte(request, '\n') < 0 && bytes.IndexByte(request, '\r') < 0 {
		return request, nil
	}
	var flat bytes.Buffer
	if err := json.Compact(&flat, request); err != nil {
		return nil, fmt.Errorf("the request is no JSON: %w", err)
	}
	return flat.Bytes(), nil
}

// appendLine appends a flat JSON text as a line.
func appendLine(line, request []byte) []byte {
	for {
		at := bytes.Index(request, []byte("\u2028")[:2])
		if at < 0 || at+2 == len(request) {
			break
		}
		switch request[at+2] {
		case 0xa8:
			line = append(append(line, request[:at]...), `\u2028`...)
		case 0xa9:
			line = append(append(line, request[:at]...), `\u2029`...)
		default:
			line = append(line, request[:at+3]...)
		}
		request = request[at+3:]
	}
	return append(append(line, request...), '\n')
}

// check returns an answer's line without the white space around it, if it is one: empty, or an object.
func check(line []byte) ([]byte, error) {
	line = bytes.TrimSpace(line)
	if len(line) > maxLine {
		return nil, tooLong()
	}
	if len(line) == 0 || line[0] == '{' && json.Valid(line) {
		return line, nil
	}
	return nil, &AnswerError{Reason: "its answer is no JSON object: it begins with " + quote(line), Hint: oneLine}
}

const oneLine = "answer each line with exactly one, a JSON object without line ends in it; send everything else to stderr"

// quote quotes the first line of a text that is not blank, cut, so that it is safe to show.
func quote(text []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(text[:min(len(text), 4<<10)]), []byte{'\n'})
	return phrase.Quote(string(bytes.TrimSpace(line)))
}
