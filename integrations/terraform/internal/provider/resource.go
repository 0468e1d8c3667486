package provider

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"signet/terraform/internal/admin"
	"signet/terraform/internal/tables"
)

// Owners of objects that are nobody's: the first can be taken over, the second is there always.
const (
	byHand  = "hand"
	builtIn = "built in"
)

// object is the resource of a kind.
//
// A member that a configuration leaves out is null here and at its default on the server. So
// state holds what was declared, and nothing that the server made of it. What differs is asked of
// the server: it plans what state declares, by its own rules, and what it would change has drifted.
type object struct {
	kind *tables.Kind
	*configured
}

var (
	_ resource.ResourceWithConfigure   = (*object)(nil)
	_ resource.ResourceWithModifyPlan  = (*object)(nil)
	_ resource.ResourceWithImportState = (*object)(nil)
)

func (o *object) Metadata(
	_ context.Context, request resource.MetadataRequest, response *resource.MetadataResponse,
) {
	response.TypeName = request.ProviderTypeName + "_" + o.kind.Name
}

func (o *object) Schema(
	_ context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse,
) {
	response.Schema = schemaOf(o.kind)
}

func (o *object) Configure(
	_ context.Context, request resource.ConfigureRequest, _ *resource.ConfigureResponse,
) {
	o.configured, _ = request.ProviderData.(*configured)
}

// values are the attributes of a resource's state, plan or configuration.
type values map[string]tftypes.Value

func valuesOf(raw tftypes.Value, to *diag.Diagnostics) values {
	found := map[string]tftypes.Value{}
	if err := raw.As(&found); err != nil {
		to.AddError("What Terraform says cannot be read", err.Error())
	}
	return found
}

func (v values) text(name string) string {
	var text string
	value, ok := v[name]
	if ok && value.IsKnown() && !value.IsNull() && value.As(&text) == nil {
		return text
	}
	return ""
}

// declared are the members that values give.
func (o *object) declared(of values, to *diag.Diagnostics) map[string]any {
	members := map[string]any{}
	for name := range o.kind.Members {
		member, err := toJSON(of[name])
		if err != nil {
			to.AddAttributeError(path.Root(name), wrongValue, err.Error())
		} else if member != nil {
			members[name] = member
		}
	}
	return members
}

// declarations are those of one object.
func (o *object) declarations(name string, members map[string]any) admin.Declarations {
	one := admin.Declared{Kind: o.kind.Name, Name: name, Members: members}
	return admin.Declarations{Directory: o.directory, Objects: []admin.Declared{one}}
}

// change is what a plan does with the object; nil: nothing.
func (o *object) change(plan *admin.Plan, name string) *admin.Change {
	for at := range plan.Changes {
		if change := &plan.Changes[at]; change.Kind == o.kind.Name && change.Name == name {
			return change
		}
	}
	return nil
}

// drift are members whose values on the server are not what was declared; nil: at its default.
func (o *object) drift(
	ctx context.Context, found *admin.Object, members map[string]any,
) (map[string]any, error) {
	asked := o.declarations(found.Name, members)
	// It is read and not taken over: whose it is, is another question.
	asked.Adopt = true
	plan, err := o.client.Plan(ctx, asked)
	if err != nil {
		return nil, err
	}
	differs := map[string]any{}
	if len(plan.Mistakes) > 0 {
		// What was declared can be declared no more: something that it names is gone, say. So the
		// values are compared as they are written.
		for name, member := range members {
			if name != o.kind.ID && !isSame(member, found.Members[name]) {
				differs[name] = found.Members[name]
			}
		}
		return differs, nil
	}
	if change := o.change(plan, found.Name); change != nil {
		for _, member := range change.Members {
			if member.Name != o.kind.Secret && member.Name != o.kind.ID {
				differs[member.Name] = member.Before
			}
		}
	}
	return differs, nil
}

// set writes a value of the server into an attribute.
func (o *object) set(to values, name string, of *tables.Type, value any, said *diag.Diagnostics) {
	made, err := fromJSON(value, of)
	if err != nil {
		said.AddAttributeError(path.Root(name), "The server has what this provider does not know",
			err.Error()+": is the provider older than the server?")
		return
	}
	to[name] = made
}

