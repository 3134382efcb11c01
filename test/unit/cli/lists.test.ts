import { expect, test } from 'vitest'
import { operations } from '../../../src/cli/lists.ts'
import { UsageError } from '../../../src/errors.ts'
import { runCommand } from '../../support/command.ts'

test.for([
  [[]],
  [['publish', 'all']],
  [['show']],
  [['drop', 'bad.example']],
  [['exempt', 'bad.example']],
  [['exempt', 'nonsense', '--why', 'x']],
])('%j is a usage error', async ([args]) => {
  await expect(runCommand(operations, args ?? [], {})).rejects.toThrow(UsageError)
})

test('a name that cannot be listed is refused', async () => {
  const ran = await runCommand(operations, ['show', 'nonsense'], {})
  expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('"nonsense" is not') })
})
