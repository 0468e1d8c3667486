package acceptance

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func encoded(number []byte) string {
	return base64.RawURLEncoding.EncodeToString(number)
}

// keyFile writes a private key; its public half as a JWK.
func keyFile(t *testing.T, key crypto.Signer) (string, map[string]any) {
	t.Helper()
	text, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	switch public := key.Public().(type) {
	case *ecdsa.PublicKey:
		point, err := public.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return file, map[string]any{"kty": "EC", "crv": "P-256", "kid": "one",
			"x": encoded(point[1:33]), "y": encoded(point[33:])}
	case ed25519.PublicKey:
		return file, map[string]any{"kty": "OKP", "crv": "Ed25519", "kid": "one", "x": encoded(public)}
	case *rsa.PublicKey:
		return file, map[string]any{"kty": "RSA", "kid": "one", "n": encoded(public.N.Bytes()),
			"e": encoded(big.NewInt(int64(public.E)).Bytes())}
	}
	t.Fatal("a key of another kind")
	return "", nil
}

func TestAClientAuthenticatesWithItsKey(t *testing.T) {
	c := newCore(t, asAdministrator(nil))
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	modulus, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	var at *state
	for _, key := range []crypto.Signer{curve, edwards, modulus} {
		file, public := keyFile(t, key)
		config := members{
			"client_id": "keyholder", "grant_types": []string{"client_credentials"}, "scope": "signet:admin",
			"token_endpoint_auth_method": "private_key_jwt",
			"jwks":                       map[string]any{"keys": []any{public}},
		}
		at = c.make("signet_client", at, config)
		c.settled("signet_client", at, config)
		with := members{
			"server": server.issuer + "/", "ca_cert_file": server.authority, "client_id": "keyholder",
			"private_key_file": file, "key_id": "one",
		}
		own := newCore(t, with)
		role := own.make("signet_role", nil, members{"name": "by-key"})
		own.destroy("signet_role", role)
	}
	c.destroy("signet_client", at)
}

