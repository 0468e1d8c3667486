// Package packages tries the chart and the compose file of a distribution by the code that reads them for real: Helm's and Compose's.
package packages

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"sigs.k8s.io/yaml"
)

func dist(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(os.Getenv("SIGNET_DIST"), pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v %v", pattern, found, err)
	}
	return found[0]
}

func loaded(t *testing.T) *chart.Chart {
	t.Helper()
	read, err := loader.Load(dist(t, "signet-chart-*.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// rendered is what the chart makes of values, by file; the schema of the values is asked first, as Helm does.
func rendered(t *testing.T, values string) (map[string]string, error) {
	t.Helper()
	var given map[string]any
	if err := yaml.Unmarshal([]byte(values), &given); err != nil {
		t.Fatal(err)
	}
	read := loaded(t)
	options := chartutil.ReleaseOptions{Name: "id", Namespace: "identity", IsInstall: true}
	all, err := chartutil.ToRenderValues(read, given, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(read, all)
}

const good = `
image: {repository: registry.example/signet}
settings: {issuer: "https://id.example.com", lifetimes: {access_token: 5m}}
tls: {secretName: id-tls}
secrets: [{name: smtp, secretName: id-smtp}]
`

func TestTheChartRendersTheSettings(t *testing.T) {
	files, err := rendered(t, good)
	if err != nil {
		t.Fatal(err)
	}
	var config struct{ Data map[string]string }
	if err := yaml.Unmarshal([]byte(files["signet/templates/config.yaml"]), &config); err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{`issuer = "https://id.example.com"`, `access_token = "5m"`, `address = "[::]:8443"`, `certificate = "tls/tls.crt"`} {
		if !strings.Contains(config.Data["signet.toml"], wanted) {
			t.Errorf("%s is not in\n%s", wanted, config.Data["signet.toml"])
		}
	}
	set := files["signet/templates/statefulset.yaml"]
	for _, wanted := range []string{"secretName: id-tls", "/etc/signet/secrets/smtp", "containerPort: 8443", "scheme: HTTPS", "readOnlyRootFilesystem: true"} {
		if !strings.Contains(set, wanted) {
			t.Errorf("%s is not in\n%s", wanted, set)
		}
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("SIGNET_DIST"), "..", "chart.toml"), []byte(config.Data["signet.toml"]), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWrongValuesAreRefusedByName(t *testing.T) {
	for values, named := range map[string]string{
		strings.Replace(good, "access_token: 5m", "acces_token: 5m", 1):             "acces_token",
		strings.Replace(good, `issuer: "https://id.example.com", `, "", 1):           "issuer",
		strings.Replace(good, "tls: {secretName: id-tls}", "", 1):                    "tls.secretName",
		strings.Replace(good, "name: smtp", "name: ../x", 1):                         "name",
		strings.Replace(good, "image:", "imag:", 1):                                  "imag",
		strings.Replace(good, "registry.example/signet", "r, digest: 'sha256:1'", 1): "digest",
	} {
		_, err := rendered(t, values)
		if err == nil || !strings.Contains(err.Error(), named) {
			t.Errorf("%s: %v\n%s", named, err, values)
		}
	}
}

func TestHelmsLintFindsNothing(t *testing.T) {
	folder := t.TempDir()
	if err := chartutil.ExpandFile(folder, dist(t, "signet-chart-*.tgz")); err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal([]byte(good), &values); err != nil {
		t.Fatal(err)
	}
	for _, message := range lint.All(filepath.Join(folder, "signet"), values, "identity", true).Messages {
		if message.Severity > support.InfoSev {
			t.Error(message)
		}
	}
}

func TestComposeReadsItsFile(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{dist(t, "compose/compose.yaml")}, cli.WithEnv([]string{"SIGNET_VERSION=1"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	service, err := project.GetService("signet")
	if err != nil || service.Image != "signet:1" || !service.ReadOnly || service.User != "65532:65532" {
		t.Fatalf("%v %+v", err, service)
	}
}
