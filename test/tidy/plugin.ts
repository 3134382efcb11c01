import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { RuleTester } from 'oxlint/plugins-dev'
import { allowedImports, isAllowed } from './layers.ts'
import { bans, looksLikeSql } from './sql-bans.ts'

type Rule = Parameters<RuleTester['run']>[1]
type Context = Parameters<NonNullable<Rule['create']>>[0]
type Visitor = ReturnType<NonNullable<Rule['create']>>
type Visited<Name extends keyof Visitor> = Parameters<NonNullable<Visitor[Name]>>[0]
type Place = Visited<'Program'> | Visited<'Identifier'> | Visited<'ImportDeclaration'>

const root = path.join(import.meta.dirname, '../..')
const table = allowedImports(readFileSync(path.join(root, 'src/README.md'), 'utf8'))
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  devDependencies: Record<string, string>
}

/** Returns the path of the file from the root of the project, with slashes. */
function pathOf({ filename }: Context): string {
  return path.relative(root, filename).replaceAll(path.sep, '/')
}

function ruleFor(folders: RegExp, create: (context: Context, file: string) => Visitor): Rule {
  return {
    create: (context) => {
      const file = pathOf(context)
      return folders.test(file) ? create(context, file) : {}
    },
  }
}

type Import = { node: Place; specifier: string; isType: boolean; names: readonly string[] }

/**
 * Visits each import, re-export, `import()` and `import('…').Type`. `isType` says whether it is
 * removed at run time; an `import { type A }` still runs the other file.
 */
function eachImport(visit: (found: Import) => void): Visitor {
  const add = (node: unknown, source: unknown, isType: boolean, names: string[] = []) => {
    const { value } = (source ?? {}) as { value?: unknown }
    if (typeof value === 'string') visit({ node: node as Place, specifier: value, isType, names })
  }
  return {
    ImportDeclaration: (node) => {
      const names = node.specifiers.flatMap((one) =>
        one.type === 'ImportSpecifier' && one.imported.type === 'Identifier'
          ? [one.imported.name]
          : [],
      )
      add(node, node.source, node.importKind === 'type', names)
    },
    ExportAllDeclaration: (node) => add(node, node.source, node.exportKind === 'type'),
    ExportNamedDeclaration: (node) => add(node, node.source, node.exportKind === 'type'),
    ImportExpression: (node) => add(node, node.source, false),
    TSImportType: (node) => add(node, node.source, true),
  }
}

const layers = ruleFor(/^src\//, (context, file) => {
  const from = layerOf(file)
  return eachImport(({ node, specifier, isType, names }) => {
    if (!specifier.startsWith('.')) return
    const target = path.posix.join(path.posix.dirname(file), specifier)
    const to = target.startsWith('src/') ? layerOf(target) : `../${target}`
    if (to === from || isAllowed(table, { from, to, isType, names })) return
    const what = isType ? 'a type of' : 'from'
    const message = `${from} imports ${what} ${to}: hand it in, or move it to another folder`
    context.report({ node, message })
  })
})

/** The folder of a file directly in `src`, or its own name. */
function layerOf(file: string): string {
  return (file.split('/')[1] ?? '').replace(/\.ts$/, '')
}

const production = ruleFor(/^src\//, (context) =>
  eachImport(({ node, specifier, isType }) => {
    const [first = '', second = ''] = specifier.split('/')
    const name = first.startsWith('@') ? `${first}/${second}` : first
    if (isType || !(name in manifest.devDependencies)) return
    context.report({ node, message: `${name} is not there in production: make it a dependency` })
  }),
)

const barrels = ruleFor(/^(src|scripts|test)\//, (context) => {
  const message = 'exports what another file makes: import it there'
  return {
    ExportAllDeclaration: (node) => context.report({ node, message }),
    ExportNamedDeclaration: (node) => {
      if (node.source) context.report({ node, message })
    },
  }
})

