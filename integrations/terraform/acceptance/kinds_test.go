package acceptance

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"signet/terraform/internal/tables"
)

// example is a kind's object in a test: as it is made, and as it is changed.
type example struct {
	name          string
	made, changed members
	// beside are objects that it names, of the same provider.
	beside []besides
}

type besides struct {
	resource string
	members  members
}

// examples have one of each kind. A kind that has none fails the test of all kinds.
var examples = map[string]example{
	"realm": {
		name:    "example-realm",
		made:    members{"description": "An example", "settings": map[string]any{"lifetimes.access_token": "5m", "brand.name": "Example"}},
		changed: members{"suspended": true, "settings": map[string]any{"lifetimes.access_token": "4m"}},
	},
	"attribute": {
		name:    "example_department",
		made:    members{"type": "string", "label": "Department", "max_bytes": 40},
		changed: members{"type": "string", "read": "person", "write": "person", "verified": true},
	},
	"scope": {
		name:    "example-orders",
		made:    members{"description": "See your orders", "descriptions": map[string]any{"de": "Bestellungen sehen"}},
		changed: members{"description": "See all orders", "published": true, "claims": []any{map[string]any{"claim": "teams", "from": "groups"}}},
	},
	"client": {
		name: "example-shop",
		made: members{
			"client_name": "The shop", "redirect_uris": []string{"https://shop.example/callback"},
			"grant_types": []string{"authorization_code", "refresh_token"}, "scope": "openid profile",
			"client_secret_wo": "the first secret of the shop, of 32 bytes", "client_secret_wo_version": 1,
		},
		changed: members{
			"client_name":           "The new shop",
			"redirect_uris":         []string{"https://shop.example/callback", "https://shop.example/other"},
			"access_token_lifetime": 120, "require_pkce": false, "scope": "profile openid",
			"claims":           []any{map[string]any{"claim": "teams", "from": "groups", "in": []any{"id_token"}}},
			"client_secret_wo": "the next secret of the shop, of 32 bytes", "client_secret_wo_version": 2,
		},
	},
	"role": {
		name:    "example-editor",
		made:    members{"description": "Edits"},
		changed: members{},
	},
	"administrator_role": {
		name:    "example-registrar",
		made:    members{"description": "Registers clients", "operations": []string{"clients:read", "createClient"}},
		changed: members{"operations": []string{"clients:read"}},
	},
	"group": {
		name: "example-staff",
		beside: []besides{
			{"signet_role", members{"name": "example-writer"}},
			{"signet_group", members{"name": "example-all"}},
		},
		made:    members{"description": "Staff", "roles": []string{"example-writer"}},
		changed: members{"parent": "example-all", "roles": []string{}},
	},
	"resource": {
		name:    "https://orders.example-terraform.com/api?version=1",
		made:    members{"name": "Orders", "scope": "openid", "access_token_lifetime": 300},
		changed: members{"access_token_format": "jwt", "introspectors": []string{"service"}},
	},
	"rule": {
		name:   "example-office",
		beside: []besides{{"signet_group", members{"name": "example-office"}}},
		made: members{
			"effect": "deny", "groups": []string{"example-office"}, "clients": []string{"native"},
			"when": map[string]any{"days": []any{"sat", "sun"}, "hours": "22:00-06:00", "zone": "Europe/Berlin"},
		},
		changed: members{
			"effect": "deny", "users": []string{"alice"}, "clients": []string{"native"}, "description": "Not at home",
			"attributes": map[string]any{}, "except": map[string]any{"networks": []any{"127.0.0.0/8", "::1/128"}},
			"networks": []string{"10.0.0.0/8"},
		},
	},
	"provider": {
		name: "example-login",
		made: members{
			"client_id": "signet", "issuer": "https://login.example", "label": "Example",
			"client_secret_wo": "the secret of the provider", "client_secret_wo_version": 1,
			"claims": []any{map[string]any{"claim": "given", "to": "given_name"}},
		},
		changed: members{
			"client_id": "signet", "issuer": "https://login.example", "trust_email": true,
			"domains": []string{"example-terraform.com"}, "create": false,
			"client_secret_wo": "another secret of the provider", "client_secret_wo_version": 2,
			"groups": []any{map[string]any{"claim": "groups", "value": "*"}},
		},
	},
	"user": {
		name: "example-person",
		beside: []besides{
			{"signet_group", members{"name": "example-people"}},
			{"signet_attribute", members{"name": "example_floor", "type": "number"}},
		},
		made: members{
			"email": "person@example-terraform.com", "email_verified": true, "groups": []string{"example-people"},
			"profile": map[string]any{"given_name": "Pat"}, "password_wo": "a long first passphrase of hers",
			"attributes": map[string]any{"example_floor": 3},
		},
		changed: members{
			"email": "person@example-terraform.com", "groups": []string{},
			"profile": map[string]any{"given_name": "Pat", "locale": "de", "phone_number_verified": false},
			"enabled": false,
		},
	},
}

