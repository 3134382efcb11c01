import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkFolders, checkUnits } from '../../../../src/cli/doctor/folders.ts'
import { readConfig } from '../../../../src/config.ts'

const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-folders-'))
const at = (name: string) => path.join(folder, name)
const patient = (env: Record<string, string>) => ({
  config: readConfig({ DATA_DIR: at('data'), ...env }, { cores: 1, cwd: '/' }),
})
const saysOf = async (env: Record<string, string>) =>
  (await checkFolders(patient(env))).map(({ says }) => says)

test('folders that exist or can be created are in order', async () => {
  const folders = { BACKUP_DIR: folder, LISTS_DIR: at('a/b'), ALARM_FILE: at('c/alarms.jsonl') }
  expect(await checkFolders(patient(folders))).toMatchObject([{ level: 'ok' }])
})

test('folders that cannot be written, and a program that cannot run, are named', async () => {
  await writeFile(at('file'), '')
  const said = await saysOf({
    BACKUP_DIR: at('file/backups'),
    ALARM_COMMAND: at('file'),
  })
  expect(said).toEqual([
    `${at('file')} is not a folder (BACKUP_DIR).`,
    `This account may not run ${at('file')} (ALARM_COMMAND).`,
  ])
})

test.skipIf(process.getuid?.() === 0)('a folder of another account is named', async () => {
  await mkdir(at('closed'))
  await chmod(at('closed'), 0o500)
  const folders = { BACKUP_DIR: at('closed'), LISTS_DIR: at('closed/lists') }
  expect(await saysOf(folders)).toEqual([
    `The folder ${at('closed')} (BACKUP_DIR) cannot be written: access is denied.`,
    expect.stringContaining('(LISTS_DIR) does not exist, and cannot be created: access is denied'),
  ])
})

const unit = (id: string, writable: string) =>
  `Id=${id}\nLoadState=loaded\nProtectSystem=strict\nProtectHome=yes\nPrivateTmp=yes\n` +
  `ReadWritePaths=${writable}\nStateDirectory=signalpost\nLogsDirectory=\n`

test('folders that the unit of systemd keeps read-only or hides are named', async () => {
  const env = {
    DATA_DIR: '/var/lib/signalpost',
    BACKUP_DIR: '/srv/backups',
    LISTS_DIR: '/home/ann/lists',
  }
  const check = async (shown: string) => {
    const findings = await checkUnits(patient(env), () => Promise.resolve(shown))
    return findings.map(({ level, says }) => `${level}: ${says}`)
  }
  const home = 'does not see the folder /home/ann/lists (LISTS_DIR).'
  expect(await check(unit('signalpost.service', ''))).toEqual([
    'problem: signalpost.service may not write to the folder /srv/backups (BACKUP_DIR).',
    `problem: signalpost.service ${home}`,
  ])
  const follows = `${unit('signalpost@work.service', '-/srv/backups -/x')}\n`
  expect(await check(follows)).toEqual([`problem: signalpost@work.service ${home}`])
  expect(await check('Id=signalpost.service\nLoadState=not-found\nProtectSystem=no\n')).toEqual([])
  expect(await check('')).toEqual([])
})