/** Folders that may measure how long something takes. */
const stopwatchFolders =
  /^src\/(cli|processes|web|db|queue|net|activity|feedback|reports|people|lists)\//

/** The clock, random numbers and the environment are read in `world.ts` and `main.ts` only. */
const world = ruleFor(/^src\/(?!(world|main)\.ts$)/, (context, file) => {
  const report = (node: Place, what: string) =>
    context.report({ node, message: `uses ${what}: have it handed in (world.ts, config.ts)` })
  const refused = new Set(['Date.now', 'Math.random', 'process.env'])
  if (!stopwatchFolders.test(file)) refused.add('performance.now')
  const check = (node: Place, object: unknown, member: unknown) => {
    const name = `${nameOf(object)}.${nameOf(member)}`
    if (refused.has(name)) report(node, name)
  }
  return {
    MemberExpression: (node) => check(node as never, node.object, node.property),
    VariableDeclarator: (node) => {
      if (node.id.type !== 'ObjectPattern') return
      for (const property of node.id.properties) {
        if (property.type === 'Property') check(node as never, node.init, property.key)
      }
    },
    NewExpression: (node) => {
      const isNow = nameOf(node.callee) === 'Date' && node.arguments.length === 0
      if (isNow) report(node as never, 'the present instant')
    },
    CallExpression: (node) => {
      if (nameOf(node.callee) === 'Date') report(node as never, 'the present instant')
    },
    Identifier: (node) => {
      if (/^(randomBytes|randomUUID|randomInt)$/.test(node.name)) report(node, node.name)
    },
  }
})

/** The name of an identifier, or the text of a literal. */
function nameOf(node: unknown): string {
  const { name, value } = (node ?? {}) as { name?: unknown; value?: unknown }
  return String(name ?? value)
}

const whole = ruleFor(/^test\//, (context) => ({
  MemberExpression: (node) => {
    if (!/^(only|skip|todo|fails)$/.test(nameOf(node.property))) return
    const text = context.sourceCode.getText(node)
    if (!/^(test|it|describe|suite|bench)\b/.test(text)) return
    context.report({ node, message: `${text}: repair the test or remove it` })
  },
}))

const tags = /^(?:sql$|(?:named|rowsOf|rowOf|changesAny)\()/

/** Visits each text that is SQL; placeholders of templates are replaced by `…`. */
function eachStatement(context: Context, visit: (node: Place, sql: string) => void): Visitor {
  const check = (node: Visited<'TemplateLiteral'> | Visited<'Literal'>, text: string) => {
    const { parent } = node
    const isTagged =
      parent.type === 'TaggedTemplateExpression' &&
      tags.test(context.sourceCode.getText(parent.tag))
    const isColumnList =
      parent.type === 'VariableDeclarator' &&
      /^(Program|Export)/.test(String(parent.parent.parent?.type))
    const isOurs = pathOf(context).startsWith('src/db/')
    if (isTagged || looksLikeSql(text) || (isColumnList && isOurs)) visit(node as never, text)
  }
  return {
    Literal: (node) => {
      if (typeof node.value === 'string') check(node as never, node.value)
    },
    TemplateLiteral: (node) =>
      check(node, node.quasis.map(({ value }) => value.cooked ?? '').join('…')),
  }
}

const sqlHome = ruleFor(/^src\/(?!db\/)/, (context) =>
  eachStatement(context, (node) =>
    context.report({ node, message: 'holds SQL: move it to src/db, to the file of its table' }),
  ),
)

/** SQL that fails or behaves differently in a distributed database. */
const distributable = ruleFor(/^src\/db\//, (context) =>
  eachStatement(context, (node, sql) => {
    for (const { pattern, advice } of bans) {
      if (pattern.test(sql)) context.report({ node, message: advice })
    }
  }),
)

/** Rules of this project, which oxlint checks beside its own (`.oxlintrc.json`). */
export default {
  meta: { name: 'signalpost' },
  rules: { layers, production, barrels, world, whole, 'sql-home': sqlHome, distributable },
}
