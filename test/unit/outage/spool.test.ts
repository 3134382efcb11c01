import { execFileSync, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSpool, type Spool, type SpoolEntry } from '../../../src/outage/spool.ts'
import { systemClock } from '../../../src/world.ts'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'signalpost-spool-'))))
afterEach(async () => {
  await closeAll()
  await rm(folder, { recursive: true, force: true })
})

const log = pino({ level: 'silent' })
const opened: Spool[] = []

function open(bytesMax = 1_000_000): Spool {
  const spool = openSpool({ folder, bytesMax, clock: systemClock, log })
  opened.push(spool)
  return spool
}

async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((spool) => spool.close()))
}

function entry(number: number, bytes = 100): SpoolEntry {
  const id = `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
  return { id, values: { number }, content: Buffer.alloc(bytes, number) }
}

/** Takes everything, and returns the numbers of the entries. */
async function taken(spool = open()): Promise<number[]> {
  const numbers: number[] = []
  await spool.take((entries) => {
    for (const { values, content, id } of entries) {
      const { number } = values as { number: number }
      expect([id, content]).toEqual([entry(number).id, Buffer.alloc(content.length, number)])
      numbers.push(number)
    }
    return Promise.resolve([])
  })
  return numbers
}

const files = async () => (await readdir(folder)).sort()
const fileOf = async (name: RegExp) =>
  path.join(folder, (await files()).find((one) => name.test(one)) ?? '')

test('entries are taken in their order, by other processes too, and files deleted', async () => {
  const spool = open()
  await Promise.all([1, 2, 3].map((number) => spool.append(entry(number))))
  await spool.append(entry(4))
  expect(await taken(open())).toEqual([1, 2, 3, 4])
  expect(await files()).toEqual([])
  await spool.append(entry(5))
  expect(await taken()).toEqual([5])
})

test('an entry appended while another process takes the file is not lost', async () => {
  const spool = open()
  await spool.append(entry(1))
  const seen: number[] = []
  await open().take(async (entries) => {
    seen.push(...entries.map(({ values }) => (values as { number: number }).number))
    await spool.append(entry(2))
    return []
  })
  expect(seen).toEqual([1])
  expect(await taken()).toEqual([2])
})

test('a file stays until all of its entries are stored', async () => {
  const spool = open()
  await spool.append(entry(1))
  await expect(spool.take(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(await taken(spool)).toEqual([1])
})

test('half an entry at the end of a file is ignored', async () => {
  const spool = open()
  await spool.append(entry(1))
  await spool.append(entry(2))
  const file = await fileOf(/open$/)
  const { length } = await readFile(file)
  await truncate(file, length - 1)
  expect(await taken()).toEqual([1])
  expect(await files()).toEqual([])
})

test('a file with damaged bytes is kept, and its other entries are taken', async () => {
  const spool = open()
  for (const number of [1, 2, 3]) await spool.append(entry(number))
  const file = await fileOf(/open$/)
  const bytes = await readFile(file)
  bytes[Math.floor(bytes.length / 2)] = 0xff
  await writeFile(file, bytes)
  expect(await taken()).toEqual([1, 3])
  expect(await files()).toEqual([expect.stringMatching(/\.damaged$/)])
})

test('an entry that cannot be stored is moved to a file of its own', async () => {
  const spool = open()
  await spool.append(entry(1))
  await spool.append(entry(2))
  await spool.take((entries) => Promise.resolve(entries.slice(0, 1)))
  expect(await files()).toEqual([`${entry(1).id}.refused`])
})

test('a spool at its limit refuses more, until it is taken', async () => {
  const spool = open(1_000)
  await spool.append(entry(1, 600))
  await expect(spool.append(entry(2, 600))).rejects.toThrow(/cannot store/)
  expect(await taken(spool)).toEqual([1])
  await spool.append(entry(3, 600))
  expect(await taken(spool)).toEqual([3])
})

const isRoot = process.getuid?.() === 0

test.runIf(isRoot && process.platform === 'linux')(
  'a full disk refuses, and what is on it stays',
  async () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder])
    try {
      const spool = open()
      const kept: number[] = []
      for (let number = 1; ; number++) {
        const isKept = await spool.append(entry(number, 9_000)).then(
          () => true,
          () => false,
        )
        if (!isKept) break
        kept.push(number)
      }
      expect(kept.length).toBeGreaterThan(3)
      // A smaller one still fits, behind the last whole entry.
      await spool.append(entry(99, 10))
      expect(await taken()).toEqual([...kept, 99])
    } finally {
      await closeAll()
      execFileSync('umount', [folder])
    }
  },
)

test('after kill -9, each acknowledged entry is found once', async () => {
  const writer = `
    import { openSpool } from '${path.resolve('src/outage/spool.ts')}'
    const log = { error() {} }
    const spool = openSpool({ folder: '${folder}', bytesMax: 1e9, clock: () => new Date(), log })
    for (let number = 1; ; number++) {
      const id = '00000000-0000-7000-8000-' + String(number).padStart(12, '0')
      await spool.append({ id, values: { number }, content: Buffer.alloc(3_000, number) })
      process.stdout.write(number + '\\n')
    }`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', writer])
  let said = ''
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      said += String(chunk)
      if (said.split('\n').length > 200) child.kill('SIGKILL')
    })
    child.once('close', () => resolve())
  })
  const acknowledged = said.split('\n').slice(0, -1).map(Number)
  const found = await taken()
  expect(found.slice(0, acknowledged.length)).toEqual(acknowledged)
  expect(found.length - acknowledged.length).toBeLessThanOrEqual(1)
})
