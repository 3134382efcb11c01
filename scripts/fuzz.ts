import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { expectFullAnalysis } from '../test/support/damaged-checks.ts'
import { damagedMail } from '../test/support/damaged-parts.ts'
import { nastyToCompose, surviveComposing } from '../test/support/nasty-composing.ts'
import { baseMessages, nastyMail, surviveAnalysis } from '../test/support/nasty-mail.ts'

/**
 * Analyzes malformed and hostile messages, or messages with damaged fields in their parts, or
 * composes feedback about hostile messages, a million by default. None may throw or take more than
 * 50 ms of processor time per 100 KB. Exits with 1 at the first failure, and stores the message in
 * a file. The same seed gives the same messages.
 */
const kinds = {
  analyzed: () => fc.asyncProperty(nastyMail(baseMessages()), surviveAnalysis),
  composed: () => fc.asyncProperty(nastyToCompose(baseMessages()), surviveComposing),
  'with damaged parts analyzed': () =>
    fc.asyncProperty(damagedMail(baseMessages()), async (raw) => {
      await surviveAnalysis(raw)
      await expectFullAnalysis(raw)
    }),
}
const kindNames = { composing: 'composed', parts: 'with damaged parts analyzed' } as const
const { inputs, seed, kind } = readArguments()
const chunk = 1000
const progressMs = 5000

console.log(`${inputs} inputs, seed ${seed}`)
const property = kinds[kind]()
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
console.log(`${inputs} inputs ${kind}; none failed, none was slow.`)

function readArguments(): { inputs: number; seed: number; kind: keyof typeof kinds } {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { inputs: { type: 'string' }, seed: { type: 'string' } },
  })
  const inputs = Number(values.inputs ?? 1_000_000)
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
  const [name = ''] = positionals
  const isNamed = name === 'composing' || name === 'parts'
  const isKnown = positionals.length === (isNamed ? 1 : 0)
  if (isKnown && Number.isInteger(inputs) && inputs > 0 && Number.isInteger(seed)) {
    return { inputs, seed, kind: isNamed ? kindNames[name] : 'analyzed' }
  }
  console.error('Usage: npm run fuzz [composing | parts] -- [--inputs N] [--seed S]')
  process.exit(2)
}
