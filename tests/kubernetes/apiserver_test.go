package kubernetes

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	servertesting "k8s.io/apiextensions-apiserver/pkg/cmd/server/testing"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
)

const (
	namespace = "demo"
	token     = "token-of-the-account"
	secret    = "a-secret-of-at-least-thirty-two-bytes"
)

// database is an etcd in this process, on a port of the system's choice.
func database(t *testing.T) string {
	t.Helper()
	config := embed.NewConfig()
	config.Dir = t.TempDir()
	config.LogLevel = "fatal"
	config.UnsafeNoFsync = true
	any := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{any}, []url.URL{any}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{any}, []url.URL{any}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(etcd.Close)
	<-etcd.Server.ReadyNotify()
	return "http://" + etcd.Clients[0].Addr().String()
}

// apiServer is Kubernetes' own server of definitions and custom resources. It knows no other kinds: a proxy before it has the Secrets,
// and asks for the token.
func apiServer(t *testing.T) (*rest.Config, *httptest.Server) {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	// Nothing asks there: the server wants to know where it would.
	nowhere := `{"apiVersion":"v1","kind":"Config","current-context":"a","clusters":[{"name":"a","cluster":{"server":"http://127.0.0.1:9"}}],
		"users":[{"name":"a","user":{}}],"contexts":[{"name":"a","context":{"cluster":"a","user":"a"}}]}`
	if err := os.WriteFile(kubeconfig, []byte(nowhere), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := servertesting.StartTestServer(t, nil, []string{
		"--etcd-servers", database(t), "--etcd-prefix", "signet",
		"--authentication-skip-lookup", "--authentication-kubeconfig", kubeconfig,
		"--authorization-kubeconfig", kubeconfig, "--kubeconfig", kubeconfig,
		"--enable-priority-and-fairness=false",
		"--disable-admission-plugins", "NamespaceLifecycle,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,ValidatingAdmissionPolicy,MutatingAdmissionPolicy",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.TearDownFn)
	transport, err := rest.TransportFor(server.ClientConfig)
	if err != nil {
		t.Fatal(err)
	}
	host, err := url.Parse(server.ClientConfig.Host)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(host)
			request.Out.Header.Del("Authorization")
		},
		Transport:     transport,
		FlushInterval: -1,
	}
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		switch {
		case request.Header.Get("Authorization") != "Bearer "+token:
			answer.WriteHeader(http.StatusUnauthorized)
		case request.URL.Path == "/api/v1/namespaces/"+namespace+"/secrets/shop":
			data := map[string][]byte{"client-secret": []byte(secret)}
			_ = json.NewEncoder(answer).Encode(map[string]any{"kind": "Secret", "data": data})
		default:
			forward.ServeHTTP(answer, request)
		}
	}))
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	proxy.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	proxy.StartTLS()
	// Watches end with it.
	t.Cleanup(func() { proxy.CloseClientConnections(); proxy.Close() })
	return server.ClientConfig, proxy
}

func resource(kind string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "signet.internal", Version: "v1", Resource: strings.ToLower(kind) + "s"}
}

func waitFor(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for until := time.Now().Add(40 * time.Second); !ready(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("no %s", what)
		}
	}
}

