import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { closeAfterTests, makeTestFolder } from '../support/after-tests.ts'
import { checkedMail } from '../support/checked-mail.ts'
import { startDovecot } from './dovecot.ts'
import { startRoundcube } from './roundcube.ts'

const folder = await makeTestFolder()
const spool = path.join(folder, 'spool')
await mkdir(spool)
const dovecot = await startDovecot()
await closeAfterTests({ close: dovecot.clear })
const roundcube = await startRoundcube(dovecot.port, spool)
await closeAfterTests({ close: roundcube.clear })

test('the buttons report the message as it is on the server, for the user', async () => {
  const message = checkedMail('from roundcube', 'https://good.example/')
  const file = path.join(folder, 'message')
  await writeFile(file, message)
  await promisify(execFile)('curl', ['--silent', '--show-error', '-T', file, dovecot.url('INBOX')])
  const said = [await roundcube.press('junk', 'INBOX'), await roundcube.press('not_junk', 'INBOX')]
  const names = (await readdir(spool)).sort()
  const shown = [...said, roundcube.said()].join('\n')
  const user = createHash('sha256').update('ann').digest('hex').slice(0, 32)
  expect(
    names.map((name) => name.replace(/^[^-]*-/, '')),
    shown,
  ).toEqual([`${user}.spam`, `${user}.not-spam`])
  for (const name of names) expect(await readFile(path.join(spool, name))).toEqual(message)
})
