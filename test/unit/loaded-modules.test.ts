import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = path.join(import.meta.dirname, '../..')

/**
 * What each process and thread may load at its start: files of `src`, and modules in all, packages
 * included. A process needs memory and time for each of them, and a thread once more. If a cap is
 * exceeded, look at the printed folders first: usually one import of a small function brought in
 * everything behind it. Raise a cap only for something that the process really uses.
 */
const caps: readonly [entry: string, files: number, modules: number][] = [
  ['processes/web.ts', 701, 1505],
  ['processes/front.ts', 111, 305],
  ['processes/work.ts', 476, 1051],
  ['processes/count.ts', 67, 106],
  ['processes/check.ts', 243, 899],
  ['processes/receive/receive.ts', 113, 324],
  ['parsing/parser-thread.ts', 120, 182],
  ['parsing/unpack-thread.ts', 8, 23],
  ['parsing/files/reader-thread.ts', 24, 60],
  ['web/bodies/body-thread.ts', 33, 146],
]

type Loaded = { file: number; module: number; folders: Record<string, number> }

test.for(caps)('%s loads at most %i files and %i modules', async ([entry, files, modules]) => {
  const { file, module, folders } = await loadedBy(entry)
  const shown = Object.entries(folders)
    .sort(([, a], [, b]) => b - a)
    .map(([folder, count]) => `${folder} ${count}`)
    .join(', ')
  const why = `A file that the process really uses is fine: raise the cap. Loaded: ${shown}`
  expect(file, why).toBeLessThanOrEqual(files)
  expect(module, why).toBeLessThanOrEqual(modules)
  // A cap that is far too high would hide growth.
  expect(file).toBeGreaterThan(files * 0.9)
  expect(module).toBeGreaterThan(modules * 0.9)
})

const counting = `
  import { registerHooks } from 'node:module'
  const urls = new Set()
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) urls.add(url)
      return next(url, context)
    },
  })
  // A thread without its task throws when everything is loaded.
  await import(process.argv[1]).catch(() => undefined)
  process.stdout.write(JSON.stringify([...urls]), () => process.exit())
`

async function loadedBy(entry: string): Promise<Loaded> {
  const url = new URL(`src/${entry}`, `file://${root}/`).href
  const args = ['--input-type=module', '-e', counting, url]
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 24 })
  const urls = JSON.parse(stdout) as string[]
  const folders: Record<string, number> = {}
  for (const at of urls) {
    const name = /\/(src\/\w+|node_modules\/(@[^/]+\/)?[^/]+)/.exec(at)?.[1] ?? at
    folders[name] = (folders[name] ?? 0) + 1
  }
  const file = urls.filter((at) => at.startsWith(`file://${root}/src/`)).length
  return { file, module: urls.length, folders }
}
