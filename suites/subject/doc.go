// Package subject is the contract between the suites and the thing under test,
// protocol 1, seen from the client's side.
//
// A subject is an executable with two verbs:
//
//	SUBJECT describe
//	SUBJECT run --spec FILE [--events FILE] [--control FD] [--dry-run]
//
// The types of this package are the JSON that crosses that line: [Description],
// [Spec], [Event], [Command] and [Reply]. CONTRACT.md, one folder up, says in
// numbered clauses what each of them means; the JSON Schemas beside this file
// are generated from the types and compared in the tests.
//
// The package is a leaf: an author of another sandbox can import it without
// Ginkgo, and the reference bridge does not import it at all, so that a mistake
// here cannot hide the same mistake there.
package subject

// Protocol is the version of the contract that this package speaks.
const Protocol = 1
