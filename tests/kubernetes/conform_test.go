package kubernetes

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	// Its module has the schemas that Kubernetes publishes.
	_ "k8s.io/kubectl/pkg/scheme"
)

// module is the folder of a module that go.mod pins.
func module(t *testing.T, path string) string {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(folder))
}

func write(t *testing.T, path string, value any) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// closed is a schema without members that it does not name, as an API server is strict with them.
func closed(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range value {
			out[name] = closed(member)
		}
		_, isObject := value["properties"].(map[string]any)
		_, isOpen := value["additionalProperties"]
		if isObject && !isOpen && value["x-kubernetes-preserve-unknown-fields"] != true {
			out["additionalProperties"] = false
		}
		return out
	case []any:
		for at, item := range value {
			value[at] = closed(item)
		}
		return value
	default:
		return value
	}
}

// schemas writes a file for each kind: ours are those of the definitions, the others are those that Kubernetes publishes (OpenAPI 2).
func schemas(t *testing.T) string {
	t.Helper()
	out := t.TempDir()
	for _, object := range objects(t, "crds.yaml") {
		spec := object["spec"].(map[string]any)
		version := spec["versions"].([]any)[0].(map[string]any)
		schema := version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
		// What an object is called is the API server's, whatever a definition says of it.
		properties := schema["properties"].(map[string]any)
		properties["metadata"] = map[string]any{"type": "object", "additionalProperties": true}
		kind := strings.ToLower(spec["names"].(map[string]any)["kind"].(string))
		write(t, filepath.Join(out, kind+"_"+version["name"].(string)+".json"), closed(schema))
	}
	var published map[string]any
	swagger := filepath.Join(module(t, "k8s.io/kubectl"), "testdata/openapi/swagger.json")
	if err := json.Unmarshal(read(t, swagger), &published); err != nil {
		t.Fatal(err)
	}
	written := 0
	for name, definition := range published["definitions"].(map[string]any) {
		definition := definition.(map[string]any)
		kinds, _ := definition["x-kubernetes-group-version-kind"].([]any)
		if len(kinds) != 1 {
			continue
		}
		kind := kinds[0].(map[string]any)
		file := strings.ToLower(kind["kind"].(string)) + "_" + kind["version"].(string) + ".json"
		write(t, filepath.Join(out, file), map[string]any{"$ref": "definitions.json#/definitions/" + name})
		written++
	}
	if written < 50 {
		t.Fatalf("only %d kinds are published", written)
	}
	write(t, filepath.Join(out, "definitions.json"), map[string]any{"definitions": closed(published["definitions"])})
	return out
}

func kubeconform(t *testing.T, schemas string, files ...string) ([]byte, error) {
	location := filepath.Join(schemas, "{{.ResourceKind}}_{{.ResourceAPIVersion}}.json")
	arguments := append([]string{"tool", "kubeconform", "-strict", "-summary", "-output", "json", "-schema-location", location}, files...)
	return exec.CommandContext(t.Context(), "go", arguments...).CombinedOutput()
}

func TestManifestsConform(t *testing.T) {
	schemas := schemas(t)
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%v %v", files, err)
	}
	said, err := kubeconform(t, schemas, files...)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	var report struct{ Summary map[string]int }
	if err := json.Unmarshal(said, &report); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	sum := report.Summary
	if sum["valid"] < 20 || sum["invalid"]+sum["errors"]+sum["skipped"] != 0 {
		t.Fatalf("%v", sum)
	}
	t.Log(sum)
	// Each kind of mistake is found.
	for name, text := range map[string]string{
		"member":  "apiVersion: signet.internal/v1\nkind: SignetGroup\nmetadata: {name: a}\nspec: {parrent: b}\n",
		"type":    "apiVersion: signet.internal/v1\nkind: SignetGroup\nmetadata: {name: a}\nspec: {roles: editor}\n",
		"needs":   "apiVersion: signet.internal/v1\nkind: SignetScope\nmetadata: {name: a}\nspec: {}\n",
		"kind":    "apiVersion: signet.internal/v1\nkind: SignetGrup\nmetadata: {name: a}\nspec: {}\n",
		"role":    "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: a}\nrules: [{verb: [get]}]\n",
		"crd":     "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {group: a.b}\n",
		"cronjob": "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec: {schedule: 5, jobTemplate: {}}\n",
	} {
		file := filepath.Join(t.TempDir(), name+".yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if said, err := kubeconform(t, schemas, file); err == nil {
			t.Errorf("%s was accepted: %s", name, said)
		}
	}
}
