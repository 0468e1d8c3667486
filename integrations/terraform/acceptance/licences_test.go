package acceptance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// README.md names the licence of every module that the provider and its tests are made of.
func TestEveryModulesLicenceIsNamed(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../README.md"))
	if err != nil {
		t.Fatal(err)
	}
	form := "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}"
	list := exec.Command("go", "list", "-deps", "-test", "-f", form, "./...")
	list.Dir = ".."
	modules, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, module := range strings.Fields(string(modules)) {
		named++
		if !strings.Contains(string(text), "`"+module+"`") {
			t.Errorf("README.md does not name the licence of %s", module)
		}
	}
	if named == 0 {
		t.Fatal("there is no module")
	}
}
