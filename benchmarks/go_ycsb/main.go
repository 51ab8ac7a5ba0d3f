// go-ycsb with its MySQL driver alone: its own program links every database that it knows.
// Arguments are its properties, name=value. Prints the operations that were done.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/magiconair/properties"
	_ "github.com/pingcap/go-ycsb/db/mysql"
	"github.com/pingcap/go-ycsb/pkg/client"
	"github.com/pingcap/go-ycsb/pkg/measurement"
	_ "github.com/pingcap/go-ycsb/pkg/workload"
	"github.com/pingcap/go-ycsb/pkg/ycsb"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	p := properties.NewProperties()
	for _, argument := range os.Args[1:] {
		name, value, _ := strings.Cut(argument, "=")
		p.Set(name, value)
	}
	measurement.InitMeasure(p)
	workload := must(ycsb.GetWorkloadCreator("core").Create(p))
	db := must(ycsb.GetDBCreator("mysql").Create(p))
	client.NewClient(p, workload, client.DbWrapper{DB: db}).Run(context.Background())
	measurement.Output()
	db.Close()
}
