package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// answering is a server that gives tokens, and answers the rest as a test says.
func answering(t *testing.T, rest http.HandlerFunc) (*Client, *int) {
	t.Helper()
	tokens := 0
	var at *httptest.Server
	at = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/openid-configuration":
			fmt.Fprintf(w, `{"issuer":%q,"token_endpoint":%q}`, at.URL, at.URL+"/token")
		case "/token":
			tokens++
			fmt.Fprintf(w, `{"access_token":"token-%d","expires_in":300}`, tokens)
		default:
			rest(w, r)
		}
	}))
	t.Cleanup(at.Close)
	client, err := New(Options{Server: at.URL + "/", ClientID: "a", ClientSecret: "the secret"})
	if err != nil {
		t.Fatal(err)
	}
	return client, &tokens
}

func problem(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"code":%q,"detail":"In words"}`, code)
}

func TestATokenIsUsedUntilItEndsAndReplacedWhenItIsRefused(t *testing.T) {
	refused := ""
	client, tokens := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+refused {
			problem(w, http.StatusUnauthorized, "invalid_token")
			return
		}
		fmt.Fprint(w, `{"kind":"client","name":"x"}`)
	})
	for range 3 {
		if _, err := client.Object(t.Context(), "client", "x"); err != nil {
			t.Fatal(err)
		}
	}
	if *tokens != 1 {
		t.Fatalf("%d tokens", *tokens)
	}
	refused = "token-1"
	if _, err := client.Object(t.Context(), "client", "x"); err != nil || *tokens != 2 {
		t.Fatalf("%v after %d tokens", err, *tokens)
	}
	// One that is refused at once is replaced once, and no more.
	refused = "token-3"
	client.forget("token-2")
	if _, err := client.Object(t.Context(), "client", "x"); err != nil || *tokens != 4 {
		t.Fatalf("%v after %d tokens", err, *tokens)
	}
	always, tokens := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		problem(w, http.StatusUnauthorized, "invalid_token")
	})
	if _, err := always.Object(t.Context(), "client", "x"); err == nil || *tokens != 2 {
		t.Fatalf("%v after %d tokens", err, *tokens)
	}
}

func TestAnApplyIsTriedAgainWhereSomebodyWasFasterAndNotForEver(t *testing.T) {
	applies, conflicts := 0, 2
	client, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		var sent Declarations
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		if strings.HasSuffix(r.URL.Path, "/plan") {
			fmt.Fprintf(w, `{"plan":"plan-%d","changes":[{"kind":"role","name":"x","act":"add"}]}`, applies)
			return
		}
		if sent.Plan != fmt.Sprintf("plan-%d", applies) {
			t.Errorf("applied %q", sent.Plan)
		}
		applies++
		if applies <= conflicts {
			problem(w, http.StatusPreconditionFailed, changedMeanwhile)
			return
		}
		fmt.Fprint(w, `{}`)
	})
	checks := 0
	check := func(*Plan) error { checks++; return nil }
	if err := client.Apply(t.Context(), Declarations{}, check); err != nil || applies != 3 || checks != 3 {
		t.Fatalf("%v after %d, %d", err, applies, checks)
	}
	applies, conflicts = 0, 1000
	var refused *Problem
	if err := client.Apply(t.Context(), Declarations{}, check); !errors.As(err, &refused) || applies != maxTries {
		t.Fatalf("%v after %d", err, applies)
	}
	// What the check refuses is not applied.
	applies = 0
	no := errors.New("no")
	if err := client.Apply(t.Context(), Declarations{}, func(*Plan) error { return no }); err != no || applies != 0 {
		t.Fatalf("%v after %d", err, applies)
	}
}

func TestAnswersThatAreNoneOfTheServersAreErrors(t *testing.T) {
	for _, one := range []struct {
		answer http.HandlerFunc
		said   string
	}{
		{func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "answered 302"},
		{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "answered 502"},
		{func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "is not what was expected"},
		{func(w http.ResponseWriter, _ *http.Request) { problem(w, http.StatusForbidden, "insufficient_scope") },
			"In words (insufficient_scope)"},
		{func(w http.ResponseWriter, _ *http.Request) {
			piece := make([]byte, 1<<20)
			for range maxAnswer/len(piece) + 1 {
				_, _ = w.Write(piece)
			}
		}, "is too large"},
	} {
		client, _ := answering(t, one.answer)
		_, err := client.Object(t.Context(), "client", "x")
		if err == nil || !strings.Contains(err.Error(), one.said) {
			t.Errorf("%v, and not %s", err, one.said)
		}
		if err != nil && (strings.Contains(err.Error(), "the secret") || strings.Contains(err.Error(), "token-1")) {
			t.Errorf("a secret is said: %v", err)
		}
	}
}
