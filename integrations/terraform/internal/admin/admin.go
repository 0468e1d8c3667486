// Package admin speaks to the admin API of a Signet: it gets a token as a client, and reads, plans
// and applies declarations.
package admin

import (
	"bytes"
	"context"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// A whole exchange must be over within this.
	patience = 30 * time.Second
	// Largest answer, in bytes.
	maxAnswer = 32 << 20
	// How often a change is tried that others come before.
	maxTries = 8
	// A token is renewed when it has less than this left.
	slack = 30 * time.Second

	scope            = "signet:admin"
	changedMeanwhile = "changed_meanwhile"
)

// Options say which server, and as whom.
type Options struct {
	// Server is the issuer that the caller logs in to.
	Server string
	// Realm is a further realm of the server, which is administered; empty: the server's first.
	Realm string
	// CACert are the authorities that certificates come from, in PEM; empty: the machine's.
	CACert []byte
	// Token is an access token; empty: one is fetched.
	Token string
	// ClientID is the client that fetches one.
	ClientID string
	// ClientSecret authenticates it; empty: Key does.
	ClientSecret string
	// Key authenticates it (private_key_jwt, OpenID Connect Core section 9).
	Key crypto.Signer
	// KeyID is the kid of Key; empty: none is said.
	KeyID string
	// UserAgent names the program.
	UserAgent string
}

// Client is a session with the admin API.
type Client struct {
	options Options
	http    *http.Client
	issuer  string

	mutex   sync.Mutex
	token   string
	expires time.Time
	base    string

	// Changes of one program are made one after another: they would come before each other.
	writing sync.Mutex
}

// Object is an object as it is declared, and who owns it.
type Object struct {
	Kind        string         `json:"kind"`
	Name        string         `json:"name"`
	Owner       string         `json:"owner"`
	Members     map[string]any `json:"members"`
	SetByServer map[string]any `json:"set_by_server"`
}

// Named is an object by its name.
type Named struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Declared is an object that is declared.
type Declared struct {
	Kind    string         `json:"kind"`
	Name    string         `json:"name"`
	Members map[string]any `json:"members"`
	// Secret is the client secret or the first password; nil: none is given.
	Secret *string `json:"secret,omitempty"`
}

// Declarations are what is planned or applied.
type Declarations struct {
	Directory string     `json:"directory"`
	Objects   []Declared `json:"objects"`
	Remove    []Named    `json:"remove,omitempty"`
	Adopt     bool       `json:"adopt"`
	Plan      string     `json:"plan,omitempty"`
}

// Plan is what would change, or was changed.
type Plan struct {
	Plan     string    `json:"plan"`
	Changes  []Change  `json:"changes"`
	Mistakes []Mistake `json:"mistakes"`
	Ends     Ends      `json:"ends"`
}

// Ends are clients and users of which everything that was issued to them ends.
type Ends struct {
	Clients []string `json:"clients"`
	Users   []string `json:"users"`
}

// Change is an object that changes.
type Change struct {
	Kind    string         `json:"kind"`
	Name    string         `json:"name"`
	Act     string         `json:"act"`
	Members []MemberChange `json:"members"`
}

// MemberChange is a member that changes. A secret has no values.
type MemberChange struct {
	Name   string `json:"name"`
	Before any    `json:"before"`
	After  any    `json:"after"`
}

