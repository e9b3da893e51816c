package manifest

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// duration reads a time: a number of seconds, or text like "500ms", "5s" and
// "2m". 0 stands for the default, as if the key were absent.
func (s section) duration(key string) time.Duration {
	v, spelt := s.get(key)
	if v == nil {
		return 0
	}
	wrong := func(why string) time.Duration {
		got := typeName(v)
		if text, ok := v.(string); ok {
			got = quote(text)
		}
		s.fail(remark{"bad_" + key, s.at(spelt), fmt.Sprintf(`want seconds or a duration like "5s", got %s%s`, got, why), ""})
		return 0
	}
	var seconds float64
	switch v := v.(type) {
	case string:
		d, err := time.ParseDuration(v)
		if err != nil {
			return wrong("")
		}
		if d < 0 {
			return wrong(", which is negative")
		}
		return s.notZero(d, spelt)
	case int64:
		seconds = float64(v)
	case float64:
		seconds = v
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return wrong(", which is too long")
		}
		seconds = f
	default:
		return wrong("")
	}
	switch {
	case math.IsNaN(seconds):
		return wrong("")
	case seconds < 0:
		return wrong(", which is negative")
	case seconds >= math.MaxInt64/1e9:
		return wrong(", which is too long")
	case seconds >= 1000:
		s.warn(remark{"milliseconds", s.at(spelt), fmt.Sprintf("%s seconds are %v", number(v), time.Duration(seconds)*time.Second),
			fmt.Sprintf(`if milliseconds are meant, write "%sms"`, number(v))})
	}
	return s.notZero(time.Duration(seconds*1e9), spelt)
}

func (s section) notZero(d time.Duration, key string) time.Duration {
	if d == 0 {
		s.warn(remark{"zero_" + key, s.at(key), "0 means the default", "leave the key out, or give a time"})
	}
	return d
}

func number(v any) string { return fmt.Sprint(v) }
