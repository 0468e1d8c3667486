package acceptance

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"signet/terraform/internal/admin"
)

func nothing(*admin.Plan) error { return nil }

func TestDriftIsFoundAndUndone(t *testing.T) {
	c := newCore(t, asAdministrator(nil))
	config := members{
		"client_id": "drifting", "client_name": "As declared", "token_endpoint_auth_method": "none",
		"redirect_uris": []string{"https://drift.example/callback"}, "scope": "openid profile",
	}
	at := c.make("signet_client", nil, config)
	signet(t, "client", "set", "drifting", "client_name=By hand", "require_auth_time=true")
	now := c.refresh("signet_client", at)
	if name := now.text(t, "client_name"); name != "By hand" {
		t.Fatalf("the name is %s", name)
	}
	if attributes(t, now.value)["require_auth_time"].IsNull() {
		t.Fatal("a member that is not declared has drifted, and nobody sees it")
	}
	at = c.make("signet_client", at, config)
	c.settled("signet_client", at, config)
	members := found(t, "client", "drifting").Members
	if members["client_name"] != "As declared" || members["require_auth_time"] == true {
		t.Fatalf("the server has %v", members)
	}
	// What goes by hand is made again.
	signet(t, "client", "remove", "drifting", "--yes")
	if c.refresh("signet_client", at) != nil {
		t.Fatal("it is still read")
	}
	at = c.make("signet_client", nil, config)
	c.destroy("signet_client", at)
}

func TestDriftIsFoundAlsoWhereWhatIsDeclaredCanBeDeclaredNoMore(t *testing.T) {
	c := newCore(t, asAdministrator(nil))
	role := c.make("signet_role", nil, members{"name": "passing"})
	config := members{"name": "holders", "description": "Hold it", "roles": []string{"passing"}}
	at := c.make("signet_group", nil, config)
	c.destroy("signet_role", role)
	now := c.refresh("signet_group", at)
	if now == nil {
		t.Fatal("the group is gone")
	}
	if attributes(t, now.value)["roles"].Equal(attributes(t, at.value)["roles"]) {
		t.Fatal("the role is gone, and the state still has it")
	}
	// A plan shows it; an apply is refused at the member, until the configuration is put right.
	_, failed := c.run("signet_group", at, config)
	if !strings.Contains(failed.String(), "error roles: ") {
		t.Fatalf("said: %s", failed)
	}
	at = c.make("signet_group", at, members{"name": "holders", "description": "Hold it"})
	c.destroy("signet_group", at)
}

func TestAnotherNameIsAnotherObject(t *testing.T) {
	c := newCore(t, asAdministrator(nil))
	at := c.make("signet_group", nil, members{"name": "before", "description": "Same"})
	was := at.text(t, "id")
	plan, failed := c.plan("signet_group", at, c.config("signet_group", members{"name": "after"}))
	if failed.hasError() || !plan.replaces {
		t.Fatalf("it is not replaced: %s", failed)
	}
	at = c.make("signet_group", at, members{"name": "after", "description": "Same"})
	if found(t, "group", "before") != nil || found(t, "group", "after") == nil {
		t.Fatal("it was not replaced")
	}
	if is := at.text(t, "id"); is == "" || is == was {
		t.Fatalf("what the server sets is %q, and was %q", is, was)
	}
	c.destroy("signet_group", at)
}