// Mistake is what is wrong with an object.
type Mistake struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Member string `json:"member"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// Mistakes are why a plan cannot be applied.
type Mistakes []Mistake

func (m Mistakes) Error() string {
	var said []string
	for _, one := range m {
		said = append(said, fmt.Sprintf("%s %q: %s", one.Kind, one.Name, one.Detail))
	}
	return strings.Join(said, "; ")
}

// Problem is a refusal of the server (RFC 9457, or RFC 6749 section 5.2).
type Problem struct {
	Status int
	Code   string
	Detail string
}

func (p *Problem) Error() string {
	return fmt.Sprintf("%s (%s)", p.Detail, p.Code)
}

// New makes a client. Nothing is asked before the first call.
func New(options Options) (*Client, error) {
	options.Server = strings.TrimRight(options.Server, "/")
	if err := spoken(options.Server); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if len(options.CACert) > 0 {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(options.CACert) {
			return nil, errors.New("the file of authorities has no certificate in PEM")
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	client := &http.Client{
		Transport: transport,
		Timeout:   patience,
		// A redirect would carry what is sent somewhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Client{options: options, http: client, issuer: options.Server}, nil
}

// spoken is whether a URL may be asked: https, or plain http to this machine only.
func spoken(text string) error {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || parsed.User != nil {
		return errors.New("it must be an absolute URL")
	}
	host := parsed.Hostname()
	address := net.ParseIP(host)
	isHere := host == "localhost" || (address != nil && address.IsLoopback())
	if parsed.Scheme == "https" || (parsed.Scheme == "http" && isHere) {
		return nil
	}
	return errors.New("only https is spoken (plain http to this machine only)")
}

// Object reads one object; nil: there is none.
func (c *Client) Object(ctx context.Context, kind, name string) (*Object, error) {
	path := "/declarations/" + url.PathEscape(kind) + "/" + url.PathEscape(name)
	var found Object
	err := c.call(ctx, http.MethodGet, path, nil, &found)
	var problem *Problem
	if errors.As(err, &problem) && problem.Code == "not_found" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &found, nil
}

// Plan asks what declarations would change.
func (c *Client) Plan(ctx context.Context, wanted Declarations) (*Plan, error) {
	var plan Plan
	if err := c.call(ctx, http.MethodPost, "/declarations/plan", wanted, &plan); err != nil {
		return nil, err
	}
	return &plan, nil
}

// Apply applies declarations. `check` sees the plan before it counts: what it has read until it
// returns is what the plan is made of, or nothing is done and all of it is tried again.
func (c *Client) Apply(
	ctx context.Context, wanted Declarations, check func(*Plan) error,
) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	for try := 1; ; try++ {
		wanted.Plan = ""
		plan, err := c.Plan(ctx, wanted)
		if err != nil {
			return err
		}
		if len(plan.Mistakes) > 0 {
			return Mistakes(plan.Mistakes)
		}
		if err := check(plan); err != nil {
			return err
		}
		if len(plan.Changes) == 0 {
			return nil
		}
		wanted.Plan = plan.Plan
		err = c.call(ctx, http.MethodPost, "/declarations/apply", wanted, &Plan{})
		var problem *Problem
		if !errors.As(err, &problem) || problem.Code != changedMeanwhile || try == maxTries {
			return err
		}
		// Somebody else was faster, with this object or another one.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(try) * 50 * time.Millisecond):
		}
	}
}

func (c *Client) call(ctx context.Context, method, path string, body, answer any) error {
	for again := false; ; again = true {
		base, token, err := c.session(ctx)
		if err != nil {
			return err
		}
		err = c.send(ctx, method, base+"/admin/v1"+path, token, body, answer)
		var problem *Problem
		isRefused := errors.As(err, &problem) && problem.Status == http.StatusUnauthorized
		if !isRefused || again || c.options.Token != "" {
			return err
		}
		// The token ended before its time: keys were replaced, or the client was revoked.
		c.forget(token)
	}
}

func (c *Client) forget(token string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.token == token {
		c.token = ""
	}
}

// session is where the administered realm answers, and a token that it takes.
func (c *Client) session(ctx context.Context) (string, string, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.options.Token != "" {
		c.token = c.options.Token
	} else if c.token == "" || time.Now().After(c.expires) {
		if err := c.login(ctx); err != nil {
			return "", "", err
		}
	}
	if c.base == "" {
		base := c.issuer
		if c.options.Realm != "" {
			var realm struct {
				Issuer string `json:"issuer"`
			}
			at := c.issuer + "/admin/v1/realms/" + url.PathEscape(c.options.Realm)
			if err := c.send(ctx, http.MethodGet, at, c.token, nil, &realm); err != nil {
				return "", "", fmt.Errorf("realm %q: %w", c.options.Realm, err)
			}
			base = strings.TrimRight(realm.Issuer, "/")
			if err := spoken(base); err != nil {
				return "", "", fmt.Errorf("realm %q: its issuer: %w", c.options.Realm, err)
			}
		}
		c.base = base
	}
	return c.base, c.token, nil
}

// login gets a token of the client's own (RFC 6749 section 4.4).
func (c *Client) login(ctx context.Context) error {
	var metadata struct {
		Issuer        string `json:"issuer"`
		TokenEndpoint string `json:"token_endpoint"`
	}
	at := c.issuer + "/.well-known/openid-configuration"
	if err := c.send(ctx, http.MethodGet, at, "", nil, &metadata); err != nil {
		return fmt.Errorf("the server's metadata: %w", err)
	}
	// OpenID Connect Discovery section 4.3: whoever answers is the issuer that was asked for.
	if strings.TrimRight(metadata.Issuer, "/") != c.issuer {
		return fmt.Errorf("%s calls itself %s: use that as server", c.issuer, metadata.Issuer)
	}
	if err := spoken(metadata.TokenEndpoint); err != nil {
		return fmt.Errorf("the token endpoint: %w", err)
	}
	form := url.Values{"grant_type": {"client_credentials"}, "scope": {scope}}
	headers := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	if c.options.Key != nil {
		assertion, err := assertion(c.options, metadata.Issuer, time.Now())
		if err != nil {
			return err
		}
		form.Set("client_id", c.options.ClientID)
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", assertion)
	} else {
		// RFC 6749 section 2.3.1: both are encoded as in a form.
		pair := url.QueryEscape(c.options.ClientID) + ":" + url.QueryEscape(c.options.ClientSecret)
		headers.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(pair)))
	}
	var answer struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"`
		Scope       string `json:"scope"`
	}
	body := []byte(form.Encode())
	err := c.exchange(ctx, http.MethodPost, metadata.TokenEndpoint, headers, body, &answer)
	if err != nil {
		return fmt.Errorf("client %q gets no token: %w", c.options.ClientID, err)
	}
	if answer.AccessToken == "" {
		return fmt.Errorf("client %q gets no token: the answer has none", c.options.ClientID)
	}
	c.token = answer.AccessToken
	c.expires = time.Now().Add(time.Duration(answer.ExpiresIn)*time.Second - slack)
	return nil
}

