import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import type { FileKind } from '../../../src/parsing/files/choose-files.ts'
import { createReaderChild, type FileOrder } from '../../../src/parsing/files/reader-child.ts'
import type { FileFinding } from '../../../src/parsing/files/read-file.ts'
import { codeOf, slowPdf } from '../../support/bombs.ts'
import { pdfFile } from '../../support/pdf.ts'
import { isRunning, startParent } from '../../support/reading-parent.ts'
import { until } from '../../support/process.ts'

const isAwaited = () => true

function reader() {
  const child = createReaderChild<FileOrder>(() => 0)
  const read = (kind: FileKind, content: Buffer, msMax = 700) =>
    new Promise<FileFinding>((settle) =>
      child.add({
        file: { kind, content, needsLook: false, memory: 40_000_000, msMax },
        isAwaited,
        settle,
      }),
    )
  return { ...child, read }
}

// Most tests use one process, which takes a second to start.
process.env['SECRET'] = 'a secret for this test'
const child = reader()
await child.read('pdf', pdfFile({}))
delete process.env['SECRET']
afterAll(() => child.close())

test('a process has limits of the system, and no settings of its parent', async () => {
  const limits = readFileSync(`/proc/${child.pid()}/limits`, 'utf8')
  expect(limits).toMatch(/Max cpu time +300 +300 /)
  expect(limits).toMatch(/Max data size +1433600000 +1433600000 /)
  expect(limits).toMatch(/Max core file size +0 +0 /)
  const names = readFileSync(`/proc/${child.pid()}/environ`, 'latin1').matchAll(/(\w+)=[^\0]*\0/g)
  const ours = new Set(['UV_THREADPOOL_SIZE', 'NODE_CHANNEL_FD', 'PWD', 'OLDPWD', 'SHLVL', '_'])
  const others = [...names].map(([, name = '']) => name).filter((name) => !ours.has(name))
  expect(others.filter((name) => !/^(?:NODE_CHANNEL|MALLOC)_/.test(name))).toEqual([])
  const command = readFileSync(`/proc/${child.pid()}/cmdline`, 'latin1')
  expect(command).toContain('--permission\0')
  expect(command).not.toMatch(/--allow-(?!worker|fs-read=\/.+)/)
})

test('a file that takes too long ends its thread only, and others are read meanwhile', async () => {
  const before = child.pid()
  const slow = child.read('pdf', slowPdf(1))
  const start = performance.now()
  const others = Array.from({ length: 10 }, (_, index) =>
    child.read('pdf', pdfFile({ url: `https://a.example/${index}` })),
  )
  const found = (await Promise.all(others)).flatMap(({ links }) => links[0]?.urls)
  expect(found).toEqual(others.map((_, index) => `https://a.example/${index}`))
  const ms = performance.now() - start
  expect(await slow).toMatchObject({ fault: 'too-slow' })
  expect(performance.now() - start).toBeGreaterThan(ms)
  const { links } = await child.read('picture', codeOf('https://b.example/'))
  expect(links[0]?.text).toBe('https://b.example/')
  expect(child.pid()).toBe(before)
})

test('of several files, those that are read when the process ends are read again', async () => {
  const files = Array.from({ length: 10 }, (_, index) =>
    child.read('pdf', pdfFile({ url: `https://a.example/${index}` })),
  )
  process.kill(child.pid() ?? Number.NaN, 'SIGKILL')
  const found = (await Promise.all(files)).flatMap(({ links }) => links[0]?.urls)
  expect(found).toEqual(files.map((_, index) => `https://a.example/${index}`))
})

test('files that nobody awaits leave a thread free for others', async () => {
  const late = Array.from(
    { length: 3 },
    (_, index) =>
      new Promise<FileFinding>((settle) => {
        const file = {
          kind: 'pdf',
          needsLook: false,
          memory: 40_000_000,
          msMax: 700,
          content: slowPdf(index),
        } as const
        child.add({ file, isAwaited: () => false, settle })
      }),
  )
  const one = await Promise.race([...late, child.read('picture', codeOf('https://a.example/'))])
  expect(one.links[0]?.text).toBe('https://a.example/')
  await Promise.all(late)
})

test('what is not read when the reader is closed is unread', async () => {
  const child = reader()
  const files = [child.read('pdf', slowPdf(2)), child.read('pdf', slowPdf(3))]
  child.close()
  files.push(child.read('pdf', slowPdf(4)))
  for (const one of await Promise.all(files)) expect(one).toEqual({ links: [], fault: 'unread' })
})

test('a process that ends while it has nothing to do costs the next file nothing', async () => {
  await child.read('picture', codeOf('https://a.example/'))
  process.kill(child.pid() ?? Number.NaN, 'SIGKILL')
  const { links, fault } = await child.read('picture', codeOf('https://b.example/'))
  expect([links[0]?.text, fault]).toEqual(['https://b.example/', undefined])
})

test('a process ends with its parent, also if that is killed', async () => {
  const { parent, pid } = await startParent('idle')
  expect(isRunning(pid)).toBe(true)
  parent.kill('SIGKILL')
  await until('the process ends', () => !isRunning(pid))
})