func TestAWrongValueIsSaidWhereItStands(t *testing.T) {
	c := newCore(t, asAdministrator(nil))
	for _, one := range []struct {
		resource string
		members  members
		said     string
	}{
		// What the tables know is said before anything is asked.
		{"signet_client", members{"client_id": "wrong", "consent": "maybe"},
			`error consent: Wrong value: "maybe" is not one of ask, implicit`},
		{"signet_client", members{"client_id": "wrong", "grant_types": []string{"client_credentials", "password"}},
			`error grant_types.1: Wrong value: "password" is not one of`},
		{"signet_client", members{"client_id": "wrong", "access_token_lifetime": -1},
			"error access_token_lifetime: Wrong value: -1 is not at least 0"},
		{"signet_rule", members{"name": "wrong"}, "error effect: "},
		{"signet_rule", members{"name": "wrong", "effect": "allowed"}, "error effect: Wrong value"},
		{"signet_group", members{"name": ""}, "error name: Wrong value: a name is not empty"},
		{"signet_client", members{"client_id": "wrong", "contacts": []any{nil}},
			"error contacts.0: Wrong value: null is no item of a list"},
		// What the server's rules refuse is said at the member that it is about.
		{"signet_client", members{"client_id": "wrong", "token_endpoint_auth_method": "none"},
			"error redirect_uris: The server refuses the client \"wrong\": redirect_uris is missing"},
		{"signet_client", members{"client_id": "wrong", "token_endpoint_auth_method": "client_secret_post",
			"redirect_uris": []string{"https://wrong.example/callback"}},
			"error client_secret_wo: The server refuses the client \"wrong\": client_secret is missing"},
		{"signet_client", members{"client_id": "wrong", "token_endpoint_auth_method": "none",
			"redirect_uris": []string{"not a URI"}}, "a redirect URI must be an absolute URI"},
		{"signet_group", members{"name": "wrong", "parent": "nowhere"}, "error parent: "},
		{"signet_rule", members{"name": "wrong", "effect": "deny", "networks": []string{"10.0.0.0/99"}},
			"error networks: "},
		{"signet_user", members{"username": "wrong", "groups": []string{"nowhere"}},
			"error groups: The server refuses the user \"wrong\": groups: there is no group nowhere"},
		{"signet_user", members{"username": "wrong", "attributes": map[string]any{"nowhere": 1}},
			"error attributes: "},
		{"signet_attribute", members{"name": "wrong", "type": "text"}, "error type: "},
		{"signet_provider", members{"name": "wrong", "client_id": "x", "preset": "elsewhere"}, "error preset: "},
	} {
		at, failed := c.run(one.resource, nil, one.members)
		if !strings.Contains(failed.String(), one.said) {
			t.Errorf("%s %v\nsaid:  %s\nand not: %s", one.resource, one.members, failed, one.said)
		}
		if at != nil && !at.value.IsNull() {
			t.Errorf("%s: it was made", one.resource)
		}
	}
}

func TestOfTwoWritersTheSecondIsToldAndNothingIsLost(t *testing.T) {
	c := newCore(t, asAdministrator(nil))
	at := c.make("signet_group", nil, members{"name": "contested", "description": "First"})
	plan, failed := c.plan("signet_group", at,
		c.config("signet_group", members{"name": "contested", "description": "Second"}))
	if failed.hasError() {
		t.Fatal(failed)
	}
	// Between plan and apply somebody else writes: another process of the same directory.
	declare(t, "terraform", "group", "contested", map[string]any{"name": "contested", "description": "Theirs"})
	_, failed = c.apply("signet_group", at, plan)
	if !strings.Contains(failed.String(), "somebody changed description since the plan was made; plan again") {
		t.Fatalf("said: %s", failed)
	}
	if is := found(t, "group", "contested").Members["description"]; is != "Theirs" {
		t.Fatalf("the server has %v", is)
	}
	at = c.make("signet_group", at, members{"name": "contested", "description": "Second"})
	// Somebody removes it.
	plan, _ = c.plan("signet_group", at, c.config("signet_group", members{"name": "contested"}))
	signet(t, "group", "remove", "contested", "--yes")
	if _, failed = c.apply("signet_group", at, plan); !strings.Contains(failed.String(), "somebody removed it") {
		t.Fatalf("said: %s", failed)
	}
	// Somebody makes what is about to be made.
	config := c.config("signet_group", members{"name": "contested"})
	if plan, failed = c.plan("signet_group", nil, config); failed.hasError() {
		t.Fatal(failed)
	}
	signet(t, "group", "add", "contested")
	made, failed := c.apply("signet_group", nil, plan)
	if !strings.Contains(failed.String(), "error name: It exists: ") || !made.value.IsNull() {
		t.Fatalf("said: %s", failed)
	}
	signet(t, "group", "remove", "contested", "--yes")
}