func (c *Client) send(
	ctx context.Context, method, at, token string, body, answer any,
) error {
	headers := http.Header{"Accept": {"application/json"}}
	if token != "" {
		headers.Set("Authorization", "Bearer "+token)
	}
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return err
		}
		headers.Set("Content-Type", "application/json")
	}
	return c.exchange(ctx, method, at, headers, sent, answer)
}

func (c *Client) exchange(
	ctx context.Context, method, at string, headers http.Header, body []byte, answer any,
) error {
	request, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = headers
	request.Header.Set("User-Agent", c.options.UserAgent)
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("cannot reach the server: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return fmt.Errorf("cannot read the answer of %s: %w", at, err)
	}
	if len(text) > maxAnswer {
		return fmt.Errorf("the answer of %s is too large", at)
	}
	if response.StatusCode/100 != 2 {
		return refusal(at, response.StatusCode, text)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	// Numbers stay as they are written.
	decoder.UseNumber()
	if err := decoder.Decode(answer); err != nil {
		return fmt.Errorf("the answer of %s is not what was expected: %w", at, err)
	}
	return nil
}

func refusal(at string, status int, text []byte) error {
	var said struct {
		Code        string `json:"code"`
		Detail      string `json:"detail"`
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(text, &said)
	code, detail := said.Code, said.Detail
	if code == "" {
		code, detail = said.Error, said.Description
	}
	if code == "" {
		// No error of the API: something else answers there.
		return fmt.Errorf("%s answered %d", at, status)
	}
	if detail == "" {
		detail = code
	}
	return &Problem{Status: status, Code: code, Detail: detail}
}
