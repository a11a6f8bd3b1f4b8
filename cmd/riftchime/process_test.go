package main_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// token and key are what the tests' programs are given. Neither may turn up
	// in anything that a program prints.
	token = "process-tests.bot.token"
	key   = "RGAPI-process-tests-key"
	// interactionToken is how the tokens of discordtest's interactions begin.
	interactionToken = "aW50ZXJhY3Rpb246"

	// stopTime is how long stopping may take (issue 2).
	stopTime = 10 * time.Second
)

// settings are environment variables. The program gets these and no others that
// it reads.
type settings map[string]string

// with is s with other values; an empty one removes the variable.
func (s settings) with(pairs ...string) settings {
	out := settings{}
	for k, v := range s {
		out[k] = v
	}
	for i := 0; i < len(pairs); i += 2 {
		if out[pairs[i]] = pairs[i+1]; pairs[i+1] == "" {
			delete(out, pairs[i])
		}
	}
	return out
}

// program is the program under test, as a process.
type program struct {
	t        *testing.T
	cmd      *exec.Cmd
	out, err output
	done     chan struct{} // closed when it has ended
	began    time.Time
	ended    time.Time // before done is closed
	secrets  []string
}

// launch starts the program. When the test ends it is killed, if it still runs,
// and what it printed is checked for secrets, panics and data races.
func launch(t *testing.T, env settings, args ...string) *program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, cmd: exec.Command(self, args...), done: make(chan struct{}), began: time.Now()}
	p.secrets = []string{token, key, interactionToken}
	p.cmd.Dir = t.TempDir()
	p.cmd.Env = []string{
		"RIFTCHIME_TEST_AS_PROGRAM=1",
		// Programs with -race would sleep for a second before they end.
		"GORACE=atexit_sleep_ms=0 " + os.Getenv("GORACE"),
	}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "GOCOVERDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			p.cmd.Env = append(p.cmd.Env, name+"="+v)
		}
	}
	for k, v := range env {
		p.cmd.Env = append(p.cmd.Env, k+"="+v)
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // its ProcessState says it
		p.ended = time.Now()
		close(p.done)
	}()
	t.Cleanup(p.cleanup)
	return p
}

func (p *program) cleanup() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
	all := p.out.String() + p.err.String()
	for _, secret := range p.secrets {
		if strings.Contains(all, secret) {
			p.t.Errorf("riftchime %s: a secret is in its output: %s", p.name(), around(all, secret))
		}
	}
	for _, bad := range []string{"DATA RACE", "panic:", "goroutine ", "msg=panic"} {
		if strings.Contains(all, bad) {
			p.t.Errorf("riftchime %s: %q in its output:\n%s", p.name(), bad, around(all, bad))
		}
	}
	if p.t.Failed() {
		p.t.Logf("riftchime %s, pid %d, %s..%s, %s; the end of its output:\n%s", p.name(), p.cmd.Process.Pid,
			p.began.Format("05.000"), p.ended.Format("05.000"), p.cmd.ProcessState, tail(all, 6000))
	}
}

func (p *program) name() string { return strings.Join(p.cmd.Args[1:], " ") }

// around is what stands near text in all.
func around(all, text string) string {
	i := strings.Index(all, text)
	return all[max(0, i-200):min(len(all), i+4000)]
}

func tail(s string, most int) string { return s[max(0, len(s)-most):] }

// running reports whether the program has not ended.
func (p *program) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// signal sends sig.
func (p *program) signal(sig os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Errorf("signal %s: %v", sig, err)
	}
}

// kill is kill -9; it returns when the process is gone.
func (p *program) kill() {
	p.t.Helper()
	p.signal(syscall.SIGKILL)
	p.wait(5 * time.Second)
}

// wait returns the exit code, -1 of a program that a signal ended. A program
// that does not end within most fails the test.
func (p *program) wait(most time.Duration) int {
	p.t.Helper()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-timer.C:
		p.t.Fatalf("riftchime %s still runs after %s", p.name(), most)
		return 0
	}
}

// stop sends sig, expects exit code 0 within stopTime, and returns how long it
// took.
func (p *program) stop(sig os.Signal) time.Duration {
	p.t.Helper()
	at := time.Now()
	p.signal(sig)
	if code := p.wait(stopTime); code != 0 {
		p.t.Errorf("exit code %d after %s, want 0", code, sig)
	}
	return p.ended.Sub(at)
}

// said waits until the program printed something that re finds, and returns
// what its groups caught.
func (p *program) said(within time.Duration, re string) []string {
	p.t.Helper()
	var found []string
	rx := regexp.MustCompile(re)
	eventually(p.t, within, "riftchime "+p.name()+" prints "+re, func() bool {
		found = rx.FindStringSubmatch(p.out.String() + "\n" + p.err.String())
		return found != nil || !p.running()
	})
	if found == nil {
		p.t.Fatalf("riftchime %s ended without printing %s", p.name(), re)
	}
	return found
}

// web gets a page that the program serves.
func (p *program) web(path string) (status int, body string) {
	p.t.Helper()
	addr := p.said(20*time.Second, `"serving /healthz[^\n]*address"?[=:]"?([\d.]+:\d+)`)[1]
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, strings.TrimSpace(string(text))
}

// ready waits until /readyz says so.
func (p *program) ready(within time.Duration) {
	p.t.Helper()
	var status int
	var body string
	eventually(p.t, within, "/readyz answers 200", func() bool {
		status, body = p.web("/readyz")
		return status == http.StatusOK || !p.running()
	})
	if status != http.StatusOK {
		p.t.Fatalf("/readyz: %d %s", status, body)
	}
}

// complaint checks that the program ended with the code and with one line on
// standard error that is no log line, and returns it.
func (p *program) complaint(within time.Duration, code int) string {
	p.t.Helper()
	if got := p.wait(within); got != code {
		p.t.Errorf("exit code %d, want %d", got, code)
	}
	var lines []string
	for line := range strings.Lines(p.err.String()) {
		if !strings.HasPrefix(line, "time=") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	if len(lines) != 1 || !strings.HasPrefix(lines[0], "riftchime: ") {
		p.t.Errorf("%d lines that are no log lines, want one: %q", len(lines), lines)
	}
	return strings.Join(lines, "\n")
}

// output keeps what a process prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// eventually waits until cond holds, which another process brings about.
func eventually(t *testing.T, within time.Duration, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(within); !cond(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", within, what)
		}
	}
}

// until waits for the clock to reach at.
func until(t *testing.T, at time.Time) {
	t.Helper()
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
		t.Fatal("the test ended")
	}
}

// sqliteURL is the address of a file that is not there yet.
func sqliteURL(t *testing.T) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "riftchime.db")
}