func kinds(t *testing.T) []*tables.Kind {
	t.Helper()
	found, err := tables.Kinds()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func with(id, name string, more members) members {
	all := members{id: name}
	for member, value := range more {
		all[member] = value
	}
	return all
}

// isSecret is whether an attribute is there for a secret.
func isSecret(name string) bool {
	return strings.HasSuffix(name, "_wo") || strings.HasSuffix(name, "_wo_version")
}

func TestEveryKindIsMadeChangedImportedAndDestroyed(t *testing.T) {
	for _, kind := range kinds(t) {
		t.Run(kind.Name, func(t *testing.T) {
			example, ok := examples[kind.Name]
			if !ok {
				t.Fatalf("the kind %s has no example", kind.Name)
			}
			c := newCore(t, asAdministrator(nil))
			var beside []*state
			for _, one := range example.beside {
				beside = append(beside, c.make(one.resource, nil, one.members))
			}
			resource := "signet_" + kind.Name
			first := with(kind.ID, example.name, example.made)
			made := c.make(resource, nil, first)
			c.settled(resource, made, first)
			if owner := made.text(t, "owner"); owner != "directory terraform" {
				t.Fatalf("the owner is %s", owner)
			}
			object := found(t, kind.Name, example.name)
			for member, value := range example.made {
				if !isSecret(member) && !has(object.Members[member], value) {
					t.Fatalf("the server has %s: %v, not %v", member, object.Members[member], value)
				}
			}
			second := with(kind.ID, example.name, example.changed)
			changed := c.make(resource, made, second)
			c.settled(resource, changed, second)

			imported, failed := c.imported(resource, example.name)
			if failed.hasError() {
				t.Fatal(failed)
			}
			c.isDeclaredAs(resource, imported, second)
			// What an import could not know is written once, and changes nothing there.
			before := found(t, kind.Name, example.name)
			settled := c.make(resource, imported, second)
			if after := found(t, kind.Name, example.name); !reflect.DeepEqual(before, after) {
				t.Fatalf("an apply after an import changed %v to %v", before, after)
			}
			c.settled(resource, settled, second)

			c.destroy(resource, settled)
			if found(t, kind.Name, example.name) != nil {
				t.Fatal("it is still there")
			}
			if c.refresh(resource, settled) != nil {
				t.Fatal("it is still read")
			}
			// A destruction that was interrupted is begun again.
			c.destroy(resource, settled)
			for at := len(beside) - 1; at >= 0; at-- {
				c.destroy(example.beside[at].resource, beside[at])
			}
		})
	}
}

// has is whether the server's value is the declared one; of an object, as far as it was declared.
func has(value, declared any) bool {
	text, err := json.Marshal(declared)
	if err != nil {
		return false
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if decoder.Decode(&declared) != nil {
		return false
	}
	if object, ok := declared.(map[string]any); ok {
		of, ok := value.(map[string]any)
		for name, member := range object {
			ok = ok && has(of[name], member)
		}
		return ok
	}
	return reflect.DeepEqual(value, declared)
}

// isDeclaredAs fails unless an import has what a configuration declares: but for the secrets, which
// nothing shows, and for what it leaves out, because the server makes the same of nothing.
func (c *core) isDeclaredAs(resource string, imported *state, config members) {
	c.t.Helper()
	now := attributes(c.t, imported.value)
	for name, value := range attributes(c.t, c.config(resource, config)) {
		isComputed := value.IsNull() && !now[name].IsNull() && c.isComputed(resource, name)
		if !isSecret(name) && !isComputed && !now[name].IsNull() && !now[name].Equal(value) {
			c.t.Fatalf("%s is imported as %s, and declared as %s", name, now[name], value)
		}
	}
}

func (c *core) isComputed(resource, name string) bool {
	for _, attribute := range c.schemas[resource].Block.Attributes {
		if attribute.Name == name {
			return attribute.Computed
		}
	}
	return false
}

// sample is a value for a type, and another one.
func sample(of *tables.Type, second bool) any {
	switch of.Form {
	case tables.Text:
		if len(of.Choices) > 0 {
			if second {
				return of.Choices[len(of.Choices)-1]
			}
			return of.Choices[0]
		}
		if second {
			return "https://terraform-sample.example/two"
		}
		return "https://terraform-sample.example/one"
	case tables.Whole, tables.Number:
		if second {
			return 2000000000
		}
		return 600
	case tables.Flag:
		return !second
	case tables.List, tables.Set:
		if second {
			return []any{}
		}
		return []any{sample(of.Items, false)}
	case tables.Map:
		return map[string]any{"de": sample(of.Items, second)}
	case tables.Object:
		object := map[string]any{}
		for name, member := range of.Members {
			object[name] = sample(member, second)
		}
		return object
	default:
		return map[string]any{"sample": second, "more": []any{1, "two"}}
	}
}

// Whatever a member is given: it is in effect, and another plan is empty; or it is refused, and
// nothing has changed. A provider never says that something was done which was not.
func TestEveryMemberIsInEffectOrRefused(t *testing.T) {
	inEffect := map[string]int{}
	for _, kind := range kinds(t) {
		t.Run(kind.Name, func(t *testing.T) {
			c := newCore(t, asAdministrator(members{"directory": "members"}))
			resource := "signet_" + kind.Name
			name := "membersample"
			if kind.ID == "identifier" {
				name = "https://member-sample.example"
			}
			base := members{kind.ID: name}
			for _, needed := range kind.Needs {
				base[needed] = sample(kind.Members[needed], false)
			}
			switch kind.Name {
			// Every attempt needs these; the tables say so in the server's words only.
			case "client":
				base["token_endpoint_auth_method"] = "none"
				base["redirect_uris"] = []string{"https://terraform-sample.example/callback"}
			case "provider":
				base["issuer"] = "https://login.example"
				base["token_endpoint_auth_method"] = "none"
			case "administrator_role":
				base["operations"] = []string{"listUsers"}
			}
			at := c.make(resource, nil, base)
			for _, member := range tables.Names(kind.Members) {
				if _, given := base[member]; given && member != "issuer" {
					continue
				}
				for _, second := range []bool{false, true} {
					wanted := with(member, "", base)
					wanted[member] = sample(kind.Members[member], second)
					made, failed := c.run(resource, at, wanted)
					if failed.hasError() {
						if again := c.refresh(resource, at); again == nil || !again.value.Equal(at.value) {
							t.Fatalf("%s was refused, and something changed: %s", member, failed)
						}
						continue
					}
					inEffect[kind.Name]++
					c.settled(resource, made, wanted)
					at = c.make(resource, made, base)
					c.settled(resource, at, base)
				}
			}
			c.destroy(resource, at)
			if kind.Members["description"] != nil && inEffect[kind.Name] == 0 {
				t.Fatal("no member was ever in effect")
			}
		})
	}
	if inEffect["client"] < 20 {
		t.Fatalf("the samples show too little: %v", inEffect)
	}
}

func TestTheTablesAreTheServers(t *testing.T) {
	text, err := exec.Command(server.binary, "config", "schema", "--declarations").Output()
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.FromSlash("../internal/tables/kinds.json"))
	if err != nil {
		t.Fatal(err)
	}
	var ours struct{ Schema map[string]any }
	var theirs map[string]any
	if err := json.Unmarshal(kept, &ours); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &theirs); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(ours.Schema, theirs) {
		t.Fatal("this binary has other tables than the provider")
	}
	c := newCore(t, asAdministrator(nil))
	for _, kind := range kinds(t) {
		block := c.schemas["signet_"+kind.Name].Block
		documented := 0
		for _, attribute := range block.Attributes {
			if attribute.Description != "" {
				documented++
			}
		}
		if want := len(kind.Members) + len(kind.SetByServer); len(block.Attributes) < want+1 {
			t.Fatalf("%s: %d attributes of %d members", kind.Name, len(block.Attributes), want)
		}
		if documented == 0 {
			t.Fatalf("%s: no attribute says what it is", kind.Name)
		}
	}
}

