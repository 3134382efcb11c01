import { type ChildProcess, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/**
 * `npm run check`: types, lint, format and unused code (knip), in parallel. Prints what failed at
 * the end. `npm test` also runs the tests at the same time, because neither the checks nor the
 * start of the tests use all processors; arguments select tests.
 */
const checks = [
  ['tsc', '--noEmit', '--singleThreaded'],
  ['tsc', '--noEmit', '-p', 'clients/thunderbird'],
  ['oxlint', '--deny-warnings', '--report-unused-disable-directives'],
  ['oxfmt', '--check'],
  ['knip'],
] as const

const [option, ...filters] = process.argv.slice(2)
const [outcomes, testCode] = await Promise.all([
  Promise.all(checks.map(run)),
  option === '--tests' ? runTests(filters) : 0,
])
const failures = outcomes.filter(({ code }) => code !== 0)
failures.forEach(print)
process.exitCode = testCode === 0 && failures.length === 0 ? 0 : 1

function runTests(filters: readonly string[]): Promise<number | null> {
  return endOf(spawn('vitest', ['run', ...filters], { stdio: 'inherit' }))
}

type Outcome = { name: string; code: number | null; said: string; seconds: string }

function print({ name, code, said, seconds }: Outcome): void {
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`)
  if (said.trim() !== '') console.log(said.trimEnd())
}

async function run([name, ...args]: readonly [string, ...string[]]): Promise<Outcome> {
  const startedAt = performance.now()
  const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const [code, ...parts] = await Promise.all([endOf(child), text(child.stdout), text(child.stderr)])
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  const outcome = { name: [name, ...args].join(' '), code, said: parts.join(''), seconds }
  if (code === 0) print(outcome)
  return outcome
}

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
}
