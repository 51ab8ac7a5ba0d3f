// Reads simulations (JSON, a list) from standard input; writes whether each is allowed, or why it
// could not be evaluated.
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const home = createRequire(pathToFileURL(process.argv[2] + '/'))
const { runSimulation } = home('@cloud-copilot/iam-simulate')
const simulations = JSON.parse(readFileSync(0, 'utf8'))
const results = []
for (const simulation of simulations) {
  const told = await runSimulation(simulation, {})
  results.push(
    told.resultType === 'error' ? 'Error: ' + JSON.stringify(told.errors) : told.overallResult
  )
}
process.stdout.write(JSON.stringify(results))
