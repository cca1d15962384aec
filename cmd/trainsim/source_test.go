package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"trainsim/scenarios"
)

const moduleRoot = "../.."

// sources calls visit for every text file of the module, test data aside.
func sources(t *testing.T, visit func(path string, text []byte)) {
	err := filepath.WalkDir(moduleRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", "testdata", "trainsim-out"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".md", ".toml", ".yml", ".mod", ""}, filepath.Ext(path)) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err == nil && !bytes.Contains(text, []byte{0}) {
			visit(strings.TrimPrefix(filepath.ToSlash(path), moduleRoot+"/"), text)
		}
		return err
	})
	require.NoError(t, err)
}

// goFiles parses every Go file of the module.
func goFiles(t *testing.T, visit func(path string, set *token.FileSet, file *ast.File)) {
	sources(t, func(path string, text []byte) {
		if filepath.Ext(path) != ".go" {
			return
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		visit(path, set, file)
	})
}

// Nothing is left for later, and nothing knows the machine it was written on.
func TestForbiddenWords(t *testing.T) {
	words := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|place` + `holder|unimple` + `mented|not (yet )?imple` + `mented)\b` +
		`|(^|[^A-Za-z0-9_.])/(wo` + `rk|tm` + `p|ro` + `ot|ho` + `me)/|\.\./sha` + `red|(?i)iss` + `ue #?[0-9]+\b`)
	sources(t, func(path string, text []byte) {
		for i, line := range bytes.Split(text, []byte("\n")) {
			if found := words.Find(line); found != nil {
				t.Errorf("%s:%d: %q", path, i+1, found)
			}
		}
	})
}

// Libraries neither print, exit, log, read the clock nor draw from the global
// random source: all of that would make two runs differ or hide an error.
func TestLibrariesKeepQuiet(t *testing.T) {
	forbidden := map[string]*regexp.Regexp{
		"fmt":          regexp.MustCompile(`^Print`),
		"log":          regexp.MustCompile(`.`),
		"log/slog":     regexp.MustCompile(`.`),
		"os":           regexp.MustCompile(`^(Exit|Stdout|Stderr|Stdin|Getenv|LookupEnv)$`),
		"time":         regexp.MustCompile(`^(Now|Since|Until|After|Tick|Sleep)$`),
		"math/rand":    regexp.MustCompile(`.`),
		"math/rand/v2": regexp.MustCompile(`^(Int|Uint|Float|Norm|Exp|Perm|Shuffle|N$)`),
	}
	goFiles(t, func(path string, set *token.FileSet, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "cmd/") {
			return
		}
		names := map[string]string{} // local name of an import -> its path
		for _, i := range file.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			name := strings.TrimSuffix(p, "/v2")
			name = name[strings.LastIndex(name, "/")+1:]
			if i.Name != nil {
				name = i.Name.Name
			}
			names[name] = p
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok {
				if bad := forbidden[names[x.Name]]; bad != nil && bad.MatchString(sel.Sel.Name) {
					t.Errorf("%s: %s.%s in a library", set.Position(sel.Pos()), x.Name, sel.Sel.Name)
				}
			}
			return true
		})
	})
}

// What software decides stands in its preset: no code outside of scenarios' own
// default knows a framework by its name.
func TestFrameworksAreNotNamed(t *testing.T) {
	list, err := scenarios.List("frameworks")
	require.NoError(t, err)
	names := map[string]bool{}
	for _, e := range list {
		names[e.Name] = true
	}
	goFiles(t, func(path string, set *token.FileSet, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			var compared []ast.Expr
			switch n := n.(type) {
			case *ast.BinaryExpr:
				compared = []ast.Expr{n.X, n.Y}
			case *ast.CaseClause:
				compared = n.List
			}
			for _, e := range compared {
				l, ok := e.(*ast.BasicLit)
				if !ok || l.Kind != token.STRING {
					continue
				}
				if name, _ := strconv.Unquote(l.Value); names[name] && name != "none" { // which other keys take, too
					t.Errorf("%s: %s is a framework's name", set.Position(l.Pos()), l.Value)
				}
			}
			return true
		})
	})
}

// What a GPU can do stands in package generation's table: no code compares a
// compute capability, or the name of an architecture, with a literal. 0 and ""
// are values that nobody gave.
func TestCapabilitiesAreNotCompared(t *testing.T) {
	named := func(e ast.Expr) bool {
		name := ""
		switch e := e.(type) {
		case *ast.Ident:
			name = e.Name
		case *ast.SelectorExpr:
			name = e.Sel.Name
		}
		return regexp.MustCompile(`(?i)capability$|architecture$|^cc$`).MatchString(name)
	}
	literal := func(e ast.Expr) bool {
		l, ok := e.(*ast.BasicLit)
		return ok && l.Value != "0" && l.Value != `""`
	}
	goFiles(t, func(path string, set *token.FileSet, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if (named(n.X) && literal(n.Y) || literal(n.X) && named(n.Y)) && n.Op.Precedence() == token.EQL.Precedence() {
					t.Errorf("%s: compares what the table of GPU generations tells", set.Position(n.Pos()))
				}
			case *ast.SwitchStmt:
				if n.Tag != nil && named(n.Tag) {
					t.Errorf("%s: switches on what the table of GPU generations tells", set.Position(n.Pos()))
				}
			}
			return true
		})
	})
}

// A skipped test hides a hole.
func TestNoTestSkips(t *testing.T) {
	goFiles(t, func(path string, set *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && strings.HasSuffix(path, "_test.go") {
				assert.NotContains(t, []string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name, "%s", set.Position(sel.Pos()))
			}
			return true
		})
	})
}

func TestFilesAreShort(t *testing.T) {
	goFiles(t, func(path string, set *token.FileSet, file *ast.File) {
		if lines := set.Position(file.FileEnd - 1).Line; lines > 400 && !strings.HasSuffix(path, "_test.go") {
			t.Errorf("%s has %d lines; split it above 400", path, lines)
		}
	})
}

func TestEveryPackageHasACommentAndAnExample(t *testing.T) {
	comments, examples := map[string]bool{}, map[string]bool{}
	goFiles(t, func(path string, _ *token.FileSet, file *ast.File) {
		dir := filepath.Dir(path)
		comments[dir] = comments[dir] || file.Doc != nil && !strings.HasSuffix(path, "_test.go")
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasSuffix(path, "_test.go") && strings.HasPrefix(f.Name.Name, "Example") {
				examples[dir] = true
			}
		}
	})
	for dir, ok := range comments {
		assert.True(t, ok, "package %s has no package comment", dir)
		assert.True(t, examples[dir] || dir == "cmd/trainsim", "package %s has no Example", dir)
	}
}

func TestExportedIdentifiersAreDocumented(t *testing.T) {
	goFiles(t, func(path string, set *token.FileSet, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, d := range file.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s: exported %s has no comment", set.Position(d.Pos()), name)
			}
		}
	})
}

// undocumented returns the exported names that a declaration leaves without a
// comment. A group of constants or variables may share the group's comment.
func undocumented(d ast.Decl) (out []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || exportedReceiver(d.Recv)) {
			out = append(out, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && s.Doc == nil && (d.Doc == nil || d.Lparen.IsValid()) {
					out = append(out, s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
						out = append(out, n.Name)
					}
				}
			}
		}
	}
	return out
}

// exportedReceiver reports whether a method belongs to an exported type.
func exportedReceiver(recv *ast.FieldList) bool {
	return ast.IsExported(typeName(recv.List[0].Type))
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
