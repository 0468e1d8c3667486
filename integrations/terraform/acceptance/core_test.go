package acceptance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	framework "github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"signet/terraform/internal/provider"
)

// core is what Terraform core is to a provider: it keeps states, merges configurations into
// plans, and holds the provider to what a plan said.
type core struct {
	t       *testing.T
	server  tfprotov6.ProviderServer
	schemas map[string]*tfprotov6.Schema
}

// members are the arguments of a configuration as JSON has them.
type members map[string]any

// unknown is a value that is known after something else was applied.
type unknown struct{}

// state is a resource as Terraform keeps it.
type state struct {
	value   tftypes.Value
	private []byte
}

// said are diagnostics: `error AT: SUMMARY: DETAIL`.
type said []string

func (s said) String() string { return strings.Join(s, "\n") }

func (s said) hasError() bool {
	for _, one := range s {
		if strings.HasPrefix(one, "error ") {
			return true
		}
	}
	return false
}

func diagnostics(found []*tfprotov6.Diagnostic) said {
	var all said
	for _, one := range found {
		severity, at := "warning", ""
		if one.Severity == tfprotov6.DiagnosticSeverityError {
			severity = "error"
		}
		if one.Attribute != nil {
			var parts []string
			for _, step := range one.Attribute.Steps() {
				switch step := step.(type) {
				case tftypes.AttributeName:
					parts = append(parts, string(step))
				default:
					parts = append(parts, fmt.Sprint(step))
				}
			}
			at = strings.Join(parts, ".")
		}
		all = append(all, fmt.Sprintf("%s %s: %s: %s", severity, at, one.Summary, one.Detail))
	}
	return all
}

// asAdministrator is the provider's configuration that tests use.
func asAdministrator(more members) members {
	all := members{
		"server": server.issuer, "ca_cert_file": server.authority,
		"client_id": server.clientID, "client_secret": server.secret,
	}
	for name, value := range more {
		all[name] = value
	}
	return all
}

func newCore(t *testing.T, config members) *core {
	t.Helper()
	made, failed := tryCore(t, config)
	if failed.hasError() {
		t.Fatal(failed)
	}
	return made
}

func tryCore(t *testing.T, config members) (*core, said) {
	t.Helper()
	made, err := provider.New()
	if err != nil {
		t.Fatal(err)
	}
	serve, err := providerserver.NewProtocol6WithError(framework.Provider(made))()
	if err != nil {
		t.Fatal(err)
	}
	c := &core{t: t, server: serve}
	schemas, err := serve.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	c.whole(err, schemas.Diagnostics)
	c.schemas = schemas.ResourceSchemas
	kind := schemas.Provider.ValueType()
	value := c.dynamic(kind, valueOf(t, kind, map[string]any(config)))
	prepared, err := serve.ValidateProviderConfig(t.Context(), &tfprotov6.ValidateProviderConfigRequest{
		Config: value,
	})
	c.whole(err, prepared.Diagnostics)
	configured, err := serve.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
		TerraformVersion: "1.11.0", Config: value,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, diagnostics(configured.Diagnostics)
}

func (c *core) whole(err error, found []*tfprotov6.Diagnostic) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
	if said := diagnostics(found); said.hasError() {
		c.t.Fatal(said)
	}
}

func (c *core) kind(resource string) tftypes.Object {
	c.t.Helper()
	schema := c.schemas[resource]
	if schema == nil {
		c.t.Fatalf("there is no resource %s", resource)
	}
	return schema.ValueType().(tftypes.Object)
}

func (c *core) dynamic(kind tftypes.Type, value tftypes.Value) *tfprotov6.DynamicValue {
	c.t.Helper()
	made, err := tfprotov6.NewDynamicValue(kind, value)
	if err != nil {
		c.t.Fatal(err)
	}
	return &made
}

func (c *core) read(kind tftypes.Type, value *tfprotov6.DynamicValue) tftypes.Value {
	c.t.Helper()
	made, err := value.Unmarshal(kind)
	if err != nil {
		c.t.Fatal(err)
	}
	return made
}

