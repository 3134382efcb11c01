import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/**
 * `npm run check`: types, lint, format and unused code (knip), in parallel. Prints all results at
 * the end, and fails if one check failed.
 */
// There are two TypeScript packages, and both have a `tsc`: version 6, whose syntax trees the tests
// of the source code read, and version 7, which checks types.
const checks = [
  ['node', 'node_modules/@typescript/native/bin/tsc', '--noEmit', '--singleThreaded'],
  ['node', 'node_modules/@typescript/native/bin/tsc', '--noEmit', '-p', 'clients/thunderbird'],
  ['oxlint', '--deny-warnings', '--report-unused-disable-directives'],
  ['oxfmt', '--check'],
  ['knip'],
] as const

const outcomes = await Promise.all(checks.map(run))
for (const { name, code, said, seconds } of outcomes) {
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`)
  if (said.trim() !== '') console.log(said.trimEnd())
}
process.exitCode = outcomes.every(({ code }) => code === 0) ? 0 : 1

async function run([name, ...args]: readonly [string, ...string[]]) {
  const startedAt = performance.now()
  const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [code, ...parts] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  return { name: [name, ...args].join(' '), code, said: parts.join(''), seconds }
}