// install has the API server take the definitions.
func install(t *testing.T, config *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := clientset.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	all := client.ApiextensionsV1().CustomResourceDefinitions()
	for _, crd := range definitions(t) {
		if _, err := all.Create(t.Context(), crd, metav1.CreateOptions{FieldValidation: "Strict"}); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range definitions(t) {
		waitFor(t, crd.Name, func() bool {
			_, err := objects.Resource(resource(crd.Spec.Names.Kind)).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
			return err == nil
		})
	}
	return objects
}

func create(t *testing.T, client dynamic.Interface, object map[string]any) error {
	t.Helper()
	kind := object["kind"].(string)
	_, err := client.Resource(resource(kind)).Namespace(namespace).Create(
		t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{FieldValidation: "Strict"})
	return err
}

func group(name string) map[string]any {
	return map[string]any{
		"apiVersion": "signet.internal/v1", "kind": "SignetGroup",
		"metadata": map[string]any{"name": name}, "spec": map[string]any{},
	}
}

// reason is that of an object's condition.
func reason(t *testing.T, client dynamic.Interface, kind, name string) string {
	t.Helper()
	object, err := client.Resource(resource(kind)).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, condition := range conditions {
		if condition := condition.(map[string]any); condition["type"] == "Applied" {
			return condition["reason"].(string)
		}
	}
	return ""
}

// signet starts a development server, and gives what runs commands against it.
func signet(t *testing.T) func(context.Context, ...string) *exec.Cmd {
	t.Helper()
	binary := os.Getenv("SIGNET_BIN")
	if binary == "" {
		t.Fatal("SIGNET_BIN names no binary")
	}
	data := filepath.Join(t.TempDir(), "data")
	var log bytes.Buffer
	server := exec.Command(binary, "serve", "--dev", "--listen", "127.0.0.1:0", "--data-dir", data)
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	waitFor(t, "server", func() bool { _, err := os.Stat(filepath.Join(data, "dev.json")); return err == nil })
	return func(context context.Context, arguments ...string) *exec.Cmd {
		return exec.CommandContext(context, binary, append(arguments, "--data-dir", data)...)
	}
}

func TestApplyFromARealAPIServer(t *testing.T) {
	config, proxy := apiServer(t)
	api := proxy.URL
	client := install(t, config)
	for _, object := range objects(t, "example.yaml") {
		if err := create(t, client, object); err != nil {
			t.Fatal(err)
		}
	}
	for _, spec := range []map[string]any{{"parrent": "a"}, {"roles": "editor"}} {
		object := group("wrong")
		object["spec"] = spec
		if err := create(t, client, object); err == nil {
			t.Fatalf("the API server accepted %v", spec)
		}
	}
	// More than one page.
	for number := range 120 {
		if err := create(t, client, group(fmt.Sprintf("crew-%03d", number))); err != nil {
			t.Fatal(err)
		}
	}
	command := signet(t)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(t.TempDir(), "ca.crt")
	var chain []byte
	for _, one := range proxy.TLS.Certificates[0].Certificate {
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: one})...)
	}
	if err := os.WriteFile(ca, chain, 0o600); err != nil {
		t.Fatal(err)
	}
	from := []string{"--kubernetes", "--kubernetes-ca", ca, "--kubernetes-api", api, "--kubernetes-token", file, "--namespace", namespace}
	said, err := command(t.Context(), "plan", "--kubernetes", "--kubernetes-api", api, "--kubernetes-token", file).CombinedOutput()
	if err == nil || !bytes.Contains(said, []byte("--kubernetes-ca FILE names the authority")) {
		t.Fatalf("%v\n%s", err, said)
	}
	said, err = command(t.Context(), append([]string{"apply", "--yes"}, from...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if !bytes.Contains(said, []byte("Applied: 124 added, 0 changed, 0 removed.")) || bytes.Contains(said, []byte(secret)) {
		t.Fatalf("%s", said)
	}
	for kind, name := range map[string]string{"SignetClient": "shop", "SignetRole": "shop-manager", "SignetGroup": "crew-119"} {
		if found := reason(t, client, kind, name); found != "Applied" {
			t.Fatalf("%s %s: %q", kind, name, found)
		}
	}

	// The columns that kubectl shows.
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, api+"/apis/signet.internal/v1/namespaces/demo/signetclients", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	answer, err := proxy.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var table metav1.Table
	if err := json.NewDecoder(answer.Body).Decode(&table); err != nil {
		t.Fatal(err)
	}
	if cells := fmt.Sprint(table.Rows[0].Cells[:4]); cells != "[shop <nil> True Applied]" && cells != "[shop  True Applied]" {
		t.Fatal(cells)
	}

	stop, cancel := context.WithCancel(t.Context())
	defer cancel()
	watch := command(stop, append([]string{"apply", "--yes", "--watch", "--prune"}, from...)...)
	var log bytes.Buffer
	watch.Stdout, watch.Stderr = &log, &log
	watch.Cancel = func() error { return watch.Process.Signal(os.Interrupt) }
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	groups := client.Resource(resource("SignetGroup")).Namespace(namespace)
	has := func(name string) bool {
		said, err := command(t.Context(), "group", "list").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		return bytes.Contains(said, []byte(name))
	}
	if err := create(t, client, group("later")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "group that was added", func() bool { return has("later") })
	waitFor(t, "condition", func() bool { return reason(t, client, "SignetGroup", "later") == "Applied" })
	if err := groups.Delete(t.Context(), "later", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "removal", func() bool { return !has("later") })
	patch := []byte(`{"spec":{"parent":"nowhere"}}`)
	if _, err := groups.Patch(t.Context(), "staff", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "refusal", func() bool { return reason(t, client, "SignetGroup", "staff") == "Invalid" })
	cancel()
	if err := watch.Wait(); watch.ProcessState.ExitCode() != 0 {
		t.Fatalf("%v\n%s", err, log.String())
	}
}