// The secret is in effect, and stands neither in plan nor in state; nor does a hash of it.
func TestSecretsAreInEffectAndNowhereElse(t *testing.T) {
	c := newCore(t, asAdministrator(nil))
	secrets := []string{"terraform-secret-number-one-of-32-bytes", "terraform-secret-number-two-of-32-bytes"}
	nowhere := func(values ...tftypes.Value) {
		t.Helper()
		for _, secret := range secrets {
			sum := sha256.Sum256([]byte(secret))
			for _, form := range []string{
				secret, hex.EncodeToString(sum[:]), base64.StdEncoding.EncodeToString(sum[:]),
				base64.RawURLEncoding.EncodeToString(sum[:]), string(sum[:]), "$argon2",
			} {
				for _, value := range values {
					if c.contains("signet_client", value, form) {
						t.Fatal("a secret, or a hash of it, is kept")
					}
				}
			}
		}
		log, err := os.ReadFile(server.log)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if strings.Contains(string(log), secret) {
				t.Fatal("a secret stands in the server's log")
			}
		}
	}
	given := func(secret string, version int) members {
		return members{
			"client_id": "secret-keeper", "grant_types": []string{"client_credentials"},
			"scope": "signet:admin", "client_secret_wo": secret, "client_secret_wo_version": version,
		}
	}
	plan, failed := c.plan("signet_client", nil, c.config("signet_client", given(secrets[0], 1)))
	if failed.hasError() {
		t.Fatal(failed)
	}
	at, failed := c.apply("signet_client", nil, plan)
	if failed.hasError() {
		t.Fatal(failed)
	}
	nowhere(plan.value, at.value)
	if !takes(t, "secret-keeper", secrets[0]) {
		t.Fatal("the secret is not in effect")
	}
	// Without another version nothing is planned, and nothing is written.
	c.settled("signet_client", at, given(secrets[1], 1))
	again := with("client_name", "Keeper", given(secrets[1], 1))
	at = c.make("signet_client", at, again)
	if !takes(t, "secret-keeper", secrets[0]) || takes(t, "secret-keeper", secrets[1]) {
		t.Fatal("a secret was written without another version")
	}
	at = c.make("signet_client", at, given(secrets[1], 2))
	nowhere(at.value)
	if takes(t, "secret-keeper", secrets[0]) || !takes(t, "secret-keeper", secrets[1]) {
		t.Fatal("the next secret is not in effect")
	}
	// A version alone writes nothing, and says so.
	none := with("client_secret_wo_version", "", given("", 0))
	none["client_secret_wo"], none["client_secret_wo_version"] = nil, 3
	if _, failed := c.run("signet_client", at, none); !strings.Contains(
		failed.String(), "error client_secret_wo_version: No secret") {
		t.Fatalf("said: %s", failed)
	}
	c.destroy("signet_client", at)
	if takes(t, "secret-keeper", secrets[1]) {
		t.Fatal("a client that is gone gets tokens")
	}
}

