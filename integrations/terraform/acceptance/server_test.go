// Package acceptance drives the provider as Terraform does, over protocol 6 and in one process,
// against a running Signet: SIGNET_BIN, or target/debug/signet of this repository.
package acceptance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"signet/terraform/internal/admin"
)

// server is the Signet that all tests share; each test has names of its own.
var server struct {
	binary, data, log string
	issuer            string
	clientID, secret  string
	authority         string
}

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	for _, variable := range os.Environ() {
		// What the developer's own commands use is not the tests'.
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "SIGNET_") && name != "SIGNET_BIN" {
			os.Unsetenv(name)
		}
	}
	stop, err := start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "no Signet to test with:", err)
		return 1
	}
	defer stop()
	return m.Run()
}

func start() (func(), error) {
	binary := os.Getenv("SIGNET_BIN")
	if binary == "" {
		binary = "../../../target/debug/signet"
	}
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("%w: `cargo build --locked -p signet`, or SIGNET_BIN=PATH", err)
	}
	folder, err := os.MkdirTemp("", "signet-terraform-")
	if err != nil {
		return nil, err
	}
	server.binary, server.data = binary, filepath.Join(folder, "data")
	server.log = filepath.Join(folder, "log")
	log, err := os.Create(server.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command := exec.Command(binary, "serve", "--dev", "--listen", "127.0.0.1:0", "--data-dir", server.data)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	stop := func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = command.Process.Kill()
			<-ended
		}
		os.RemoveAll(folder)
	}
	var found struct {
		Issuer      string `json:"issuer"`
		CACert      string `json:"ca_cert"`
		AdminClient struct {
			ClientID     string `json:"client_id"`
			ClientSecret string `json:"client_secret"`
		} `json:"admin_client"`
	}
	for limit := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(server.data, "dev.json"))
		if err == nil && json.Unmarshal(text, &found) == nil {
			break
		}
		select {
		case err := <-ended:
			said, _ := os.ReadFile(server.log)
			os.RemoveAll(folder)
			return nil, fmt.Errorf("the server ended before it was ready: %v\n%s", err, said)
		default:
		}
		if time.Now().After(limit) {
			stop()
			return nil, fmt.Errorf("the server was not ready within a minute")
		}
	}
	server.issuer, server.authority = found.Issuer, found.CACert
	server.clientID = found.AdminClient.ClientID
	server.secret = found.AdminClient.ClientSecret
	return stop, nil
}

// authorityPEM is the development authority.
func authorityPEM(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(server.authority)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// client is a session beside the provider's, of whoever else writes.
func client(t *testing.T) *admin.Client {
	t.Helper()
	made, err := admin.New(admin.Options{
		Server: server.issuer, CACert: authorityPEM(t),
		ClientID: server.clientID, ClientSecret: server.secret, UserAgent: "acceptance",
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// found is what the server has; nil: nothing.
func found(t *testing.T, kind, name string) *admin.Object {
	t.Helper()
	object, err := client(t).Object(t.Context(), kind, name)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// declare writes an object as somebody does who uses the same directory in another process.
func declare(t *testing.T, directory, kind, name string, members map[string]any) {
	t.Helper()
	wanted := admin.Declarations{Directory: directory, Objects: []admin.Declared{
		{Kind: kind, Name: name, Members: members},
	}}
	if err := client(t).Apply(t.Context(), wanted, func(*admin.Plan) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// signet runs a command of the server's administrator: what is made so is made by hand.
func signet(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.Command(server.binary, append(arguments, "--data-dir", server.data)...)
	var out, said bytes.Buffer
	command.Stdout, command.Stderr = &out, &said
	if err := command.Run(); err != nil {
		t.Fatalf("signet %v: %v\n%s%s", arguments, err, out.String(), said.String())
	}
	return out.String()
}

// takes is whether the token endpoint takes a client with this secret.
func takes(t *testing.T, clientID, secret string) bool {
	t.Helper()
	made, err := admin.New(admin.Options{
		Server: server.issuer, CACert: authorityPEM(t),
		ClientID: clientID, ClientSecret: secret, UserAgent: "acceptance",
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = made.Object(t.Context(), "client", clientID)
	if err == nil {
		return true
	}
	if !strings.Contains(err.Error(), "invalid_client") {
		t.Fatal(err)
	}
	return false
}

// logsIn is whether a person's password is the right one, by the page that a browser asks.
func logsIn(t *testing.T, username, password string) bool {
	t.Helper()
	command := exec.Command(server.binary, "dev", "token", "--client", "web", "--user", username,
		"--data-dir", server.data)
	command.Env = append(os.Environ(), "SIGNET_PASSWORD="+password)
	return command.Run() == nil
}
