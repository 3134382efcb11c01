import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { variableNames } from '../src/config.ts'
import { migrations } from './tidy/migration-rules.ts'
import { projectRules } from './tidy/project-rules.ts'
import { bans } from './tidy/sql-bans.ts'
import { readTree, treeOf, type Rule } from './tidy/tree.ts'

const root = path.join(import.meta.dirname, '..')
const tree = readTree(root)
const rules: readonly Rule[] = [migrations, ...projectRules]

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

const exampleNames = (text: string) =>
  [...text.matchAll(/^#?\s?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name)

test('.env.example lists every variable of config.ts, once, and no other', () => {
  const example = readFileSync(path.join(root, '.env.example'), 'utf8')
  expect(exampleNames(example).toSorted()).toEqual([...variableNames].toSorted())
  expect(exampleNames('A=1\n# B=2\n#C=3\n# Say D=4\n')).toEqual(['A', 'B', 'C'])
})

const sixtyOneLines = `export function f(): void {\n${'  f()\n'.repeat(59)}}\n`

/** A file, the rule of oxlint that refuses it, and its text; `@` stands for a number of its own. */
type Sample = readonly [file: string, rule: string, text: string]

const refused: readonly Sample[] = [
  ['src/a@.ts', 'eslint(max-lines-per-function)', sixtyOneLines],
  ['src/a@.ts', 'typescript(no-explicit-any)', 'export const a: any = 1'],
  ['test/a@.test.ts', 'typescript(no-explicit-any)', 'export const a: any = 1'],
  ['src/a@.ts', 'typescript(no-non-null-assertion)', 'export const f = (a?: string) => a!.length'],
  [
    'src/mail/a@.ts',
    'typescript(consistent-type-imports)',
    "import { A } from './a.ts'\nexport type B = A | undefined",
  ],
  ['src/a@.ts', 'eslint(no-console)', "console.log('said')"],
  ['src/a@.ts', 'import(no-default-export)', 'export default function a() { return 1 }'],
  ['src/a@.ts', 'import(no-default-export)', 'const a = 1\nexport { a as default }'],
  ...layersRefused(),
  [
    'src/mail/a@.ts',
    'eslint(no-restricted-imports)',
    "import { resolve } from 'node:dns'\nresolve()",
  ],
  [
    'src/verdict/a@.ts',
    'eslint(no-restricted-imports)',
    "import { readFile } from 'node:fs/promises'\nreadFile('a')",
  ],
  [
    'src/web/api/a@.ts',
    'eslint(no-restricted-imports)',
    "import { inTransaction as b } from '../../db/transactions.ts'\nb()",
  ],
  ['src/a@.ts', 'signalpost(production)', "import a from 'fast-check'\na()"],
  ['src/mail/a@.ts', 'signalpost(barrels)', "export * from './b.ts'"],
  ['src/mail/a@.ts', 'signalpost(barrels)', "export const a = 1\nexport type { B } from './b.ts'"],
  ...[
    'export const a = process.env.A',
    "export const a = process['env']",
    'export const { env } = process',
    'export const a = Date.now()',
    'export const a = new Date()',
    'export const a = Date()',
    'export const a = Math.random',
    'export const a = performance.now()',
    'crypto.randomUUID()',
  ].map((text) => ['src/mail/a@.ts', 'signalpost(world)', text] as const),
  ...['test.only(1)', "describe.skip('a')", "it.todo('a')", "test.concurrent.only('a')"].map(
    (text) => ['test/a@.test.ts', 'signalpost(whole)', text] as const,
  ),
  ...[
    "a.query('select id from reports')",
    'export const a = `update reports set state = ${b}`',
    "a.query('analyze pgboss.job')",
    'export const isDue = sql`due_at < ${a}`',
  ].map((text) => ['src/reports/a@.ts', 'signalpost(sql-home)', text] as const),
  ...[
    ...bans.map(({ example }) => `a.query(${JSON.stringify(example)})`),
    'const columns = `id, now() as "at"`\na(columns)',
    'export const isDue = () => sql`due_at < now()`',
  ].map((text) => ['src/db/a@.ts', 'signalpost(distributable)', text] as const),
]

function layersRefused(): Sample[] {
  const rows = [
    ['src/mail/a@.ts', "import '../db/b.ts'"],
    ['src/mail/a@.ts', "import type { App } from '../app.ts'\nexport type A = App"],
    ['src/mail/a@.ts', "import { uuidv7 } from '../world.ts'\nuuidv7()"],
    ['src/web/a@.ts', "import type { B } from '../pieces/b.ts'\nexport type A = B"],
    ['src/feedback/a@.ts', "import '../web/api/b.ts'"],
    ['src/db/a@.ts', "import '../mail/b.ts'"],
    ['src/db/a@.ts', "export const b = () => import('../mail/b.ts')"],
    ['src/web/a@.ts', "import { systemClock } from '../world.ts'\nsystemClock()"],
    ['src/people/a@.ts', "import '../../test/a.ts'"],
    ['src/cli/a@.ts', "import '../../scripts/a.ts'"],
    ['src/processes/a@.ts', "import '../cli/b.ts'"],
    ['src/novel/a@.ts', "import '../mail/a.ts'"],
  ] as const
  return rows.map(([file, text]) => [file, 'signalpost(layers)', text])
}

/** Files that come close to a violation, and that oxlint must accept. */
const accepted: readonly [file: string, text: string][] = [
  ['src/a@.ts', sixtyOneLines.replace('  f()\n', '')],
  ['scripts/a@.ts', sixtyOneLines],
  ['src/mail/a@.ts', "import { CallerError } from '../errors.ts'\nthrow new CallerError('a')"],
  ['src/mail/a@.ts', "import type { Clock } from '../world.ts'\nexport type A = Clock"],
  ['src/db/a@.ts', "import type { B } from '../mail/b.ts'\nexport type A = B"],
  ['src/web/api/a@.ts', "import type { App } from '../../app.ts'\nexport type A = App"],
  ['src/web/lists/a@.ts', "import '../pages/b.ts'"],
  ['src/cli/a@.ts', "import '../web/a.ts'\nimport '../reports/b.ts'"],
  ['src/mail/a@.ts', "import { createHash } from 'node:crypto'\ncreateHash('md5')"],
  ['src/db/a@.ts', "import { readFile } from 'node:fs/promises'\nreadFile('a')"],
  ['src/web/a@.ts', "import { findReport } from '../db/reports.ts'\nfindReport()"],
  ['src/a@.ts', "import type { A } from 'fast-check'\nexport type B = A"],
  ['test/a@.ts', "import a from 'fast-check'\na(process.env, new Date())"],
  ['src/a@.ts', "export const a = { env: 'process.env' } // Date.now()"],
  ['src/db/a@.ts', 'export const a = [new Date(0), performance.now(), Date.parse(b), Date.UTC(1)]'],
  ['test/a@.test.ts', "test.skipIf(1)('test.only')\ntest.for([])('c')"],
  ['src/web/a@.ts', "a('Select one of these')\na('update your client')"],
  ['test/a@.ts', "q('select id from a')"],
  ['src/db/a@.ts', "a('select count(*) from networks where now = $1 and random > 2')"],
  ['src/db/a@.ts', "// now() and xmax\na('insert into a (b) values ($1)')"],
  ['src/db/a@.ts', "a('for update see the manual', () => now())"],
]

type Diagnostic = { code: string; filename: string }

test('oxlint refuses what the project forbids, and nothing else', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'lint-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const file of ['.oxlintrc.json', 'package.json', 'src/README.md', 'test/tidy']) {
    await cp(path.join(root, file), path.join(folder, file), { recursive: true })
  }
  const samples = [...refused, ...accepted.map(([file, text]) => [file, '', text] as const)].map(
    ([file, rule, text], index) => ({ file: file.replace('@', `-${index}`), rule, text }),
  )
  for (const { file, text } of samples) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
    await writeFile(path.join(folder, file), `${text}\n`)
  }
  // One run over all samples.
  const program = path.join(root, 'node_modules/oxlint/bin/oxlint')
  const args = [program, '--format', 'json', ...samples.map(({ file }) => file)]
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: Diagnostic[] }
  const found = samples.map(({ file, text }) => {
    const codes = diagnostics.flatMap(({ code, filename }) => (filename === file ? [code] : []))
    return { file, text, rule: [...new Set(codes)].join(', ') }
  })
  expect(found).toEqual(samples.map(({ file, rule, text }) => ({ file, text, rule })))
})

test('oxfmt breaks lines at 100 columns', () => {
  const options = JSON.parse(readFileSync(path.join(root, '.oxfmtrc.json'), 'utf8')) as object
  expect(options).toMatchObject({ printWidth: 100, semi: false, singleQuote: true })
})
