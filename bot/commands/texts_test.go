package commands_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"
	"unicode"
)

// texts reads a locale's file: each text's forms by their plural, "other" where
// it has one only.
func texts(t *testing.T, lang string) map[string]map[string]string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("locales", "active."+lang+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]any
	if err := json.Unmarshal(body, &raw); err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	for id, v := range raw {
		all[id] = map[string]string{}
		switch v := v.(type) {
		case string:
			all[id]["other"] = v
		case map[string]any:
			for form, s := range v {
				all[id][form], _ = s.(string)
			}
		}
	}
	return all
}

func TestEveryLanguageHasEveryText(t *testing.T) {
	t.Parallel()
	en, ko := texts(t, "en"), texts(t, "ko")
	if got, want := slices.Sorted(maps.Keys(ko)), slices.Sorted(maps.Keys(en)); !slices.Equal(got, want) {
		t.Fatalf("keys differ:\nko %v\nen %v", got, want)
	}
	for id := range en {
		if en[id]["other"] == "" || ko[id]["other"] == "" {
			t.Errorf("%s is empty in a language", id)
		}
		if got, want := places(t, ko[id]["other"]), places(t, en[id]["other"]); !slices.Equal(got, want) {
			t.Errorf("%s is filled with %v in ko and %v in en", id, got, want)
		}
		if len(en[id]) == 2 && en[id]["one"] == "" {
			t.Errorf("%s counts, but has no form for one", id)
		}
	}
	for id, forms := range ko {
		if strings.HasPrefix(id, "register.new") {
			continue // all of it is filled in
		}
		if id == "rank.ranked" {
			continue
		}
		if !strings.ContainsFunc(forms["other"], func(r rune) bool { return unicode.Is(unicode.Hangul, r) }) {
			t.Errorf("%s has no Korean in ko: %q", id, forms["other"])
		}
	}
}

// places are the names that a text is filled with, once each, sorted.
func places(t *testing.T, text string) []string {
	t.Helper()
	if _, err := parse.Parse("text", text, "", "", map[string]any{}); err != nil {
		t.Errorf("%q: %v", text, err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`{{\.(\w+)}}`).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestTextsInUse reads the source: whatever is said is there, filled with all
// that it needs, and nothing is kept that nobody says.
func TestTextsInUse(t *testing.T) {
	t.Parallel()
	en := texts(t, "en")
	used := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); err == nil {
					used[s] = true
				}
			case *ast.CallExpr:
				checkCall(t, file, n, en)
			}
			return true
		})
	}
	for id := range en {
		prefix, _, _ := strings.Cut(id, ".")
		made := slices.Contains([]string{"reason", "tier", "language"}, prefix)
		if !used[id] && !made {
			t.Errorf("nobody says %s", id)
		}
	}
}

// checkCall checks q.t, q.n and r.line with a text's id written out.
func checkCall(t *testing.T, file string, call *ast.CallExpr, en map[string]map[string]string) {
	t.Helper()
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 || !slices.Contains([]string{"t", "n", "line"}, sel.Sel.Name) {
		return
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return
	}
	id, err := strconv.Unquote(lit.Value)
	if err != nil || strings.HasSuffix(id, ".") {
		return // the start of an id
	}
	forms, ok := en[id]
	if !ok {
		t.Errorf("%s says %s, which is no text", file, id)
		return
	}
	given, rest := []string{}, call.Args[1:]
	switch sel.Sel.Name {
	case "n":
		given, rest = append(given, "Count"), call.Args[2:]
	case "line":
		given, rest = append(given, "Name"), call.Args[2:]
	}
	for i := 0; i < len(rest); i += 2 {
		if l, ok := rest[i].(*ast.BasicLit); ok {
			s, _ := strconv.Unquote(l.Value)
			given = append(given, s)
		}
	}
	for _, place := range places(t, forms["other"]) {
		if !slices.Contains(given, place) {
			t.Errorf("%s says %s without %s", file, id, place)
		}
	}
}
