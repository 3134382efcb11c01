import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { commandLines, readDocument, readDocuments } from '../support/documents.ts'
import { readTree, type TidyFile, treeOf } from '../tidy/tree.ts'

const root = path.join(import.meta.dirname, '../..')
const files = readTree(root)
const documents = readDocuments()
const security = readDocument('SECURITY.md')

test.for([...documents, security])('$path has an acceptable length', ({ path, text }) => {
  expect(Buffer.byteLength(text)).toBeLessThan(path === 'README.md' ? 14_000 : 20_000)
})

test('every page in docs can be reached by links from the index', () => {
  const reached = new Set(['docs/README.md'])
  for (const name of reached) {
    const page = documents.find((one) => one.path === name)
    for (const link of page ? linksOf(page) : []) {
      reached.add(path.posix.join(path.posix.dirname(name), link.replace(/#.*/, '')))
    }
  }
  const pages = documents.map((one) => one.path).filter((name) => name !== 'README.md')
  expect(pages.filter((name) => !reached.has(name))).toEqual([])
  expect(pages.length).toBeGreaterThan(10)
})

test('every relative link in a document leads to an existing file and heading', () => {
  expect(brokenLinks(files)).toEqual([])
})

test('a link to a missing file, heading or line is found', () => {
  const target = '# A `b`\n\n## It\'s here: "x" (2)\n\n## A b\n\n```sh\n# not a heading\n```\n'
  const page = [
    '[right](b.md) [right](b.md#a-b) [right](b.md#its-here-x-2) [right](b.md#a-b-1)',
    '[right](../src/c.ts#L2) [right](https://www.example.org/x) `[no](link.md)` [right](#title)',
    '[wrong](c.md) [wrong](b.md#not-a-heading) [wrong](b.md#a-b-2) [wrong](../src/c.ts#L9)',
    '[wrong](#other) [wrong](../d.txt)',
  ].join('\n')
  const sample = { 'docs/a.md': `# Title\n\n${page}\n`, 'docs/b.md': target, 'src/c.ts': 'a\nb\n' }
  expect(brokenLinks(treeOf(sample))).toEqual([
    'docs/a.md: c.md',
    'docs/a.md: b.md#not-a-heading',
    'docs/a.md: b.md#a-b-2',
    'docs/a.md: ../src/c.ts#L9',
    'docs/a.md: #other',
    'docs/a.md: ../d.txt',
  ])
})

test('every npm script and file in a command exists', () => {
  const { scripts } = JSON.parse(readDocument('package.json').text) as { scripts: object }
  const named = documents.flatMap((document) =>
    [...document.text.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, name = '']) => name),
  )
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([])
  const run = documents
    .flatMap(commandLines)
    .flatMap((line) => /\bnode (?:--\S+ )*(\S+\.ts)/.exec(line)?.[1] ?? [])
  expect(run.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
  expect([named.length, run.length].every((count) => count > 3)).toBe(true)
})

test('every file that a document names in code exists', () => {
  const named = [...documents, security].flatMap(({ text }) =>
    [...text.matchAll(/`((?:docs|migrations|scripts|src|test)\/[^`\s]*)`/g)].map(
      ([, name = '']) => name,
    ),
  )
  expect(named.filter((name) => !existsSync(path.join(root, name)))).toEqual([])
  expect(named.length).toBeGreaterThan(80)
})

test('the settings page names every setting and no other', () => {
  const names = (text: string, form: RegExp) => [
    ...new Set([...text.matchAll(form)].map(([, name]) => name)),
  ]
  const settings = names(readDocument('.env.example').text, /^# ([A-Z][A-Z_]+)=/gm)
  const table = readDocument('docs/operators/settings.md').text
  expect(names(table, /`([A-Z][A-Z_]+)`/g).toSorted()).toEqual(settings.toSorted())
})

/** Returns `page: link` for each broken relative link. */
function brokenLinks(tree: readonly TidyFile[]): string[] {
  const known = new Map(tree.map((file) => [file.path, file]))
  return tree
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap((page) =>
      linksOf(page)
        .filter((link) => !leadsSomewhere(link, page, known))
        .map((link) => `${page.path}: ${link}`),
    )
}

function leadsSomewhere(
  link: string,
  page: TidyFile,
  known: ReadonlyMap<string, TidyFile>,
): boolean {
  const [file = '', anchor] = decodeURIComponent(link).split('#')
  const target = file === '' ? page.path : path.posix.join(path.posix.dirname(page.path), file)
  const found = known.get(target)
  if (!found) return anchor === undefined && [...known.keys()].some((one) => isBelow(one, target))
  if (anchor === undefined) return true
  if (target.endsWith('.md')) return anchorsOf(found).includes(anchor)
  return Number(/^L(\d+)$/.exec(anchor)?.[1] ?? Infinity) < found.lines.length
}

function isBelow(file: string, folder: string): boolean {
  return file.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}

const fenced = /^```.*?^```$/gms

/** Returns the targets of links, except links in code and links to other sites. */
function linksOf({ text }: { text: string }): string[] {
  const prose = text.replaceAll(fenced, '').replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
}

/** Returns the anchors of headings as GitHub creates them: a repeated anchor gets a number. */
function anchorsOf({ text }: { text: string }): string[] {
  const seen = new Map<string, number>()
  return [...text.replaceAll(fenced, '').matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/g, '-')
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  })
}