// setByServer writes what the server alone sets, where it is not known already.
func (o *object) setByServer(to values, found *admin.Object, said *diag.Diagnostics) {
	for name, of := range o.kind.SetByServer {
		if value := to[name]; !value.IsKnown() {
			o.set(to, name, of, found.SetByServer[name], said)
		}
	}
	to[owner] = tftypes.NewValue(tftypes.String, found.Owner)
}

// unset forgets what the server alone sets, so that it is read again.
func (o *object) unset(of values) {
	for name, member := range o.kind.SetByServer {
		of[name] = tftypes.NewValue(terraformType(member), tftypes.UnknownValue)
	}
}

// keep makes state of values. Secrets are never among them.
func (o *object) keep(state *tfsdk.State, of values, to *diag.Diagnostics) {
	if o.kind.Secret != "" {
		of[o.kind.Secret+secretSuffix] = tftypes.NewValue(tftypes.String, nil)
	}
	kind, made := state.Raw.Type(), map[string]tftypes.Value(of)
	if object, ok := kind.(tftypes.Object); ok {
		for name, of := range object.AttributeTypes {
			if _, given := made[name]; !given {
				made[name] = tftypes.NewValue(of, nil)
			}
		}
	}
	if err := tftypes.ValidateValue(kind, made); err != nil {
		to.AddError("What the server has cannot be kept", err.Error())
		return
	}
	state.Raw = tftypes.NewValue(kind, made)
}

// secret is the secret that a configuration gives; nil: none.
func (o *object) secret(config tfsdk.Config, to *diag.Diagnostics) *string {
	if o.kind.Secret == "" {
		return nil
	}
	value := valuesOf(config.Raw, to)[o.kind.Secret+secretSuffix]
	var text string
	if value.IsNull() || !value.IsKnown() || value.As(&text) != nil {
		return nil
	}
	return &text
}

func (o *object) ModifyPlan(
	ctx context.Context, request resource.ModifyPlanRequest, response *resource.ModifyPlanResponse,
) {
	if o.configured == nil {
		return
	}
	said := &response.Diagnostics
	if !request.Plan.Raw.IsNull() {
		// What is applied is owned; of what was imported the plan says so.
		said.Append(response.Plan.SetAttribute(ctx, path.Root(owner), o.owner())...)
	}
	if request.State.Raw.IsNull() || said.HasError() {
		return
	}
	before := valuesOf(request.State.Raw, said)
	if request.Plan.Raw.IsNull() {
		o.sayWhatEnds(ctx, o.removal(before), said)
		return
	}
	planned := valuesOf(response.Plan.Raw, said)
	members := map[string]any{}
	for name := range o.kind.Members {
		member, err := toJSON(planned[name])
		if err != nil {
			// It is known when it is applied.
			return
		}
		if member != nil {
			members[name] = member
		}
	}
	wanted := o.declarations(before.text(o.kind.ID), members)
	wanted.Adopt = before.text(owner) == byHand
	o.sayWhatEnds(ctx, wanted, said)
}

// sayWhatEnds warns of what ends with a change. What is wrong with the change is not said here: it
// may name objects that are made before it.
func (o *object) sayWhatEnds(
	ctx context.Context, wanted admin.Declarations, to *diag.Diagnostics,
) {
	plan, err := o.client.Plan(ctx, wanted)
	if err != nil {
		return
	}
	for _, one := range []struct {
		kind  string
		names []string
	}{{"client", plan.Ends.Clients}, {"user", plan.Ends.Users}} {
		for _, name := range one.names {
			to.AddWarning("Something ends", fmt.Sprintf(
				"With this change everything ends that was issued to the %s %q.", one.kind, name))
		}
	}
}

// removal declares that an object goes.
func (o *object) removal(of values) admin.Declarations {
	return admin.Declarations{
		Directory: o.directory,
		Objects:   []admin.Declared{},
		Remove:    []admin.Named{{Kind: o.kind.Name, Name: of.text(o.kind.ID)}},
		Adopt:     of.text(owner) == byHand,
	}
}

