import { execFileSync } from 'node:child_process'
import { chmod, mkdir, open, readdir, rm, writeFile } from 'node:fs/promises'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import path from 'node:path'
import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { checkSpool } from '../../../src/cli/doctor/machine.ts'
import { readConfig } from '../../../src/config.ts'
import type { Pool } from '../../../src/db/pool.ts'
import { BusyError } from '../../../src/errors.ts'
import { findSpoolFault, openSpool } from '../../../src/outage/spool.ts'
import type { Boss } from '../../../src/queue/boss.ts'
import { sendReadiness } from '../../../src/web/health.ts'
import { systemClock } from '../../../src/world.ts'
import { closeAfterThisTest, makeTestFolder } from '../../support/after-tests.ts'

const place = await makeTestFolder()
const isRoot = process.getuid?.() === 0 && process.platform === 'linux'
const entry = {
  id: '00000000-0000-7000-8000-000000000001',
  values: { number: 1 },
  content: Buffer.alloc(50_000, 1),
}

let folder: string
let lines: { level: number; msg: string; reason?: string }[]

beforeEach(async () => {
  folder = path.join(place, 'inner', 'spool')
  lines = []
  await rm(path.join(place, 'inner'), { recursive: true, force: true })
})

async function openHere(bytesMax = 1_000_000) {
  const write = (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number])
  const spool = openSpool({ folder, bytesMax, clock: systemClock, log: pino({}, { write }) })
  await closeAfterThisTest(Promise.resolve(spool))
  return spool
}

/** Makes the folder unusable, and returns how to repair it; undefined if this account cannot. */
const faults = {
  'a file in the place of its parent': async () => {
    await writeFile(path.join(place, 'inner'), '')
    return () => rm(path.join(place, 'inner'))
  },
  'a file in its place': async () => {
    await mkdir(path.dirname(folder), { recursive: true })
    await writeFile(folder, '')
    return () => rm(folder)
  },
  'a full disk': async () => {
    const unmount = await mountSmall('size=100k')
    if (!unmount) return undefined
    const file = await open(path.join(folder, 'ballast'), 'w')
    while (
      await file.write(Buffer.alloc(4_096)).then(
        () => true,
        () => false,
      )
    );
    await file.close()
    return () => rm(path.join(folder, 'ballast'))
  },
  'a read-only disk': async () => {
    const unmount = await mountSmall('size=1m')
    if (!unmount) return undefined
    execFileSync('mount', ['-o', 'remount,ro', folder])
    return () => Promise.resolve(void execFileSync('mount', ['-o', 'remount,rw', folder]))
  },
  'a forbidden folder': async () => {
    await mkdir(folder, { recursive: true })
    await chmod(folder, 0o500)
    // Root may write to any folder.
    return isRoot ? undefined : () => chmod(folder, 0o700)
  },
}

async function mountSmall(options: string) {
  if (!isRoot) return undefined
  await mkdir(folder, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder])
  await closeAfterThisTest(
    Promise.resolve({ close: () => Promise.resolve(void execFileSync('umount', [folder])) }),
  )
  return true
}

test.for(Object.entries(faults))(
  'with %s, the test, the log and doctor name the same fault',
  async ([, breakFolder], { skip }) => {
    const repair = await breakFolder()
    if (!repair) return skip()
    const spool = await openHere()
    const fault = await spool.fault(60_000)
    expect(fault).toMatch(/^SPOOL_DIR cannot be written: .+ \(E[A-Z]+\)$/)
    expect(fault).not.toContain(place)
    expect(await findSpoolFault({ folder, bytesMax: 1 })).toBe(fault)
    expect(lines).toMatchObject([{ level: 50, reason: fault }])
    const env = { SPOOL_DIR: folder }
    const patient = { config: readConfig(env, { cores: 1, cwd: '/nowhere' }) }
    expect(await checkSpool(patient)).toMatchObject([
      { level: 'problem', says: expect.stringContaining(fault ?? '-') as string },
    ])
    await expect(spool.append(entry)).rejects.toThrow(BusyError)
    await repair()
    await expect.poll(() => spool.fault(60_000), { timeout: 8_000 }).toBeUndefined()
    expect(lines.at(-1)).toMatchObject({ level: 30, msg: 'Reports can be stored on disk again.' })
    expect(await checkSpool(patient)).toMatchObject([{ level: 'ok' }])
    await spool.append(entry)
  },
)

test('a spool that breaks later is tested after the first failure', async () => {
  const spool = await openHere()
  await spool.append(entry)
  expect(await spool.fault(60_000)).toBeUndefined()
  await rm(folder, { recursive: true })
  await writeFile(folder, '')
  await expect(spool.append(entry)).rejects.toThrow(BusyError)
  expect(await spool.fault(60_000)).toMatch(/^SPOOL_DIR cannot be written/)
})

test('a missing folder is created again, and a test leaves nothing in it', async () => {
  const spool = await openHere()
  expect(await spool.fault(60_000)).toBeUndefined()
  await rm(folder, { recursive: true })
  expect(await spool.fault(0)).toBeUndefined()
  expect(await readdir(folder)).toEqual([])
  expect(lines).toEqual([])
})

test('a full spool, or none, has a fault', async () => {
  const spool = await openHere(110_000)
  await spool.append(entry)
  await spool.append({ ...entry, content: Buffer.alloc(10) })
  // What is left is too small for an entry of the usual size.
  expect(await spool.fault(0)).toBe('the spool is full')
  await spool.append(entry)
  await spool.append({ ...entry, content: Buffer.alloc(10) })
  await expect(spool.append(entry)).rejects.toThrow(BusyError)
  const small = await openHere(1_000)
  expect(await small.fault(0)).toBe('the spool is full')
  expect(await (await openHere(0)).fault(0)).toBe('the spool is full')
})

test('a disk that hangs is a fault within seconds, and only one write waits for it', async () => {
  const disk = Promise.withResolvers<undefined>()
  let writes = 0
  const testDisk = () => {
    writes++
    return disk.promise
  }
  const write = (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number])
  const own = { folder, bytesMax: 1_000_000, clock: systemClock, log: pino({}, { write }) }
  const spool = await closeAfterThisTest(openSpool({ ...own, testDisk }))
  const hangs = 'SPOOL_DIR cannot be written: the disk does not answer'
  const away = { pool: {} as Pool, boss: {} as Boss, isClosing: () => false, spool }
  const asked = Array.from({ length: 10 }, () => readiness(away))
  expect(new Set(await Promise.all(asked))).toEqual(
    new Set(['503 the database does not answer, and the disk of SPOOL_DIR is slow to answer\n']),
  )
  expect(await spool.fault(0)).toBe(hangs)
  // As the heartbeat and "doctor" ask.
  expect(await findSpoolFault({ folder, bytesMax: 1_000_000 })).toBe(hangs)
  expect(writes).toBe(1)
  expect(lines).toMatchObject([{ level: 50, reason: hangs }])
  disk.resolve(undefined)
  await expect.poll(() => spool.fault(0)).toBeUndefined()
  expect(lines.at(-1)).toMatchObject({ level: 30, msg: 'Reports can be stored on disk again.' })
})

/** The answer of `/readyz`. */
async function readiness(needs: Parameters<typeof sendReadiness>[1]): Promise<string> {
  const res = new ServerResponse(new IncomingMessage(new Socket()))
  let text = ''
  Object.assign(res, { end: (said: string) => (text = said) })
  await sendReadiness(res, needs)
  return `${res.statusCode} ${text}`
}
