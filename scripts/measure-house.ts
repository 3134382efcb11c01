// Prints figures about the size and structure of the program: npm run measure:house [-- --journey]
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { parseSync } from 'oxc-parser'
import { measureJourney } from './measure-house/journey.ts'

const root = path.join(import.meta.dirname, '..')
const { values } = parseArgs({ options: { journey: { type: 'boolean', default: false } } })

const filesThatEnd = (end: string) =>
  readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(end))
    .map((file) => ({ file, text: readFileSync(path.join(root, 'src', file), 'utf8') }))
const files = filesThatEnd('.ts')
const catalogs = filesThatEnd('.json').map(({ text }) => text.split('\n').length - 1)
const lines = files
  .map(({ file, text }) => ({ file, count: text.split('\n').length - 1 }))
  .sort((a, b) => a.count - b.count)
const code = lines.filter(({ file }) => !/^texts\/\w\w\//.test(file))
const median = lines[Math.floor(lines.length / 2)]?.count

print('TypeScript files in src', files.length)
print('median lines of a file', median)
print('lines of src without catalogs', sum(code.map(({ count }) => count)))
print('lines of messages and of bounce phrases (JSON)', sum(catalogs))
print(
  'files under 25 lines',
  lines
    .filter(({ count }) => count < 25)
    .map(({ file }) => file)
    .join(', '),
)
print('unused files, exports and dependencies (knip)', await knipIssues())
print('names exported by several files', exportedTwice().join(', ') || 0)
if (values.journey) {
  const { functions, files: passed } = await measureJourney()
  print('functions that one report passes', functions)
  print('files that one report passes', passed)
}

function print(what: string, value: unknown): void {
  console.log(`${what}: ${String(value)}`)
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

async function knipIssues(): Promise<number> {
  const knip = path.join(root, 'node_modules', '.bin', 'knip')
  if (!existsSync(knip)) throw new Error('knip is not installed: run npm ci.')
  const { stdout } = await promisify(execFile)(knip, ['--reporter', 'compact', '--no-exit-code'], {
    cwd: root,
  })
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('src/') || line.includes('package.json')).length
}

/** Names exported by two or more files, each with its files. */
function exportedTwice(): string[] {
  const byName = new Map<string, string[]>()
  for (const { file, text } of files.filter(({ file: name }) => !name.endsWith('.d.ts'))) {
    for (const name of new Set(exportedNames(file, text))) {
      byName.set(name, [...(byName.get(name) ?? []), file])
    }
  }
  return [...byName]
    .filter(([, places]) => places.length > 1)
    .map(([name, places]) => `${name} (${places.join(', ')})`)
}

/** Without the default exports, which thread libraries require and nothing imports by name. */
function exportedNames(file: string, text: string): string[] {
  return parseSync(file, text)
    .module.staticExports.flatMap(({ entries }) => entries)
    .flatMap(({ exportName }) => (exportName.kind === 'Name' ? [exportName.name ?? ''] : []))
}
