// Package ara is a program that uses go-arapuca as any other would: it reads an
// order, does what it says step by step, and writes what came of each step. It
// judges nothing. Its standard streams are those of what it launches.
//
//	ara --order FILE --facts FILE
package ara
