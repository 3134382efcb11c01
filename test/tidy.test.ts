import { readFileSync } from 'node:fs'
import path from 'node:path'
import { ESLint } from 'eslint'
import { expect, test } from 'vitest'
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

test('the rules see the real tree', () => {
  const paths = tree.map(({ path }) => path)
  expect(paths).toContain('src/main.ts')
  expect(paths).toContain('migrations/0001_placement.sql')
  expect(paths.length).toBeGreaterThan(100)
})

test('the table of src/README.md says who imports whom as the rule does', () => {
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

test.for([
  [
    'src/main.ts',
    'max-lines-per-function',
    [{ max: 60, skipBlankLines: false, skipComments: true }],
  ],
  ['src/main.ts', '@typescript-eslint/no-explicit-any', []],
  ['src/main.ts', '@typescript-eslint/no-non-null-assertion', []],
  ['src/main.ts', '@typescript-eslint/consistent-type-imports', []],
  ['src/main.ts', 'no-console', []],
  ['test/tidy.test.ts', '@typescript-eslint/no-explicit-any', []],
] as const)('ESLint holds %s to %s', async ([file, rule, options]) => {
  const config = (await new ESLint({ cwd: root }).calculateConfigForFile(file)) as {
    rules: Record<string, unknown[]>
  }
  const [severity, ...given] = config.rules[rule] ?? []
  expect(severity).toBe(2)
  expect(given.slice(0, options.length)).toEqual(options)
})

test('ESLint really refuses a function of 61 lines and passes one of 60', async () => {
  const eslint = new ESLint({ cwd: root })
  const refusals = async (lines: number) => {
    const body = '  f()\n'.repeat(lines - 2)
    const [result] = await eslint.lintText(`function f(): void {\n${body}}\nf()\n`, {
      filePath: 'src/sample.ts',
    })
    return result?.messages.map(({ ruleId }) => ruleId)
  }
  expect(await refusals(61)).toEqual(['max-lines-per-function'])
  expect(await refusals(60)).toEqual([])
})

test('Prettier breaks lines at 100 columns', () => {
  const options = JSON.parse(readFileSync(path.join(root, '.prettierrc.json'), 'utf8')) as object
  expect(options).toMatchObject({ printWidth: 100, semi: false, singleQuote: true })
})
