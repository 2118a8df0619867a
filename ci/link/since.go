package link

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Since returns the lowest tagged version of arapuca whose header declares all of
// the functions, as "≥ 0.2.7"; empty where no tag does. The checkout has to have
// its tags.
func Since(ctx context.Context, checkout string, functions []string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", "-C", checkout, "tag", "--list", "v*", "--sort=version:refname").Output()
	if err != nil {
		return "", fmt.Errorf("list the tags of %s: %w; name a git checkout of arapuca", checkout, err)
	}
	for tag := range strings.FieldsSeq(string(out)) {
		header, err := exec.CommandContext(ctx, "git", "-C", checkout, "show", tag+":include/arapuca.h").Output()
		if err != nil {
			continue // a version from before the header was kept
		}
		words := strings.FieldsFunc(string(header), func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		})
		if !slices.ContainsFunc(functions, func(f string) bool { return !slices.Contains(words, f) }) {
			return "≥ " + strings.TrimPrefix(tag, "v"), nil
		}
	}
	return "", nil
}
