import { readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import type { FileKind } from '../../../src/parsing/files/choose-files.ts'
import { createReaderChild, type ReaderChild } from '../../../src/parsing/files/reader-child.ts'
import { codeOf, slowPdf } from '../../support/bombs.ts'
import { pdfFile } from '../../support/pdf.ts'
import { isRunning, startParent } from '../../support/reading-parent.ts'
import { until } from '../../support/process.ts'

const children: ReaderChild[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.close()
})

function reader(kind: FileKind): ReaderChild {
  const child = createReaderChild(kind)
  children.push(child)
  return child
}

const task = (kind: FileKind, content: Buffer) => {
  return { kind, content, needsLook: false, msMax: 700 }
}

test('a file that takes too long ends its process, and the next file gets another', async () => {
  const child = reader('pdf')
  await child.read(task('pdf', pdfFile({})))
  const before = child.pid() ?? 0
  expect(await child.read(task('pdf', slowPdf(1)))).toMatchObject({ fault: 'too-slow' })
  const { links, fault } = await child.read(task('pdf', pdfFile({ url: 'https://a.example/' })))
  expect([links[0]?.urls, fault]).toEqual([['https://a.example/'], undefined])
  expect(child.pid()).not.toBe(before)
  await until('the first process ends', () => !isRunning(before))
})

test('a process that ends while it has nothing to do costs the next file nothing', async () => {
  const child = reader('picture')
  await child.read(task('picture', codeOf('https://a.example/')))
  process.kill(child.pid() ?? 0, 'SIGKILL')
  const { links, fault } = await child.read(task('picture', codeOf('https://b.example/')))
  expect([links[0]?.text, fault]).toEqual(['https://b.example/', undefined])
})

test('a process has limits of the system, and no settings of its parent', async () => {
  process.env['SECRET'] = 'a secret for this test'
  const child = reader('picture')
  await child.read(task('picture', codeOf('https://a.example/')))
  delete process.env['SECRET']
  const limits = readFileSync(`/proc/${child.pid()}/limits`, 'utf8')
  expect(limits).toMatch(/Max cpu time +15 +15 /)
  expect(limits).toMatch(/Max data size +870400000 +870400000 /)
  expect(limits).toMatch(/Max core file size +0 +0 /)
  const names = readFileSync(`/proc/${child.pid()}/environ`, 'latin1').matchAll(/(\w+)=[^\0]*\0/g)
  const ours = new Set(['UV_THREADPOOL_SIZE', 'NODE_CHANNEL_FD', 'PWD', 'OLDPWD', 'SHLVL', '_'])
  const others = [...names].map(([, name = '']) => name).filter((name) => !ours.has(name))
  expect(others.filter((name) => !name.startsWith('NODE_CHANNEL_'))).toEqual([])
  const command = readFileSync(`/proc/${child.pid()}/cmdline`, 'latin1')
  expect(command).toContain('--permission\0')
  expect(command).not.toMatch(/--allow-(?!fs-read=\/.+)/)
})

test('a process ends with its parent, also if that is killed', async () => {
  const { parent, pid } = await startParent('idle')
  expect(isRunning(pid)).toBe(true)
  parent.kill('SIGKILL')
  await until('the process ends', () => !isRunning(pid))
})
