package acceptance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Configurations of the manuals, and of the example, as Terraform would run them.
func TestTheManualsConfigurationsAreAppliedAndSettled(t *testing.T) {
	root := filepath.FromSlash("../../..")
	count := 0
	for _, file := range []string{"docs/terraform.md", "integrations/terraform/README.md"} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile("(?s)```hcl\n(.*?)```").FindAllSubmatch(text, -1)
		var all []string
		for _, block := range blocks {
			all = append(all, string(block[1]))
		}
		if len(all) > 0 {
			count++
			t.Run(file, func(t *testing.T) { runs(t, file, strings.Join(all, "\n")) })
		}
	}
	if count == 0 {
		t.Fatal("no manual has a configuration")
	}
}

// resourceBlock is a resource of a configuration.
type resourceBlock struct {
	kind, name string
	body       *hclsyntax.Body
}

func (b resourceBlock) address() string { return b.kind + "." + b.name }

// runs applies a configuration's resources, each after those that it refers to; plans again;
// and destroys them.
func runs(t *testing.T, file, text string) {
	parsed, failed := hclsyntax.ParseConfig([]byte(text), file, hcl.InitialPos)
	if failed.HasErrors() {
		t.Fatal(failed)
	}
	variables := map[string]cty.Value{}
	config := members{}
	var waiting []resourceBlock
	for _, block := range parsed.Body.(*hclsyntax.Body).Blocks {
		switch block.Type {
		case "terraform":
		case "provider":
			if block.Labels[0] != "signet" {
				t.Fatalf("a provider %s", block.Labels[0])
			}
			// The manual's server is not the test's: its other arguments are.
			config = given(t, block.Body, nil)
		case "variable":
			variables[block.Labels[0]] = cty.StringVal("a value of 32 bytes and more for " + block.Labels[0])
		case "import":
		case "resource":
			waiting = append(waiting, resourceBlock{block.Labels[0], block.Labels[1], block.Body})
		default:
			t.Fatalf("a block %s", block.Type)
		}
	}
	if len(waiting) == 0 {
		t.Fatal("there is no resource")
	}
	c := newCore(t, asAdministrator(without(config, "server", "ca_cert_file", "credentials_file")))
	type applied struct {
		resourceBlock
		at     *state
		config members
	}
	var done []applied
	known := map[string]map[string]cty.Value{}
	for len(waiting) > 0 {
		var later []resourceBlock
		for _, block := range waiting {
			if !isReady(block, known) {
				later = append(later, block)
				continue
			}
			values := map[string]cty.Value{"var": cty.ObjectVal(variables)}
			for kind, of := range known {
				values[kind] = cty.ObjectVal(of)
			}
			wanted := given(t, block.body, values)
			at := c.make(block.kind, nil, wanted)
			done = append(done, applied{block, at, wanted})
			if known[block.kind] == nil {
				known[block.kind] = map[string]cty.Value{}
			}
			known[block.kind][block.name] = asCty(t, at.value)
		}
		if len(later) == len(waiting) {
			t.Fatalf("these refer to what is not there: %v", later)
		}
		waiting = later
	}
	for _, one := range done {
		c.settled(one.kind, one.at, one.config)
	}
	for at := len(done) - 1; at >= 0; at-- {
		c.destroy(done[at].kind, done[at].at)
	}
}

func without(config members, names ...string) members {
	kept := members{}
	for name, value := range config {
		kept[name] = value
	}
	for _, name := range names {
		delete(kept, name)
	}
	return kept
}

// isReady is whether everything that a block refers to was applied.
func isReady(block resourceBlock, known map[string]map[string]cty.Value) bool {
	for _, attribute := range block.body.Attributes {
		for _, traversal := range attribute.Expr.Variables() {
			root := traversal.RootName()
			if root == "var" || len(traversal) < 2 {
				continue
			}
			name, ok := traversal[1].(hcl.TraverseAttr)
			if !ok {
				return false
			}
			if _, ok := known[root][name.Name]; !ok {
				return false
			}
		}
	}
	return true
}

// given are the arguments of a block, evaluated.
func given(t *testing.T, body *hclsyntax.Body, values map[string]cty.Value) members {
	t.Helper()
	context := &hcl.EvalContext{Variables: values, Functions: map[string]function.Function{
		"jsondecode": stdlib.JSONDecodeFunc,
	}}
	found := members{}
	var names []string
	for name := range body.Attributes {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		value, failed := body.Attributes[name].Expr.Value(context)
		if failed.HasErrors() {
			t.Fatal(failed)
		}
		text, err := ctyjson.SimpleJSONValue{Value: value}.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.UseNumber()
		var plain any
		if err := decoder.Decode(&plain); err != nil {
			t.Fatal(err)
		}
		found[name] = plain
	}
	for _, block := range body.Blocks {
		if block.Type != "lifecycle" {
			t.Fatalf("a block %s in a resource", block.Type)
		}
	}
	return found
}

// asCty are the texts of a state, which is what configurations refer to.
func asCty(t *testing.T, of tftypes.Value) cty.Value {
	t.Helper()
	found := map[string]cty.Value{}
	for name, value := range attributes(t, of) {
		var text *string
		if value.Type().Is(tftypes.String) && value.As(&text) == nil && text != nil {
			found[name] = cty.StringVal(*text)
		}
	}
	return cty.ObjectVal(found)
}