func (o *object) Create(
	ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse,
) {
	said := &response.Diagnostics
	planned := valuesOf(request.Plan.Raw, said)
	members := o.declared(planned, said)
	secret := o.secret(request.Config, said)
	if said.HasError() {
		return
	}
	name := planned.text(o.kind.ID)
	found, err := o.client.Object(ctx, o.kind.Name, name)
	if err != nil {
		o.report(err, name, said)
		return
	}
	if found != nil && found.Owner != builtIn {
		said.AddAttributeError(path.Root(o.kind.ID), "It exists", fmt.Sprintf(
			"There is a %s %q already; its owner is: %s. Import it to manage it here.",
			o.kind.Name, name, found.Owner))
		return
	}
	wanted := o.declarations(name, members)
	wanted.Objects[0].Secret = secret
	applied := o.client.Apply(ctx, wanted, func(plan *admin.Plan) error {
		change := o.change(plan, name)
		if found == nil && (change == nil || change.Act != "add") {
			return fmt.Errorf("somebody made the %s %q in the meantime: import it", o.kind.Name, name)
		}
		return nil
	})
	if applied != nil {
		o.report(applied, name, said)
	}
	found, err = o.client.Object(ctx, o.kind.Name, name)
	if err != nil {
		o.report(err, name, said)
		return
	}
	// An account is made in steps: where a later one failed, Terraform has to know of it.
	if found == nil || (applied != nil && found.Owner != o.owner()) {
		if applied == nil {
			said.AddError("It is gone", "Somebody removed it as soon as it was made.")
		}
		return
	}
	o.setByServer(planned, found, said)
	o.keep(&response.State, planned, said)
}

func (o *object) Read(
	ctx context.Context, request resource.ReadRequest, response *resource.ReadResponse,
) {
	said := &response.Diagnostics
	state := valuesOf(request.State.Raw, said)
	members := o.declared(state, said)
	if said.HasError() {
		return
	}
	name := state.text(o.kind.ID)
	found, err := o.client.Object(ctx, o.kind.Name, name)
	if err != nil {
		o.report(err, name, said)
		return
	}
	// What every server has, and nobody declares, is nobody's resource.
	if found == nil || found.Owner == builtIn {
		response.State.RemoveResource(ctx)
		return
	}
	differs, err := o.drift(ctx, found, members)
	if err != nil {
		o.report(err, name, said)
		return
	}
	for member, value := range differs {
		if of := o.kind.Members[member]; of != nil {
			o.set(state, member, of, value, said)
		}
	}
	o.unset(state)
	o.setByServer(state, found, said)
	o.keep(&response.State, state, said)
}

func (o *object) Update(
	ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse,
) {
	said := &response.Diagnostics
	planned := valuesOf(request.Plan.Raw, said)
	before := valuesOf(request.State.Raw, said)
	members, known := o.declared(planned, said), o.declared(before, said)
	secret := o.secret(request.Config, said)
	if said.HasError() {
		return
	}
	name := planned.text(o.kind.ID)
	wanted := o.declarations(name, members)
	wanted.Adopt = before.text(owner) == byHand
	version := o.kind.Secret + versionSuffix
	if was, is := before[version], planned[version]; o.kind.Secret != "" && !was.Equal(is) {
		wanted.Objects[0].Secret = secret
		if secret == nil && !is.IsNull() {
			said.AddAttributeError(path.Root(version), "No secret",
				"The version changes, and there is no "+o.kind.Secret+secretSuffix+" to write.")
			return
		}
	}
	applied := o.client.Apply(ctx, wanted, func(*admin.Plan) error {
		return o.unchanged(ctx, name, before.text(owner), known)
	})
	if applied != nil {
		o.report(applied, name, said)
		return
	}
	found, err := o.client.Object(ctx, o.kind.Name, name)
	if err != nil {
		o.report(err, name, said)
		return
	}
	if found == nil {
		said.AddError("It is gone", "Somebody removed it as soon as it was changed.")
		return
	}
	o.setByServer(planned, found, said)
	o.keep(&response.State, planned, said)
}

// unchanged is an error where the object is not what Terraform planned with.
func (o *object) unchanged(
	ctx context.Context, name, owner string, known map[string]any,
) error {
	again := "; plan again"
	found, err := o.client.Object(ctx, o.kind.Name, name)
	if err != nil {
		return err
	}
	if found == nil {
		return errors.New("somebody removed it since the plan was made" + again)
	}
	if found.Owner != owner {
		return fmt.Errorf("its owner was %s, and is %s now%s", owner, found.Owner, again)
	}
	differs, err := o.drift(ctx, found, known)
	if err != nil || len(differs) == 0 {
		return err
	}
	var names []string
	for member := range differs {
		names = append(names, member)
	}
	sort.Strings(names)
	return fmt.Errorf("somebody changed %s since the plan was made%s", strings.Join(names, ", "), again)
}

