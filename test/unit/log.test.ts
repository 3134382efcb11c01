import { expect, test } from 'vitest'
import { createLogger } from '../../src/log.ts'

test('lines for the journal of systemd begin with their severity', async () => {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = await createLogger('trace', 'web', { isJournal: true, destination })
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) log[level]('A')
  expect(lines.map((line) => line.slice(0, 4))).toEqual([
    '<7>{',
    '<7>{',
    '<6>{',
    '<4>{',
    '<3>{',
    '<2>{',
  ])
  lines.length = 0
  ;(await createLogger('info', 'web', { destination })).info('A')
  expect(lines[0]).toMatch(/^\{/)
})