// valueOf is JSON as a value of Terraform's type: members that are left out are null.
func valueOf(t *testing.T, kind tftypes.Type, from any) tftypes.Value {
	t.Helper()
	switch from := from.(type) {
	case nil:
		return tftypes.NewValue(kind, nil)
	case unknown:
		return tftypes.NewValue(kind, tftypes.UnknownValue)
	case members:
		return valueOf(t, kind, map[string]any(from))
	case []string:
		list := make([]any, 0, len(from))
		for _, text := range from {
			list = append(list, text)
		}
		return valueOf(t, kind, list)
	case int:
		return valueOf(t, kind, json.Number(fmt.Sprint(from)))
	case float64:
		return tftypes.NewValue(tftypes.Number, big.NewFloat(from))
	case json.Number:
		number, _, err := big.ParseFloat(from.String(), 10, 512, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		return tftypes.NewValue(tftypes.Number, number)
	}
	switch kind := kind.(type) {
	case tftypes.Object:
		given, isObject := from.(map[string]any)
		if !isObject {
			t.Fatalf("%v where an object is expected", from)
		}
		values := map[string]tftypes.Value{}
		for name, of := range kind.AttributeTypes {
			values[name] = valueOf(t, of, given[name])
		}
		for name := range given {
			if _, known := kind.AttributeTypes[name]; !known {
				t.Fatalf("there is no attribute %s", name)
			}
		}
		return tftypes.NewValue(kind, values)
	case tftypes.List:
		return tftypes.NewValue(kind, listOf(t, kind.ElementType, from))
	case tftypes.Set:
		return tftypes.NewValue(kind, listOf(t, kind.ElementType, from))
	case tftypes.Map:
		values := map[string]tftypes.Value{}
		for name, value := range from.(map[string]any) {
			values[name] = valueOf(t, kind.ElementType, value)
		}
		return tftypes.NewValue(kind, values)
	}
	if !kind.Is(tftypes.DynamicPseudoType) {
		return tftypes.NewValue(kind, from)
	}
	// As HCL reads a value that has no declared type.
	switch from := from.(type) {
	case string:
		return tftypes.NewValue(tftypes.String, from)
	case bool:
		return tftypes.NewValue(tftypes.Bool, from)
	case []any:
		var types []tftypes.Type
		values := listOf(t, kind, from)
		for _, value := range values {
			types = append(types, value.Type())
		}
		return tftypes.NewValue(tftypes.Tuple{ElementTypes: types}, values)
	case map[string]any:
		types, values := map[string]tftypes.Type{}, map[string]tftypes.Value{}
		for name, value := range from {
			values[name] = valueOf(t, kind, value)
			types[name] = values[name].Type()
		}
		return tftypes.NewValue(tftypes.Object{AttributeTypes: types}, values)
	}
	t.Fatalf("no value of Terraform's: %v", from)
	return tftypes.Value{}
}

func listOf(t *testing.T, kind tftypes.Type, from any) []tftypes.Value {
	t.Helper()
	values := []tftypes.Value{}
	for _, value := range from.([]any) {
		values = append(values, valueOf(t, kind, value))
	}
	return values
}

func attributes(t *testing.T, of tftypes.Value) map[string]tftypes.Value {
	t.Helper()
	found := map[string]tftypes.Value{}
	if err := of.As(&found); err != nil {
		t.Fatal(err)
	}
	return found
}

// text is an attribute that is a text; empty where it is null.
func (s *state) text(t *testing.T, name string) string {
	t.Helper()
	var found *string
	if err := attributes(t, s.value)[name].As(&found); err != nil {
		t.Fatal(err)
	}
	if found == nil {
		return ""
	}
	return *found
}

func (c *core) config(resource string, given members) tftypes.Value {
	c.t.Helper()
	return valueOf(c.t, c.kind(resource), map[string]any(given))
}

func (c *core) validate(resource string, config tftypes.Value) said {
	c.t.Helper()
	answer, err := c.server.ValidateResourceConfig(c.t.Context(), &tfprotov6.ValidateResourceConfigRequest{
		TypeName: resource, Config: c.dynamic(c.kind(resource), config),
		ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{
			WriteOnlyAttributesAllowed: true,
		},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return diagnostics(answer.Diagnostics)
}

// planned is what a plan says.
type planned struct {
	value, config tftypes.Value
	private       []byte
	replaces      bool
}

// plan plans a configuration over a state (nil: none), and holds the provider to Terraform's rules
// of what a plan may say.
func (c *core) plan(resource string, before *state, config tftypes.Value) (*planned, said) {
	c.t.Helper()
	kind := c.kind(resource)
	prior, private := tftypes.NewValue(kind, nil), []byte(nil)
	was := map[string]tftypes.Value{}
	if before != nil {
		prior, private = before.value, before.private
		was = attributes(c.t, prior)
	}
	given := attributes(c.t, config)
	proposed := map[string]tftypes.Value{}
	for _, attribute := range c.schemas[resource].Block.Attributes {
		name := attribute.Name
		value := given[name]
		switch {
		case attribute.WriteOnly:
			value = tftypes.NewValue(value.Type(), nil)
		case attribute.Computed && value.IsNull() && before != nil:
			value = was[name]
		}
		proposed[name] = value
	}
	answer, err := c.server.PlanResourceChange(c.t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: resource, PriorState: c.dynamic(kind, prior), PriorPrivate: private,
		ProposedNewState: c.dynamic(kind, tftypes.NewValue(kind, proposed)),
		Config:           c.dynamic(kind, config),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	failed := diagnostics(answer.Diagnostics)
	if failed.hasError() {
		return nil, failed
	}
	made := &planned{
		value: c.read(kind, answer.PlannedState), config: config,
		private: answer.PlannedPrivate, replaces: len(answer.RequiresReplace) > 0,
	}
	now := attributes(c.t, made.value)
	for _, attribute := range c.schemas[resource].Block.Attributes {
		name := attribute.Name
		switch {
		case attribute.WriteOnly:
			if !now[name].IsNull() {
				c.t.Fatalf("%s: the plan has a write-only value", name)
			}
		case !given[name].IsNull() || !attribute.Computed:
			if !now[name].Equal(given[name]) {
				c.t.Fatalf("%s: planned is not what is configured: %s, %s", name, now[name], given[name])
			}
		}
	}
	return made, failed
}

// isEmpty is whether a plan changes nothing.
func (p *planned) isEmpty(before *state) bool {
	return p.value.Equal(before.value)
}

// apply applies a plan, and holds the provider to what the plan said.
func (c *core) apply(resource string, before *state, plan *planned) (*state, said) {
	c.t.Helper()
	kind := c.kind(resource)
	prior := tftypes.NewValue(kind, nil)
	if before != nil {
		prior = before.value
	}
	answer, err := c.server.ApplyResourceChange(c.t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: resource, PriorState: c.dynamic(kind, prior),
		PlannedState: c.dynamic(kind, plan.value), Config: c.dynamic(kind, plan.config),
		PlannedPrivate: plan.private,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	failed := diagnostics(answer.Diagnostics)
	made := &state{value: c.read(kind, answer.NewState), private: answer.Private}
	if failed.hasError() {
		return made, failed
	}
	if plan.value.IsNull() {
		if !made.value.IsNull() {
			c.t.Fatal("there is a state of what was destroyed")
		}
		return made, failed
	}
	now := attributes(c.t, made.value)
	for name, value := range attributes(c.t, plan.value) {
		if !now[name].IsFullyKnown() {
			c.t.Fatalf("%s: not known after it was applied", name)
		}
		if value.IsFullyKnown() && !now[name].Equal(value) {
			c.t.Fatalf("%s: inconsistent result after apply: %s, %s", name, now[name], value)
		}
	}
	return made, failed
}

// refresh reads a resource again; nil: it is gone.
func (c *core) refresh(resource string, before *state) *state {
	c.t.Helper()
	kind := c.kind(resource)
	answer, err := c.server.ReadResource(c.t.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: resource, CurrentState: c.dynamic(kind, before.value), Private: before.private,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.whole(nil, answer.Diagnostics)
	made := &state{value: c.read(kind, answer.NewState), private: answer.Private}
	if made.value.IsNull() {
		return nil
	}
	return made
}

// imported imports by name and refreshes, as Terraform does.
func (c *core) imported(resource, name string) (*state, said) {
	c.t.Helper()
	kind := c.kind(resource)
	answer, err := c.server.ImportResourceState(c.t.Context(), &tfprotov6.ImportResourceStateRequest{
		TypeName: resource, ID: name,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	if failed := diagnostics(answer.Diagnostics); failed.hasError() {
		return nil, failed
	}
	one := answer.ImportedResources[0]
	made := &state{value: c.read(kind, one.State), private: one.Private}
	return c.refresh(resource, made), nil
}

// run is `terraform apply`: refresh, plan, apply.
func (c *core) run(resource string, before *state, given members) (*state, said) {
	c.t.Helper()
	config := c.config(resource, given)
	if failed := c.validate(resource, config); failed.hasError() {
		return before, failed
	}
	if before != nil {
		before = c.refresh(resource, before)
	}
	plan, failed := c.plan(resource, before, config)
	if failed.hasError() {
		return before, failed
	}
	if before != nil && plan.replaces {
		c.destroy(resource, before)
		before = nil
		if plan, failed = c.plan(resource, nil, config); failed.hasError() {
			return nil, failed
		}
	}
	return c.apply(resource, before, plan)
}

// make runs what must go well.
func (c *core) make(resource string, before *state, given members) *state {
	c.t.Helper()
	made, failed := c.run(resource, before, given)
	if failed.hasError() {
		c.t.Fatalf("%s: %s", resource, failed)
	}
	return made
}

// settled fails unless refreshing changes nothing, and neither does another plan.
func (c *core) settled(resource string, at *state, given members) {
	c.t.Helper()
	again := c.refresh(resource, at)
	if again == nil {
		c.t.Fatalf("%s: it is gone", resource)
	}
	if !again.value.Equal(at.value) {
		c.t.Fatalf("%s: refreshed is not what was applied: %s", resource, differs(at.value, again.value))
	}
	plan, failed := c.plan(resource, again, c.config(resource, given))
	if failed.hasError() {
		c.t.Fatal(failed)
	}
	if !plan.isEmpty(again) {
		c.t.Fatalf("%s: the plan is not empty: %s", resource, differs(again.value, plan.value))
	}
}

func differs(one, other tftypes.Value) string {
	found, err := one.Diff(other)
	if err != nil {
		return err.Error()
	}
	var said []string
	for _, difference := range found {
		said = append(said, difference.String())
	}
	return strings.Join(said, "\n")
}

func (c *core) destroy(resource string, before *state) {
	c.t.Helper()
	if failed := c.tryDestroy(resource, before); failed.hasError() {
		c.t.Fatalf("%s: %s", resource, failed)
	}
}

func (c *core) tryDestroy(resource string, before *state) said {
	c.t.Helper()
	plan, failed := c.planDestroy(resource, before)
	if failed.hasError() {
		return failed
	}
	_, failed = c.apply(resource, before, plan)
	return failed
}

func (c *core) planDestroy(resource string, before *state) (*planned, said) {
	c.t.Helper()
	kind := c.kind(resource)
	none := tftypes.NewValue(kind, nil)
	answer, err := c.server.PlanResourceChange(c.t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: resource, PriorState: c.dynamic(kind, before.value), PriorPrivate: before.private,
		ProposedNewState: c.dynamic(kind, none), Config: c.dynamic(kind, none),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	failed := diagnostics(answer.Diagnostics)
	if failed.hasError() {
		return nil, failed
	}
	return &planned{
		value: c.read(kind, answer.PlannedState), config: none, private: answer.PlannedPrivate,
	}, failed
}

// contains is whether a text stands anywhere in what Terraform keeps of a value.
func (c *core) contains(resource string, value tftypes.Value, text string) bool {
	c.t.Helper()
	return bytes.Contains(c.dynamic(c.kind(resource), value).MsgPack, []byte(text))
}
