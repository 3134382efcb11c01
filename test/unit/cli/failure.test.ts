import { mkdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { expect, test } from 'vitest'
import { type Failure, failureOf, MISUSED, UNSUITABLE } from '../../../src/cli/failure.ts'
import { BusyError, DatabaseUnsuitable, UsageError } from '../../../src/errors.ts'

async function failure(fails: () => unknown): Promise<Failure> {
  try {
    await fails()
  } catch (error) {
    return failureOf(error)
  }
  throw new Error('It did not fail.')
}

const raise = (error: unknown) => () => Promise.reject(error as Error)
const here = import.meta.filename

test.for<[what: string, fails: () => unknown, code: number, problem: string]>([
  ['wrong settings', raise(new UsageError(['A', 'B'])), 2, 'A B'],
  ['an unknown option', () => parseArgs({ args: ['--x'], options: {} }), 2, "Unknown option '--x'"],
  ['a database that does not fit', raise(new DatabaseUnsuitable('Too old.')), 78, 'Too old.'],
  ['a busy server', raise(new BusyError('Busy.', 1)), 1, 'Busy.'],
  [
    'a missing file',
    () => readFile('/nonexistent/file'),
    1,
    'Cannot use /nonexistent/file: no such file or directory.',
  ],
  ['a file in place of a folder', () => mkdir(`${here}/x`), 1, `${here}/x: not a directory.`],
  ['a folder in place of a file', () => readFile('/tmp'), 1, 'illegal operation on a directory'],
])('%s ends the program with a sentence, without a stack', async ([, fails, code, problem]) => {
  const { problems, ...rest } = await failure(fails)
  expect(rest).toEqual({ code })
  expect(problems.join(' ')).toContain(problem)
})

test('a port in use is a sentence with the port', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  const { problems, stack } = await failure(() =>
    once(createServer().listen(port, '127.0.0.1'), 'x'),
  )
  taken.close()
  expect(stack).toBeUndefined()
  expect(problems).toEqual([`Cannot listen on port ${port} of 127.0.0.1: address already in use.`])
})

test('a fault of the program keeps its stack, and whatever is thrown has a sentence', async () => {
  expect(await failure(raise(new TypeError('x is not a function')))).toMatchObject({
    code: 1,
    problems: ['x is not a function'],
    stack: expect.stringContaining('failure.test.ts') as string,
  })
  expect(failureOf('text')).toEqual({ code: 1, problems: ['text'] })
})

test('systemd does not start a service again that ended because of its settings', async () => {
  const unit = path.join(import.meta.dirname, '../../../deploy/systemd/signalpost.service')
  expect(await readFile(unit, 'utf8')).toContain(
    `\nRestartPreventExitStatus=${MISUSED} ${UNSUITABLE}\n`,
  )
})
