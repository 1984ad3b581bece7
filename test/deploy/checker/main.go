// Reads deployment files with the libraries of the tools that they are for.
//
//	checker compose FILE          loads a compose file and prints the project as JSON
//	checker chart FOLDER VALUES   renders a Helm chart and prints the manifests
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

func main() {
	text, err := check(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(text)
}

func check(words []string) (string, error) {
	switch {
	case len(words) == 2 && words[0] == "compose":
		return loadCompose(words[1])
	case len(words) == 3 && words[0] == "chart":
		return renderChart(words[1], words[2])
	}
	return "", fmt.Errorf("usage: checker compose FILE | checker chart FOLDER VALUES")
}

func loadCompose(file string) (string, error) {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithOsEnv, cli.WithName("turnpike"))
	if err != nil {
		return "", err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return "", err
	}
	text, err := project.MarshalJSON()
	return string(text), err
}

func renderChart(folder, valuesFile string) (string, error) {
	chart, err := loader.Load(folder)
	if err != nil {
		return "", err
	}
	own, err := chartutil.ReadValuesFile(valuesFile)
	if err != nil {
		return "", err
	}
	release := chartutil.ReleaseOptions{Name: "turnpike", Namespace: "models", IsInstall: true}
	values, err := chartutil.ToRenderValues(chart, own, release, nil)
	if err != nil {
		return "", err
	}
	files, err := engine.Engine{Strict: true}.Render(chart, values)
	if err != nil {
		return "", err
	}
	text := ""
	for name, file := range files {
		// The text that Helm shows after an installation.
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		text += "---\n# " + name + "\n" + file + "\n"
	}
	return text, nil
}
