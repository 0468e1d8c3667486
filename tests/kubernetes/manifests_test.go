// Package kubernetes checks integrations/kubernetes by Kubernetes' own code: the definitions, the manifests, and the command against
// a real API server for custom resources.
package kubernetes

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuralpruning "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"
)

const folder = "../../integrations/kubernetes"

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// documents are those of a file of YAML.
func documents(t *testing.T, name string) [][]byte {
	t.Helper()
	var found [][]byte
	text := append([]byte("\n"), read(t, filepath.Join(folder, name))...)
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var value map[string]any
		if err := yaml.UnmarshalStrict(document, &value); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(value) > 0 {
			found = append(found, document)
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return found
}

func objects(t *testing.T, name string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for _, document := range documents(t, name) {
		var value map[string]any
		if err := yaml.Unmarshal(document, &value); err != nil {
			t.Fatal(err)
		}
		found = append(found, value)
	}
	return found
}

// definitions are read strictly, and completed as the API server does.
func definitions(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var found []*apiextensionsv1.CustomResourceDefinition
	for _, document := range documents(t, "crds.yaml") {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(document, crd); err != nil {
			t.Fatal(err)
		}
		apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
		apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
		found = append(found, crd)
	}
	return found
}

func internal(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *apiextensions.CustomResourceDefinition {
	t.Helper()
	out := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, out, nil); err != nil {
		t.Fatal(err)
	}
	// The API server writes it before it validates.
	out.Status.StoredVersions = []string{"v1"}
	return out
}

func TestDefinitionsAreWhatAnAPIServerAccepts(t *testing.T) {
	for _, crd := range definitions(t) {
		if errs := apivalidation.ValidateCustomResourceDefinition(t.Context(), internal(t, crd)); len(errs) > 0 {
			t.Errorf("%s: %v", crd.Name, errs.ToAggregate())
		}
	}
	// The check can fail.
	crd := definitions(t)[0]
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec.Properties["untyped"] = apiextensionsv1.JSONSchemaProps{}
	if errs := apivalidation.ValidateCustomResourceDefinition(t.Context(), internal(t, crd)); len(errs) == 0 {
		t.Error("a member without a type was accepted")
	}
}

// wrong says what an API server finds wrong with an object of ours, members among it that it would drop.
func wrong(t *testing.T, object map[string]any) []string {
	t.Helper()
	for _, crd := range definitions(t) {
		if crd.Spec.Names.Kind != object["kind"] {
			continue
		}
		if object["apiVersion"] != crd.Spec.Group+"/"+crd.Spec.Versions[0].Name {
			return []string{"apiVersion"}
		}
		// Of one version, it stands for all.
		schema := internal(t, crd).Spec.Validation
		structural, err := structuralschema.NewStructural(schema.OpenAPIV3Schema)
		if err != nil {
			t.Fatal(err)
		}
		validator, _, err := validation.NewSchemaValidator(schema.OpenAPIV3Schema)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, one := range validation.ValidateCustomResource(nil, object, validator) {
			found = append(found, one.Error())
		}
		options := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
		return append(found, structuralpruning.PruneWithOptions(object, structural, true, options)...)
	}
	return []string{"no such kind"}
}

func TestExamplesAreOfTheDefinitions(t *testing.T) {
	for _, object := range objects(t, "example.yaml") {
		if found := wrong(t, object); len(found) > 0 {
			t.Errorf("%v: %v", object["kind"], found)
		}
	}
	client := func(spec map[string]any) map[string]any {
		return map[string]any{
			"apiVersion": "signet.internal/v1", "kind": "SignetClient",
			"metadata": map[string]any{"name": "a"}, "spec": spec,
		}
	}
	if found := wrong(t, client(map[string]any{})); len(found) > 0 {
		t.Error(found)
	}
	for _, spec := range []map[string]any{
		{"redirect_uri": []any{"https://a.example/"}},
		{"redirect_uris": "https://a.example/"},
		{"client_secret": "plain text"},
		{"client_secret": map[string]any{"file": "/etc/passwd"}},
		{"client_secret": map[string]any{"secret": map[string]any{"name": "a"}}},
	} {
		if found := wrong(t, client(spec)); len(found) == 0 {
			t.Errorf("accepted: %v", spec)
		}
	}
}