func (o *object) Delete(
	ctx context.Context, request resource.DeleteRequest, response *resource.DeleteResponse,
) {
	said := &response.Diagnostics
	state := valuesOf(request.State.Raw, said)
	if said.HasError() {
		return
	}
	err := o.client.Apply(ctx, o.removal(state), func(*admin.Plan) error { return nil })
	if err != nil {
		o.report(err, state.text(o.kind.ID), said)
	}
}

// ImportState reads what is there as the shortest declaration of it: what the server makes of
// nothing is left out, as a configuration leaves it out.
func (o *object) ImportState(
	ctx context.Context, request resource.ImportStateRequest, response *resource.ImportStateResponse,
) {
	said := &response.Diagnostics
	found, err := o.client.Object(ctx, o.kind.Name, request.ID)
	if err != nil {
		o.report(err, request.ID, said)
		return
	}
	if found == nil || found.Owner == builtIn {
		said.AddError("Nothing to import", fmt.Sprintf("There is no %s %q.", o.kind.Name, request.ID))
		return
	}
	if found.Owner != byHand && found.Owner != o.owner() {
		said.AddError("It cannot be imported", fmt.Sprintf(
			"The owner of the %s %q is: %s. That is where it is changed.",
			o.kind.Name, request.ID, found.Owner))
		return
	}
	members, err := o.shortest(ctx, found)
	if err != nil {
		o.report(err, request.ID, said)
		return
	}
	state := valuesOf(response.State.Raw, said)
	for name, of := range o.kind.Members {
		o.set(state, name, of, members[name], said)
	}
	o.set(state, o.kind.ID, o.kind.Members[o.kind.ID], found.Name, said)
	o.unset(state)
	o.setByServer(state, found, said)
	if said.HasError() {
		return
	}
	o.keep(&response.State, state, said)
}

// shortest is the declaration of an object with nothing in it that the server makes of nothing.
func (o *object) shortest(ctx context.Context, found *admin.Object) (map[string]any, error) {
	members := map[string]any{}
	for name, member := range found.Members {
		members[name] = member
	}
	// The default of one member may follow from another one: until none can be left out any more.
	for isShorter := true; isShorter; {
		isShorter = false
		for _, name := range tables.Names(o.kind.Members) {
			member, ok := members[name]
			if !ok || o.kind.Members[name].Required {
				continue
			}
			delete(members, name)
			isNeeded, err := o.isNeeded(ctx, found.Name, members)
			if err != nil {
				return nil, err
			}
			if isNeeded {
				members[name] = member
			} else {
				isShorter = true
			}
		}
	}
	return members, nil
}

// isNeeded is whether these members, from which one was taken, declare something else.
func (o *object) isNeeded(ctx context.Context, name string, members map[string]any) (bool, error) {
	asked := o.declarations(name, members)
	asked.Adopt = true
	plan, err := o.client.Plan(ctx, asked)
	if err != nil {
		return false, err
	}
	change := o.change(plan, name)
	return len(plan.Mistakes) > 0 || (change != nil && len(change.Members) > 0), nil
}

// report says what went wrong, at the attribute that it is about.
func (o *object) report(err error, name string, to *diag.Diagnostics) {
	var mistakes admin.Mistakes
	if !errors.As(err, &mistakes) {
		to.AddError(fmt.Sprintf("The %s %q", o.kind.Name, name), err.Error())
		return
	}
	for _, mistake := range mistakes {
		summary := fmt.Sprintf("The server refuses the %s %q", o.kind.Name, name)
		said := mistake.Detail + " (" + mistake.Code + ")"
		if at, ok := o.place(mistake.Member); ok {
			to.AddAttributeError(at, summary, said)
		} else {
			to.AddError(summary, said)
		}
	}
}

func (o *object) place(member string) (path.Path, bool) {
	switch {
	case member != "" && member == o.kind.Secret:
		return path.Root(member + secretSuffix), true
	case o.kind.Members[member] != nil:
		return path.Root(member), true
	}
	return path.Empty(), false
}
