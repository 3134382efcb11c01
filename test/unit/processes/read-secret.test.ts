import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readNewSecret, readSecret } from '../../../src/processes/add-account.ts'

/** Creates a terminal on which `keys` are typed, one text for each prompt. */
function terminal(...keys: string[]) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin })
  let shown = ''
  const write = (text: string) => {
    shown += text
    if (text.endsWith(': ')) stdin.write(keys.shift() ?? '')
  }
  return { stdin, stderr: { write }, shown: () => shown }
}

test.for([
  ['one line', 'green lamp\n', 'green lamp'],
  ['no line end', 'green lamp', 'green lamp'],
  ['the line end of Windows', 'green lamp\r\nmore', 'green lamp'],
  ['blanks, which count', ' green lamp \n', ' green lamp '],
])('from a pipe the first line is read: %s', async ([, text, secret]) => {
  const stderr = { write: () => expect.unreachable() }
  expect(await readSecret('Password', { stdin: Readable.from([text]), stderr })).toBe(secret)
})

test('a terminal shows a prompt, and does not show the typed text', async () => {
  const typed = terminal('green lamp\r')
  expect(await readSecret('Token', typed)).toBe('green lamp')
  expect(typed.shown()).toBe('Token: \n')
})

test('a new secret is typed twice on a terminal', async () => {
  const same = terminal('green lamp\r', 'green lamp\r')
  expect(await readNewSecret('Password', same)).toBe('green lamp')
  const other = terminal('green lamp\r', 'green lump\r')
  await expect(readNewSecret('Password', other)).rejects.toThrow('not the same')
})

test('Ctrl-C on a terminal gives no secret', async () => {
  await expect(readSecret('Password', terminal('green\x03'))).rejects.toThrow(
    'Standard input is empty',
  )
})
