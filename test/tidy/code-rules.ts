import ts from 'typescript'
import { collect, placeOf, type Rule, syntaxOf, type TidyFile, typescriptIn } from './tree.ts'

const environment: Rule = {
  name: 'process.env is read in main.ts only',
  check: (tree) =>
    typescriptIn(tree, 'src')
      .filter(({ path }) => path !== 'src/main.ts')
      .flatMap((file) =>
        collect(file, (node) =>
          memberOf(node, 'process') === 'env'
            ? `${placeOf(file, node)} reads process.env: make it a setting in config.ts`
            : undefined,
        ),
      ),
  raises: [
    ['src/a.ts:2', { 'src/a.ts': '\nexport const a = process.env.A' }],
    ['src/db/a.ts:1', { 'src/db/a.ts': "const a = process['env']" }],
    ['src/db/a.ts:1', { 'src/db/a.ts': 'const { env } = process' }],
  ],
  passes: [
    {
      'src/main.ts': 'process.env',
      'src/a.ts': "// process.env\nconst a = { env: 'process.env' }",
    },
    { 'test/a.ts': 'process.env' },
  ],
}

/** Only these files may read the time and random numbers; `main.ts` starts everything. */
const worldly = ['src/world.ts', 'src/main.ts']
const stopwatchRooms =
  /^src\/(cli|processes|web|db|queue|net|activity|feedback|reports|people|lists)\//

const chance: Rule = {
  name: 'time and chance are handed in: the clock and the dice are in world.ts',
  check: (tree) =>
    typescriptIn(tree, 'src')
      .filter(({ path }) => !worldly.includes(path))
      .flatMap((file) =>
        collect(file, (node) => {
          const what = unfit(node, file)
          return what && `${placeOf(file, node)} uses ${what}: have it handed in (world.ts)`
        }),
      ),
  raises: [
    ['src/mail/a.ts:1', { 'src/mail/a.ts': 'const a = Date.now()' }],
    ['src/db/a.ts:1', { 'src/db/a.ts': 'const a = new Date()' }],
    ['src/db/a.ts:1', { 'src/db/a.ts': 'const a = Date()' }],
    ['src/web/a.ts:1', { 'src/web/a.ts': 'const a = Math.random' }],
    ['src/web/a.ts:1', { 'src/web/a.ts': "import { randomBytes } from 'node:crypto'" }],
    ['src/web/a.ts:1', { 'src/web/a.ts': 'crypto.randomUUID()' }],
    ['src/mail/a.ts:1', { 'src/mail/a.ts': 'const a = performance.now()' }],
  ],
  passes: [
    { 'src/world.ts': 'new Date()', 'src/main.ts': 'Date.now()' },
    { 'src/db/a.ts': "new Date(0)\nperformance.now()\nimport { createHash } from 'node:crypto'" },
    { 'src/mail/a.ts': 'Date.parse(a); Date.UTC(b); new Date(c) // Date.now()' },
  ],
}

function unfit(node: ts.Node, file: TidyFile): string | undefined {
  if (memberOf(node, 'Date') === 'now') return 'Date.now'
  if (memberOf(node, 'Math') === 'random') return 'Math.random'
  if (memberOf(node, 'performance') === 'now' && !stopwatchRooms.test(file.path)) {
    return 'performance.now'
  }
  if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && isNamed(node.expression, 'Date')) {
    const isNow = (node.arguments ?? []).length === 0 || ts.isCallExpression(node)
    return isNow ? 'the present instant' : undefined
  }
  const isDice = ts.isIdentifier(node) && /^(randomBytes|randomUUID|randomInt)$/.test(node.text)
  return isDice ? node.text : undefined
}

/**
 * Returns the name of the property that a node reads from a global object, in any notation: `a.b`,
 * `a['b']` or `const { b } = a`.
 */
function memberOf(node: ts.Node, name: string): string | undefined {
  if (ts.isPropertyAccessExpression(node)) {
    return isNamed(node.expression, name) ? node.name.text : undefined
  }
  if (ts.isElementAccessExpression(node) && ts.isStringLiteral(node.argumentExpression)) {
    return isNamed(node.expression, name) ? node.argumentExpression.text : undefined
  }
  if (!ts.isBindingElement(node) || !ts.isVariableDeclaration(node.parent.parent)) return undefined
  const { initializer } = node.parent.parent
  const key = node.propertyName ?? node.name
  return initializer && isNamed(initializer, name) && ts.isIdentifier(key) ? key.text : undefined
}

