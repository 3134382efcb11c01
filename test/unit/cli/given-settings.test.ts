import { execFileSync } from 'node:child_process'
import { readFileSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { checkSettingNames } from '../../../src/cli/doctor/folders.ts'
import { nearestSetting } from '../../../src/cli/given-settings.ts'
import { showSettings } from '../../../src/cli/show-settings.ts'
import { variableNames } from '../../../src/config.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'signalpost-settings-'))
const file = path.join(folder, 'a.env')

/** What Node.js does with `--env-file`. */
function around(text: string, env: Record<string, string>) {
  writeFileSync(file, text)
  const inFile = Object.fromEntries(
    text.split('\n').flatMap((line) => (line.includes('=') ? [line.split(/=(.*)/, 2)] : [])),
  ) as Record<string, string>
  return { env: { ...inFile, ...env }, execArgv: [`--env-file=${file}`], cwd: '/srv' }
}

test('the settings in effect are shown with their source, and secrets are hidden', async () => {
  const given = around(
    'SMTP_URL=smtp://u:pass-1@mail.example:587\nDATA_DIR=data\nSIGN_UP=closed\nWORKERS=2',
    {
      SIGN_UP: 'open',
      SECRET: 'pass-2'.repeat(8),
      CHECK_PASSWORD: 'pass-3pass-3',
      DATABASE_URL: 'postgres://u:pass-4@db.example/reports?password=pass-5',
      ALARM_WEBHOOK_URL: 'https://hooks.example/services/pass-6',
      BLACKLISTS: 'pass-7.zen.dq.example=addresses',
      NETWORK_TABLES: 'a=https://tables.example/?license=pass-8',
    },
  )
  const { text, problems } = await showSettings(given)
  expect(problems).toBeUndefined()
  expect(text).not.toContain('pass-')
  const rows = new Map(text.split('\n').map((line) => [line.split(' ')[0], line.split(/ {2,}/)]))
  const row = (name: string) => rows.get(name)?.slice(1)
  expect([...rows.keys()]).toEqual(variableNames)
  expect(row('SMTP_URL')).toEqual(['smtp://***@mail.example:587', file])
  expect(row('DATABASE_URL')).toEqual(['postgres://***@db.example/reports?***', 'environment'])
  expect(row('DATA_DIR')).toEqual(['/srv/data', file])
  expect(row('BACKUP_DIR')).toEqual(['/srv/data/backups', 'default'])
  expect(row('SIGN_UP')).toEqual(['open', `environment, instead of ${file}`])
  expect(row('WORKERS')).toEqual(['2', file])
  expect(row('ALARM_WEBHOOK_URL')).toEqual(['https://hooks.example/***', 'environment'])
  expect(row('SECRET')).toEqual(['(hidden)', 'environment'])
})

test('invalid settings are shown too, and what is wrong with them', async () => {
  const { text, problems } = await showSettings(around('WORKERS=many', {}))
  expect(text).toMatch(/^WORKERS +many +/m)
  expect(problems).toMatchObject({ problems: [expect.stringMatching(/^WORKERS is not a whole/)] })
})

test.for([
  ['SMTP_ULR', 'SMTP_URL'],
  ['MAILFROM', 'MAIL_FROM'],
  ['DKIM_KEYFILE', 'DKIM_KEY_FILE'],
  ['BACKUP_DIRS', 'BACKUP_DIR'],
  ['RECIEVE_PORT', 'RECEIVE_PORT'],
  ['SIGNALPOST_SERVICE_HOST', undefined],
] as const)('%s is taken for %s', ([name, nearest]) => {
  expect(nearestSetting(name, 2)).toBe(nearest)
})

test('doctor names unknown settings, misspelled variables and relative paths', async () => {
  const text = 'SMTP_ULR=x\nSMARTHOST=y\nNODE_EXTRA_CA_CERTS=z\nLISTS_DIR=lists'
  const findings = await checkSettingNames(
    around(text, { ALARM_MIAL: 'a@b.example', EDITOR: 'vi' }),
  )
  expect(findings.map(({ level, says }) => `${level}: ${says}`)).toEqual([
    'problem: There is no setting SMARTHOST, so it has no effect.',
    'problem: There is no setting SMTP_ULR, so it has no effect.',
    'warning: There is no setting ALARM_MIAL, so the variable of the environment has no effect.',
    'warning: LISTS_DIR=lists is a relative path, so it depends on the working directory.',
  ])
  expect(findings[2]).toMatchObject({ todo: 'Did you mean ALARM_MAIL?' })
})

test('the generator of systemd lets the units write to the folders of the settings only', () => {
  const settings = [
    '# BACKUP_DIR=/commented',
    "BACKUP_DIR='/srv/backups' ",
    'export SPOOL_DIR="/srv/spool"',
    'LISTS_DIR=relative',
    'DATA_DIR=/srv/with space',
    'ALARM_FILE=/var/log/signalpost/alarms.jsonl',
    'BACKUP_DAILY=/no/folder',
  ]
  writeFileSync(file, settings.join('\n'))
  const script = path.resolve('deploy/systemd/signalpost-generator')
  execFileSync(script, [folder, folder, folder], { env: { SIGNALPOST_SETTINGS: file } })
  for (const unit of ['signalpost.service.d', 'signalpost@.service.d']) {
    expect(readFileSync(path.join(folder, unit, 'folders.conf'), 'utf8')).toBe(
      '[Service]\nReadWritePaths=-/srv/backups -/srv/spool -/var/log/signalpost\n',
    )
  }
})
