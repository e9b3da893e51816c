package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// The bounds of a download.
const (
	downloadWithin = 2 * time.Minute
	maxRedirects   = 5
)

// archiveEndings are those of the URLs that name an archive and no repository.
var archiveEndings = []string{".tar.gz", ".tgz", ".tar", ".zip"}

func isArchiveURL(u *url.URL) bool {
	for _, ending := range archiveEndings {
		if u.Scheme == "https" && strings.HasSuffix(strings.ToLower(u.Path), ending) {
			return true
		}
	}
	return false
}

// client follows redirects by https alone.
var client = &http.Client{Timeout: downloadWithin, CheckRedirect: func(r *http.Request, via []*http.Request) error {
	if r.URL.Scheme != "https" {
		return fmt.Errorf("it leads to %s, and archives are fetched by https alone", r.URL.Redacted())
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	return nil
}}

// download writes what a URL has into a file of temp, which the caller removes.
func download(ctx context.Context, at, temp string) (name string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "", err
	}
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the server answers %q", answer.Status)
	}
	f, err := os.CreateTemp(temp, "tenterhook-archive-*")
	if err != nil {
		return "", err
	}
	n, err := io.Copy(f, io.LimitReader(answer.Body, maxArchive+1))
	if err == nil && n > maxArchive {
		err = fmt.Errorf("it is larger than %d MiB", maxArchive>>20)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}
