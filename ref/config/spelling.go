package config

// nearest is the known word that a mistyped one is meant for: at most two
// letters wrong, missing, superfluous or swapped, and fewer than half of it;
// empty when there is none or more than one.
func nearest(word string, known []string) (meant string) {
	best := min(2, (len(word)-1)/2) + 1
	for _, k := range known {
		switch n := distance(word, k); {
		case n < best:
			best, meant = n, k
		case n == best:
			meant = ""
		}
	}
	return meant
}

// distance is the optimal string alignment of a and b: how many letters are to
// be replaced, added, removed or swapped with the next.
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