func TestTheEnvironmentSaysWhatTheConfigurationDoesNot(t *testing.T) {
	t.Setenv("SIGNET_SERVER", server.issuer)
	t.Setenv("SIGNET_CA_CERT", server.authority)
	file := filepath.Join(t.TempDir(), "credentials.json")
	text, err := json.Marshal(map[string]string{
		"client_id": server.clientID, "client_secret": server.secret,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	works := func() {
		t.Helper()
		c := newCore(t, members{})
		c.destroy("signet_role", c.make("signet_role", nil, members{"name": "by-environment"}))
	}
	t.Setenv("SIGNET_CREDENTIALS", file)
	works()
	t.Setenv("SIGNET_CREDENTIALS", "")
	t.Setenv("SIGNET_CLIENT_ID", server.clientID)
	t.Setenv("SIGNET_CLIENT_SECRET", server.secret)
	works()
}

func TestARealmIsAdministeredFromTheFirst(t *testing.T) {
	signet(t, "realm", "add", "terraformed")
	first := newCore(t, asAdministrator(nil))
	second := newCore(t, asAdministrator(members{"realm": "terraformed"}))
	config := members{"name": "of-a-realm", "description": "Only there"}
	at := second.make("signet_group", nil, config)
	second.settled("signet_group", at, config)
	if found(t, "group", "of-a-realm") != nil {
		t.Fatal("it is in the first realm")
	}
	if said := signet(t, "group", "list", "--json", "--realm", "terraformed"); !strings.Contains(said, "Only there") {
		t.Fatalf("the realm has: %s", said)
	}
	own := first.make("signet_group", nil, config)
	second.destroy("signet_group", at)
	first.settled("signet_group", own, config)
	first.destroy("signet_group", own)

	none := newCore(t, asAdministrator(members{"realm": "nowhere"}))
	_, failed := none.run("signet_role", nil, members{"name": "of-no-realm"})
	if !strings.Contains(failed.String(), `realm "nowhere": there is no realm nowhere`) {
		t.Fatalf("said: %s", failed)
	}
}

func TestWhatIsWrongWithTheProvidersConfigurationIsSaid(t *testing.T) {
	key, _ := keyFile(t, ed25519.NewKeyFromSeed(make([]byte, 32)))
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte(`{"client_secret":"a secret in a broken file"`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		config members
		said   string
	}{
		{members{}, "error server: The provider is not configured: which server?"},
		{members{"server": "id.example"}, "error server: The provider is not configured: server: it must be"},
		{members{"server": "http://id.example", "client_id": "x", "client_secret": "y"}, "only https is spoken"},
		{members{"server": "https://a:b@id.example", "client_id": "x", "client_secret": "y"}, "it must be"},
		{members{"server": "https://id.example"}, "error client_id: "},
		{members{"server": "https://id.example", "client_id": "x"}, "error client_secret: "},
		{members{"server": "https://id.example", "ca_cert_file": "/nowhere"}, "error ca_cert_file: "},
		{members{"server": "https://id.example", "ca_cert_file": broken, "client_id": "x", "client_secret": "y"},
			"no certificate in PEM"},
		{members{"server": "https://id.example", "credentials_file": broken}, "error credentials_file: "},
		{members{"server": "https://id.example", "client_id": "x", "private_key_file": broken}, "is no PEM"},
		{members{"server": "https://id.example", "client_id": "x", "client_secret": "y", "private_key_file": key},
			"error private_key_file: "},
		{members{"server": "https://id.example", "client_id": "x", "client_secret": "y", "directory": "a b"},
			"error directory: "},
		{members{"server": "https://id.example", "client_id": "x", "client_secret": "y", "directory": ""},
			"error directory: "},
		{members{"server": "https://id.example", "client_id": unknown{}}, "is not known yet"},
	} {
		if one.config["server"] == "id.example" {
			one.config["client_id"], one.config["client_secret"] = "x", "y"
		}
		_, failed := tryCore(t, one.config)
		if !strings.Contains(failed.String(), one.said) {
			t.Errorf("%v\nsaid:  %s\nand not: %s", one.config, failed, one.said)
		}
		if strings.Contains(failed.String(), "a secret in a broken file") {
			t.Errorf("a secret is said: %s", failed)
		}
	}
}

func TestARefusedLoginIsSaidWithoutTheSecret(t *testing.T) {
	refused := func(config members, said string) {
		t.Helper()
		c := newCore(t, config)
		_, failed := c.run("signet_role", nil, members{"name": "refused"})
		if !strings.Contains(failed.String(), said) {
			t.Errorf("said: %s\nand not: %s", failed, said)
		}
		if strings.Contains(failed.String(), "not-the-secret") {
			t.Errorf("a secret is said: %s", failed)
		}
	}
	refused(asAdministrator(members{"client_secret": "not-the-secret"}), "invalid_client")
	refused(asAdministrator(members{"ca_cert_file": nil}), "cannot reach the server")
	refused(asAdministrator(members{"server": strings.Replace(server.issuer, "localhost", "127.0.0.1", 1)}),
		"calls itself "+server.issuer)
	refused(asAdministrator(members{"server": "https://127.0.0.1:1"}), "cannot reach the server")
	// A client without the scope is told what it lacks.
	c := newCore(t, asAdministrator(nil))
	at := c.make("signet_client", nil, members{
		"client_id": "powerless", "grant_types": []string{"client_credentials"}, "scope": "openid",
		"client_secret_wo": "not-the-secret-of-an-administrator", "client_secret_wo_version": 1,
	})
	refused(asAdministrator(members{
		"client_id": "powerless", "client_secret": "not-the-secret-of-an-administrator",
	}), "invalid_scope")
	// A token that ends before its time is replaced by another one.
	c.settled("signet_client", at, members{
		"client_id": "powerless", "grant_types": []string{"client_credentials"}, "scope": "openid",
		"client_secret_wo_version": 1,
	})
	c.destroy("signet_client", at)
}
