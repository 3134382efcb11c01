import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { variableNames } from '../src/config.ts'
import { codeRules } from './tidy/code-rules.ts'
import { importRules, mayImport } from './tidy/import-rules.ts'
import { projectRules } from './tidy/project-rules.ts'
import { sqlRules } from './tidy/sql-rules.ts'
import { readTree, treeOf, type Rule } from './tidy/tree.ts'

const root = path.join(import.meta.dirname, '..')
const tree = readTree(root)
const rules: readonly Rule[] = [...importRules, ...codeRules, ...sqlRules, ...projectRules]

test.for(rules)('$name', ({ check }) => {
  expect(check(tree).join('\n')).toBe('')
})

test.for(
  rules.flatMap(({ name, check, raises }) =>
    raises.map(([at, sample], index) => ({ name, check, at, sample, index })),
  ),
)('wrong sample $index is caught by: $name', ({ check, at, sample }) => {
  expect(check(treeOf(sample)).map((breach) => breach.split(' ')[0])).toContain(at)
})

test.for(
  rules.flatMap(({ name, check, passes }) =>
    passes.map((sample, index) => ({ name, check, sample, index })),
  ),
)('sample $index is nearly wrong, and passes: $name', ({ check, sample }) => {
  expect(check(treeOf(sample))).toEqual([])
})

test('every rule has a sample that raises it and one that nearly does', () => {
  const unproven = rules.filter(({ raises, passes }) => raises.length === 0 || passes.length === 0)
  expect(unproven.map(({ name }) => name)).toEqual([])
})

test('the rules check the real files', () => {
  const paths = tree.map(({ path }) => path)
  expect(paths).toContain('src/main.ts')
  expect(paths).toContain('migrations/0001_placement.sql')
  expect(paths.length).toBeGreaterThan(100)
})

test('the table in src/README.md equals the import rules', () => {
  const readme = readFileSync(path.join(root, 'src/README.md'), 'utf8')
  const table = [...readme.matchAll(/^\| `?([a-z]+)`? \| (.+) \|$/gm)]
  const told = Object.fromEntries(table.map(([, room = '', cell = '']) => [room, wordsOf(cell)]))
  for (const [room, { values, types = [] }] of Object.entries(mayImport)) {
    if (values.length + types.length === 0 && told[room] === undefined) continue
    expect({ [room]: told[room] }).toEqual({ [room]: [...values, ...types].sort() })
  }
})

function wordsOf(cell: string): string[] {
  return [...cell.matchAll(/`([a-z]+)`/g)].map(([, word = '']) => word).sort()
}

const exampleNames = (text: string) =>
  [...text.matchAll(/^#?\s?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name)

test('.env.example lists every variable of config.ts, once, and no other', () => {
  const example = readFileSync(path.join(root, '.env.example'), 'utf8')
  expect(exampleNames(example).toSorted()).toEqual([...variableNames].toSorted())
  expect(exampleNames('A=1\n# B=2\n#C=3\n# Say D=4\n')).toEqual(['A', 'B', 'C'])
})

const sixtyOneLines = `export function f(): void {\n${'  f()\n'.repeat(59)}}\n`
const refusals: readonly [file: string, rule: string, text: string][] = [
  ['src/sample.ts', 'eslint(max-lines-per-function)', sixtyOneLines],
  ['src/sample.ts', 'typescript(no-explicit-any)', 'export const a: any = 1\n'],
  [
    'src/sample.ts',
    'typescript(no-non-null-assertion)',
    'export const f = (a?: string) => a!.length\n',
  ],
  [
    'src/sample.ts',
    'typescript(consistent-type-imports)',
    "import { A } from './a.ts'\n\nexport type B = A | undefined\n",
  ],
  ['src/sample.ts', 'eslint(no-console)', "console.log('said')\n"],
  ['test/sample.test.ts', 'typescript(no-explicit-any)', 'export const a: any = 1\n'],
]

type Diagnostic = { code: string; filename: string }

test('oxlint refuses what the project forbids, and nothing else', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'lint-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await copyFile(path.join(root, '.oxlintrc.json'), path.join(folder, '.oxlintrc.json'))
  const texts = [
    ...refusals.map(([file, , text]) => [file, text] as const),
    ['src/sample.ts', sixtyOneLines.replace('  f()\n', '')] as const,
    ['scripts/sample.ts', sixtyOneLines] as const,
  ]
  // One run over all samples; a number makes each name unique.
  const files = texts.map(([file], index) => file.replace('sample', `sample-${index}`))
  for (const [index, [, text]] of texts.entries()) {
    const at = path.join(folder, files[index] ?? '')
    await mkdir(path.dirname(at), { recursive: true })
    await writeFile(at, text)
  }
  const program = path.join(root, 'node_modules/oxlint/bin/oxlint')
  const args = [program, '--format', 'json', ...files]
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: Diagnostic[] }
  const found = files.map((file) =>
    diagnostics.flatMap(({ code, filename }) => (filename === file ? [code] : [])),
  )
  expect(found).toEqual([...refusals.map(([, rule]) => [rule]), [], []])
  expect(diagnostics).toHaveLength(refusals.length)
})

test('oxfmt breaks lines at 100 columns', () => {
  const options = JSON.parse(readFileSync(path.join(root, '.oxfmtrc.json'), 'utf8')) as object
  expect(options).toMatchObject({ printWidth: 100, semi: false, singleQuote: true })
})