func TestManyAtOnceDoNotDisturbEachOther(t *testing.T) {
	// Two providers as of two processes, and each makes as many at once as Terraform does.
	var work sync.WaitGroup
	failures := make(chan string, 40)
	for writer := range 2 {
		c := newCore(t, asAdministrator(members{"directory": "many"}))
		for number := range 10 {
			work.Add(1)
			go func() {
				defer work.Done()
				name := fmt.Sprintf("many-%d-%d", writer, number)
				at, failed := c.run("signet_role", nil, members{"name": name})
				if failed.hasError() {
					failures <- failed.String()
					return
				}
				if failed := c.tryDestroy("signet_role", at); failed.hasError() {
					failures <- failed.String()
				}
			}()
		}
	}
	work.Wait()
	close(failures)
	for failed := range failures {
		t.Error(failed)
	}
}

func TestWhatWasMadeByHandIsTakenOverByAnImportAlone(t *testing.T) {
	c := newCore(t, asAdministrator(nil))
	signet(t, "group", "add", "handmade")
	_, failed := c.run("signet_group", nil, members{"name": "handmade"})
	if !strings.Contains(failed.String(), "its owner is: hand. Import it") {
		t.Fatalf("said: %s", failed)
	}
	at, failed := c.imported("signet_group", "handmade")
	if failed.hasError() {
		t.Fatal(failed)
	}
	if owner := at.text(t, "owner"); owner != "hand" {
		t.Fatalf("the owner is %s", owner)
	}
	plan, failed := c.plan("signet_group", at, c.config("signet_group", members{"name": "handmade"}))
	if failed.hasError() || plan.isEmpty(at) {
		t.Fatalf("the plan does not say that it is taken over: %s", failed)
	}
	at = c.make("signet_group", at, members{"name": "handmade"})
	c.settled("signet_group", at, members{"name": "handmade"})
	if owner := found(t, "group", "handmade").Owner; owner != "directory terraform" {
		t.Fatalf("the owner is %s", owner)
	}
	// Another directory owns nothing of it, and cannot take it.
	other := newCore(t, asAdministrator(members{"directory": "other"}))
	if _, failed := other.imported("signet_group", "handmade"); !strings.Contains(
		failed.String(), "is: directory terraform") {
		t.Fatalf("said: %s", failed)
	}
	if _, failed := c.imported("signet_group", "nowhere"); !strings.Contains(failed.String(), "There is no group") {
		t.Fatalf("said: %s", failed)
	}
	c.destroy("signet_group", at)

	// What was imported and never applied can be destroyed, too.
	signet(t, "group", "add", "handmade")
	at, failed = c.imported("signet_group", "handmade")
	if failed.hasError() {
		t.Fatal(failed)
	}
	c.destroy("signet_group", at)
	if found(t, "group", "handmade") != nil {
		t.Fatal("it is still there")
	}
}

func TestWhatEveryServerHasIsDeclaredAndGivenBackItsOwnWords(t *testing.T) {
	c := newCore(t, asAdministrator(nil))
	own := found(t, "scope", "email").Members["description"]
	config := members{"name": "email", "description": "Where to write to you", "published": true}
	at := c.make("signet_scope", nil, config)
	c.settled("signet_scope", at, config)
	c.destroy("signet_scope", at)
	if is := found(t, "scope", "email"); is == nil || is.Members["description"] != own || is.Owner != "built in" {
		t.Fatalf("the scope is %v", is)
	}
	if c.refresh("signet_scope", at) != nil {
		t.Fatal("a scope that is nobody's is still read")
	}
}

func TestAPlanSaysWhatItEnds(t *testing.T) {
	c := newCore(t, asAdministrator(nil))
	config := members{
		"client_id": "ending", "token_endpoint_auth_method": "none",
		"redirect_uris": []string{"https://ending.example/callback"},
	}
	at := c.make("signet_client", nil, config)
	warned := `everything ends that was issued to the client "ending"`
	plans := func(more members) string {
		t.Helper()
		given := with("client_id", "ending", config)
		for name, value := range more {
			given[name] = value
		}
		_, said := c.plan("signet_client", at, c.config("signet_client", given))
		return said.String()
	}
	if said := plans(members{"enabled": false}); !strings.Contains(said, "warning : ") || !strings.Contains(said, warned) {
		t.Fatalf("said: %s", said)
	}
	if said := plans(members{"client_name": "Still there"}) + plans(nil); said != "" {
		t.Fatalf("said: %s", said)
	}
	if _, said := c.planDestroy("signet_client", at); !strings.Contains(said.String(), warned) {
		t.Fatalf("said: %s", said)
	}
	c.destroy("signet_client", at)
}

