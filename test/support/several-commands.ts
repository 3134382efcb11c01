/**
 * Runs several command lines in this one process, one after the other, each as `src/main.ts` runs
 * it. They are given as JSON, a list of lists of arguments, and their results are printed as JSON.
 */
const main = import.meta.resolve('../../src/main.ts')
const lines = JSON.parse(process.argv[2] ?? '[]') as string[][]
const print = process.stdout.write.bind(process.stdout)
const outcomes: { code: typeof process.exitCode; stdout: string; stderr: string }[] = []

for (const [number, args] of lines.entries()) {
  const written = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = (chunk: unknown) => {
      written[name] += String(chunk)
      return true
    }
  }
  process.argv.splice(2, Infinity, ...args)
  process.exitCode = undefined
  // With a different URL the module runs again, but its imports are shared.
  await import(`${main}?line=${number}`)
  outcomes.push({ code: process.exitCode, ...written })
}

process.exitCode = 0
print(JSON.stringify(outcomes))
