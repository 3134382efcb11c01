import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { closeAfterThisTest } from '../support/after-tests.ts'
import { makePlace, type Place, untilRunning } from '../support/instance.ts'
import { isAlive, until } from '../support/process.ts'

test.for<[string, 'SIGTERM' | 'Ctrl-C', (place: Place) => unknown]>([
  ['PostgreSQL makes its files', 'SIGTERM', isMakingFiles],
  ['PostgreSQL makes its files', 'Ctrl-C', isMakingFiles],
  ['PostgreSQL starts', 'SIGTERM', ({ postmasterFile }) => exists(postmasterFile)],
  ['accounts are made', 'Ctrl-C', ({ dataDir }) => exists(path.join(dataDir, 'accounts.json'))],
])(
  'while %s, %s ends everything, and the next start continues from there',
  async ([, how, moment]) => {
    const here = await closeAfterThisTest(makePlace())
    const program = here.start()
    await until('the moment', () => moment(here))
    const pids = here.tree().map(({ pid }) => pid)
    if (how === 'Ctrl-C') program.killGroup('SIGINT')
    await program.stop()
    expect([...pids, ...here.tree().map(({ pid }) => pid)].filter(isAlive)).toEqual([])
    await untilRunning(here.start())
  },
)

function isMakingFiles({ tree }: Place) {
  return tree().find(({ command }) => command.includes('initdb'))
}

function exists(file: string): true | undefined {
  return existsSync(file) || undefined
}
