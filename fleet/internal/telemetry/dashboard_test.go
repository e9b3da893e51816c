package telemetry

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// inPrometheus are the names that a metric has in Prometheus, and those of its
// labels beside those of the resource.
func inPrometheus() (names, labels []string) {
	plain := func(s string) string { return strings.ReplaceAll(s, ".", "_") }
	labels = []string{"le", "host_name", "service_instance_id"}
	for metric, attributes := range MetricAttributes {
		for _, ending := range []string{"_count", "_sum", "_bucket"} {
			names = append(names, plain(metric)+"_seconds"+ending)
		}
		names = append(names, plain(metric)+"_total")
		for _, a := range attributes {
			labels = append(labels, plain(a))
		}
	}
	return names, labels
}

func TestTheDashboardAsksForMetricsThatThereAre(t *testing.T) {
	text, err := os.ReadFile("../../../examples/fleet/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
		Templating struct{ List []struct{ Query string } }
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	names, labels := inPrometheus()
	asked := make(map[string]bool)
	check := func(where, text string) {
		for _, name := range regexp.MustCompile(`[a-z]+_[a-z_]+`).FindAllString(text, -1) {
			if slices.Contains(names, name) {
				asked[name] = true
			} else if !slices.Contains(labels, name) && name != "histogram_quantile" && name != "label_values" && name != "rate_interval" && name != "__rate_interval" {
				t.Errorf("%s: there is no metric and no label %s", where, name)
			}
		}
	}
	for _, p := range board.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("%s asks for nothing", p.Title)
		}
		for _, q := range p.Targets {
			check(p.Title, q.Expr)
			check(p.Title, q.LegendFormat)
		}
	}
	for _, v := range board.Templating.List {
		check("templating", v.Query)
	}
	for metric := range MetricAttributes {
		if !slices.ContainsFunc(names, func(n string) bool {
			return asked[n] && strings.HasPrefix(n, strings.ReplaceAll(metric, ".", "_"))
		}) {
			t.Errorf("the dashboard does not show %s", metric)
		}
	}
}
