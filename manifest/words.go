package manifest

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quote quotes a word of the manifest, shortened to what a line can take.
func quote(word string) string { return strconv.Quote(clip(word, 60)) }

// clip shortens a text to about that many bytes.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

// either lists words as alternatives.
func either(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}

// foreign makes one of our messages of a parser's: lower case, one line.
func foreign(message string) string {
	message = clip(message, 200)
	first, size := utf8.DecodeRuneInString(message)
	if second, _ := utf8.DecodeRuneInString(message[size:]); unicode.IsLower(second) || second == ' ' {
		message = string(unicode.ToLower(first)) + message[size:]
	}
	return strings.Join(strings.Fields(message), " ")
}

// typeName names what a value is, for people.
func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return "the string " + quote(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return "the number " + strconv.FormatInt(v, 10)
	case float64:
		return "the number " + strconv.FormatFloat(v, 'g', -1, 64)
	case json.Number:
		return "the number " + clip(v.String(), 60)
	case []any, []map[string]any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date"
}

// typeHint is for the mistakes that a pair of quotes makes up for.
func typeHint(want string, got any) string {
	switch got := got.(type) {
	case string:
		if _, err := strconv.ParseBool(got); want == "true or false" && err == nil {
			return "leave out the quotes"
		}
		if _, err := strconv.Atoi(got); want == "an integer" && err == nil {
			return "leave out the quotes"
		}
	case bool, int64, float64, json.Number:
		if want == "a string" {
			return "put it in quotes"
		}
	}
	return ""
}