func TestAFirstPasswordIsThePersonsOwnAfterwards(t *testing.T) {
	c := newCore(t, asAdministrator(nil))
	given := members{"username": "first-password", "password_wo": "mountains of purple porridge"}
	at := c.make("signet_user", nil, given)
	if !logsIn(t, "first-password", "mountains of purple porridge") {
		t.Fatal("she cannot log in")
	}
	if c.contains("signet_user", at.value, "porridge") || c.contains("signet_user", at.value, "$argon2") {
		t.Fatal("the state has the password")
	}
	given["password_wo"] = "valleys of yellow custard"
	c.settled("signet_user", at, given)
	given["email"] = "first@example-terraform.com"
	at = c.make("signet_user", at, given)
	if !logsIn(t, "first-password", "mountains of purple porridge") {
		t.Fatal("the password was written over")
	}
	c.destroy("signet_user", at)

	// What is refused in a later step is said, and what was made is known: nothing is lost.
	refused, failed := c.run("signet_user", nil, members{"username": "short", "password_wo": "abc"})
	if !failed.hasError() || strings.Contains(failed.String(), "abc") {
		t.Fatalf("said: %s", failed)
	}
	if refused != nil && !refused.value.IsNull() {
		c.destroy("signet_user", refused)
	}
	if found(t, "user", "short") != nil {
		t.Fatal("there is an account without its password")
	}
}
