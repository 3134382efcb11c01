import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.join(import.meta.dirname, '../..')

/** A page of the documentation; `path` is relative to the root of the project. */
type Document = { path: string; text: string }

/** A fenced block of a page: its language, or an empty text, and its lines. */
type CodeBlock = { language: string; text: string }

/** Returns the README and every page of `docs`, ordered by path. */
export function readDocuments(): Document[] {
  const pages = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.posix.join('docs', name.replaceAll(path.sep, '/')))
    .sort()
  return ['README.md', ...pages].map(readDocument)
}

/** @throws Error when there is no such page */
export function readDocument(name: string): Document {
  return { path: name, text: readFileSync(path.join(root, name), 'utf8') }
}

/** Returns the fenced blocks of a page, in order. */
export function codeBlocks({ text }: Document): CodeBlock[] {
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', block = '']) => ({
    language,
    text: block,
  }))
}

/**
 * Returns the command lines of a page's shell blocks. A line that ends in a backslash continues on
 * the next one.
 */
export function commandLines(document: Document): string[] {
  return codeBlocks(document)
    .filter(({ language, text }) => language === 'sh' && !text.startsWith('#!'))
    .flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, '').split('\n'))
    .filter((line) => line.trim() !== '')
}
