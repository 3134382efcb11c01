import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

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
