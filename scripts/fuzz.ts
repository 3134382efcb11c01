import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { baseMessages, nastyMail, surviveAnalysis } from '../test/support/nasty-mail.ts'

/**
 * Analyzes messages that nobody should send, a million unless told otherwise: none may make the
 * analysis throw or take more than 50 ms for each 100 KB. Ends with 1 at the first that does, and
 * keeps it in a file. The same seed makes the same messages.
 */
const { inputs, seed } = readArguments()
const chunk = 1000
const progressMs = 5000

console.log(`${inputs} inputs, seed ${seed}`)
const property = fc.asyncProperty(nastyMail(baseMessages()), surviveAnalysis)
const started = performance.now()
let told = started
for (let done = 0; done < inputs; done += chunk) {
  const numRuns = Math.min(chunk, inputs - done)
  const result = await fc.check(property, { numRuns, seed: seed + done / chunk })
  if (result.failed) {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'fuzz-')), 'input.eml')
    writeFileSync(file, result.counterexample?.[0] ?? '')
    console.error(`After about ${done + result.numRuns} inputs: ${String(result.errorInstance)}`)
    console.error(
      `The input is in ${file}; --seed ${result.seed} --inputs ${chunk} makes it again.`,
    )
    process.exit(1)
  }
  if (performance.now() - told > progressMs) {
    told = performance.now()
    const perSecond = Math.round((done + numRuns) / ((told - started) / 1000))
    console.log(`${done + numRuns} inputs, ${perSecond} a second`)
  }
}
console.log(`${inputs} inputs analyzed; none failed, none was slow.`)

function readArguments(): { inputs: number; seed: number } {
  const { values } = parseArgs({
    options: { inputs: { type: 'string' }, seed: { type: 'string' } },
  })
  const inputs = Number(values.inputs ?? 1_000_000)
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
  if (Number.isInteger(inputs) && inputs > 0 && Number.isInteger(seed)) return { inputs, seed }
  console.error('Usage: npm run fuzz -- [--inputs N] [--seed S]')
  process.exit(2)
}
