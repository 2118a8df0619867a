module github.com/LeGambiArt/go-arapuca

go 1.25
