package trust

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Windows replaces no file that another process reads: scanners and other tenterhooks do, for moments.
func TestAFileIsReplacedOnceItsReaderIsDone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "approvals.json")
	if err := replaceFile(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() {
		time.Sleep(100 * time.Millisecond)
		closed <- reader.Close()
	}()
	err = replaceFile(path, []byte("new"))
	if closing := <-closed; err != nil || closing != nil {
		t.Fatal(err, closing)
	}
	if got, err := os.ReadFile(path); string(got) != "new" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
