package policy

import "time"

// SetAnswerTime says how long a machine waits for an answer of the hub, for a test.
func SetAnswerTime(d time.Duration) (restore func()) {
	was := answerTime
	answerTime = d
	return func() { answerTime = was }
}