function isNamed(node: ts.Node, name: string): boolean {
  return ts.isIdentifier(node) && node.text === name
}

/** Files that must have a default export, because a library requires it. */
const defaultExporters = [
  'src/web/bodies/body-thread.ts',
  'src/parsing/parser-thread.ts',
  'src/parsing/unpack-thread.ts',
  'test/support/compressing-thread.ts',
  'test/support/stalling-thread.ts',
  'test/support/global-setup.ts',
  'test/citus/global-setup.ts',
]

const names: Rule = {
  name: 'exports have names',
  check: (tree) =>
    typescriptIn(tree, 'src', 'scripts', 'test')
      .filter(({ path, text }) => !defaultExporters.includes(path) && text.includes('default'))
      .flatMap((file) =>
        syntaxOf(file)
          .statements.filter(isDefaultExport)
          .map((node) => `${placeOf(file, node)} exports a default: give it its name`),
      ),
  raises: [
    ['src/a.ts:1', { 'src/a.ts': 'export default function a() {}' }],
    ['src/a.ts:1', { 'src/a.ts': 'export default 1' }],
    ['src/a.ts:2', { 'src/a.ts': 'const a = 1\nexport { a as default }' }],
  ],
  passes: [
    { 'src/parsing/parser-thread.ts': 'export default 1', 'src/a.ts': 'export const a = 1' },
  ],
}

function isDefaultExport(node: ts.Statement): boolean {
  if (ts.isExportAssignment(node)) return true
  if (ts.isExportDeclaration(node)) {
    const { exportClause: clause } = node
    return (
      !!clause &&
      ts.isNamedExports(clause) &&
      clause.elements.some(({ name }) => name.text === 'default')
    )
  }
  if (!ts.canHaveModifiers(node)) return false
  return !!ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)
}

const barrels: Rule = {
  name: 'no barrels: what is imported is imported from where it is made',
  check: (tree) =>
    typescriptIn(tree, 'src', 'scripts', 'test')
      .filter(({ text }) => /export[^'"`]*\bfrom\b/.test(text))
      .flatMap((file) =>
        syntaxOf(file)
          .statements.filter((node) => ts.isExportDeclaration(node) && node.moduleSpecifier)
          .map((node) => `${placeOf(file, node)} exports what another file makes: import it there`),
      ),
  raises: [
    ['src/a.ts:1', { 'src/a.ts': "export * from './b.ts'" }],
    ['src/a.ts:2', { 'src/a.ts': "export const a = 1\nexport type { B } from './b.ts'" }],
  ],
  passes: [{ 'src/a.ts': "import { b } from './b.ts'\nexport const a = b" }],
}

const testFunctions = /^(test|it|describe|suite|bench)\b.*\.(only|skip|todo|fails)$/

const whole: Rule = {
  name: 'no test is left out, and none is alone',
  check: (tree) =>
    typescriptIn(tree, 'test')
      .filter(({ text }) => /\b(only|skip|todo|fails)\b/.test(text))
      .flatMap((file) =>
        collect(file, (node) =>
          ts.isPropertyAccessExpression(node) &&
          testFunctions.test(node.getText().replaceAll(/\s/g, ''))
            ? `${placeOf(file, node)} uses ${node.getText()}: mend the test or take it out`
            : undefined,
        ),
      ),
  raises: [
    ['test/a.test.ts:2', { 'test/a.test.ts': "\ntest.only('a', () => undefined)" }],
    ['test/a.test.ts:1', { 'test/a.test.ts': "describe.skip('a', b)" }],
    ['test/a.test.ts:1', { 'test/a.test.ts': "it.todo('a')" }],
    ['test/a.test.ts:1', { 'test/a.test.ts': "test.concurrent.only('a', b)" }],
  ],
  passes: [{ 'test/a.test.ts': "test.skipIf(a)('test.only', b)\ntest.for([])('c', d)" }],
}

export const codeRules: readonly Rule[] = [environment, chance, names, barrels, whole]