func TestOnlyWhatIsRemovedGoes(t *testing.T) {
	c := newCore(t, asAdministrator(nil))
	stays := c.make("signet_role", nil, members{"name": "stays"})
	goes := c.make("signet_role", nil, members{"name": "goes"})
	c.destroy("signet_role", goes)
	if found(t, "role", "stays") == nil || found(t, "role", "goes") != nil {
		t.Fatal("the wrong one went")
	}
	if owner := found(t, "role", "stays").Owner; owner != "directory terraform" {
		t.Fatalf("the owner is %s", owner)
	}
	c.destroy("signet_role", stays)
}

func TestValuesThatAreKnownLaterArePlannedAsSuch(t *testing.T) {
	c := newCore(t, asAdministrator(nil))
	later := members{"name": unknown{}, "description": unknown{}, "parent": unknown{}, "roles": unknown{}}
	config := c.config("signet_group", later)
	if failed := c.validate("signet_group", config); failed.hasError() {
		t.Fatal(failed)
	}
	plan, failed := c.plan("signet_group", nil, config)
	if failed.hasError() {
		t.Fatal(failed)
	}
	// As Terraform does once everything is known: it plans again, and applies that.
	if attributes(t, plan.value)["description"].IsKnown() {
		t.Fatal("what is not known was planned")
	}
	at := c.make("signet_group", nil, members{"name": "later", "description": "Known now"})
	for _, given := range []members{
		{"client_id": "later", "claims": unknown{}, "jwks": unknown{}, "redirect_uris": []any{unknown{}}},
		{"client_id": "later", "client_secret_wo": unknown{}, "client_secret_wo_version": unknown{}},
	} {
		config := c.config("signet_client", given)
		if failed := c.validate("signet_client", config); failed.hasError() {
			t.Fatal(failed)
		}
		if _, failed := c.plan("signet_client", nil, config); failed.hasError() {
			t.Fatal(failed)
		}
	}
	c.destroy("signet_group", at)
}

// Null, empty and the default are one thing to the server, and what was written stays in state.
func TestNullEmptyAndDefaultEachStayAsTheyWereWritten(t *testing.T) {
	c := newCore(t, asAdministrator(nil))
	var at *state
	for _, one := range []members{
		{},
		{"roles": []string{}},
		{"roles": nil, "description": nil},
	} {
		config := with("name", "nothings", one)
		at = c.make("signet_group", at, config)
		c.settled("signet_group", at, config)
	}
	c.destroy("signet_group", at)
	at = nil
	for _, one := range []members{
		{},
		{"enabled": true, "hidden": false, "scope": "openid email profile"},
		{"domains": []string{}, "claims": []any{}},
		{"enabled": false},
		{},
		{"create": true},
	} {
		config := with("name", "defaults", one)
		config["client_id"], config["issuer"] = "x", "https://login.example"
		config["token_endpoint_auth_method"] = "none"
		at = c.make("signet_provider", at, config)
		c.settled("signet_provider", at, config)
	}
	c.destroy("signet_provider", at)
	at = nil
	for _, one := range []members{
		{"when": map[string]any{}, "except": map[string]any{"users": []any{}, "networks": []any{"::1"}}},
		{"when": map[string]any{"zone": "UTC", "days": []any{"mon"}}, "attributes": map[string]any{}},
		{"attributes": map[string]any{"team": []any{"a", "b"}}},
	} {
		config := with("name", "nested", one)
		config["effect"], config["clients"] = "deny", []string{"native"}
		at = c.make("signet_rule", at, config)
		c.settled("signet_rule", at, config)
	}
	c.destroy("signet_rule", at)
}
