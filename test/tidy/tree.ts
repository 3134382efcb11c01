import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'

/** One file of the project; `path` is relative to its root, with slashes. */
export type TidyFile = { path: string; text: string; lines: readonly string[] }

/** The input of a rule: all files together, ordered by path. */
export type Tree = readonly TidyFile[]

/** A violation: `path:line`, and how to fix it. */
export type Breach = string

/** A rule of the project. The samples prove that it reports violations, and not too many. */
export type Rule = {
  /** The rule as a sentence. */
  name: string
  check: (tree: Tree) => Breach[]
  /** Trees with a violation, each with the place that must be reported. */
  raises: readonly (readonly [at: string, files: Sample])[]
  /** Trees that come close to a violation but have none. */
  passes: readonly Sample[]
}

/** A small tree: text by path. */
export type Sample = Readonly<Record<string, string>>

/** Makes a tree from a sample. */
export function treeOf(sample: Sample): Tree {
  return Object.entries(sample).map(([path, text]) => ({ path, text, lines: text.split('\n') }))
}

const ignoredFolders = new Set(['node_modules', '.git', 'var', 'dist', 'coverage'])
const readable = /\.(ts|js|mjs|json|sql|md|eta|css|csv|example)$|(^|\/)(\.npmrc|run|LICENSE)$/

/**
 * Reads the tree below a folder, without generated and installed files. The text of files in other
 * formats, such as mail, is empty.
 */
export function readTree(root: string): Tree {
  return walk(root, '').map((file) => {
    const text = readable.test(file) ? readFileSync(path.join(root, file), 'utf8') : ''
    return { path: file, text, lines: text.split('\n') }
  })
}

function walk(root: string, folder: string): string[] {
  const entries = readdirSync(path.join(root, folder), { withFileTypes: true })
  return entries
    .filter(({ name }) => !ignoredFolders.has(name))
    .flatMap((entry) => {
      const file = path.posix.join(folder, entry.name)
      return entry.isDirectory() ? walk(root, file) : [file]
    })
    .sort()
}

const parsed = new WeakMap<TidyFile, ts.SourceFile>()

/** Parses a TypeScript file. */
export function syntaxOf(file: TidyFile): ts.SourceFile {
  const known = parsed.get(file)
  if (known) return known
  const made = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true)
  parsed.set(file, made)
  return made
}

/** Returns the `path:line` of a node. */
export function placeOf(file: TidyFile, node: ts.Node): string {
  const { line } = syntaxOf(file).getLineAndCharacterOfPosition(node.getStart())
  return `${file.path}:${line + 1}`
}

/** Returns the results of `pick` for every node of a file, without undefined ones. */
export function collect<T>(file: TidyFile, pick: (node: ts.Node) => T | undefined): T[] {
  const found: T[] = []
  const visit = (node: ts.Node): void => {
    const picked = pick(node)
    if (picked !== undefined) found.push(picked)
    ts.forEachChild(node, visit)
  }
  visit(syntaxOf(file))
  return found
}

/** One import, re-export, `import()` or `import('…').Type`. */
export type Import = {
  at: string
  specifier: string
  /**
   * Whether the import is removed at run time: `import type`. An `import { type A }` still runs the
   * other file.
   */
  isType: boolean
  /** The imported names, as the other file exports them. */
  names: readonly string[]
}

const imports = new WeakMap<TidyFile, Import[]>()

export function importsOf(file: TidyFile): Import[] {
  const known = imports.get(file)
  if (known) return known
  const made = collect(file, (node) => {
    const found = importOf(node)
    return found && { at: placeOf(file, node), ...found }
  })
  imports.set(file, made)
  return made
}

function importOf(node: ts.Node): Omit<Import, 'at'> | undefined {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    const { importClause, moduleSpecifier } = node
    const isType = importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
    return { specifier: moduleSpecifier.text, isType, names: importedNames(importClause) }
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
    if (!ts.isStringLiteral(node.moduleSpecifier)) return undefined
    return { specifier: node.moduleSpecifier.text, isType: node.isTypeOnly, names: [] }
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const { literal } = node.argument
    if (!ts.isStringLiteral(literal)) return undefined
    return { specifier: literal.text, isType: true, names: [] }
  }
  if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.ImportKeyword) {
    return undefined
  }
  const [argument] = node.arguments
  if (!argument || !ts.isStringLiteral(argument)) return undefined
  return { specifier: argument.text, isType: false, names: [] }
}

function importedNames(clause: ts.ImportClause | undefined): string[] {
  const bindings = clause?.namedBindings
  if (!bindings || !ts.isNamedImports(bindings)) return []
  return bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
}

/** Returns the TypeScript files below one of the given folders. */
export function typescriptIn(tree: Tree, ...folders: readonly string[]): TidyFile[] {
  return tree.filter(
    ({ path }) => path.endsWith('.ts') && folders.some((folder) => path.startsWith(`${folder}/`)),
  )
}

/** Returns the path, from the root, of the file that a relative import refers to. */
export function resolved(file: TidyFile, specifier: string): string {
  return path.posix.join(path.posix.dirname(file.path), specifier)
}

/** Returns the layer of a file in `src`: its folder, or its own name if it is directly in `src`. */
export function roomOf(file: string): string {
  return (file.split('/')[1] ?? '').replace(/\.ts$/, '')
}

/** Returns the package of a bare specifier; undefined for our own files and for Node's modules. */
export function packageOf(specifier: string): string | undefined {
  if (/^(\.|\/|node:|file:)/.test(specifier)) return undefined
  const [first = '', second = ''] = specifier.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}
