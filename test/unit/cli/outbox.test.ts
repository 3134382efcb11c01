import { expect, test } from 'vitest'
import { operations } from '../../../src/cli/outbox.ts'
import { UsageError } from '../../../src/errors.ts'
import { runCommand } from '../../support/command.ts'

test.for([
  [[], 'Use "outbox list", "outbox waiting", "outbox release", "outbox resend" or "outbox retry"'],
  [['list', 'gone'], 'STATE: Choose one of'],
  [['list', 'held', 'sent'], 'Unexpected argument "sent"'],
  [['release', 'held'], 'Unexpected argument "held"'],
  [['release', '--letters', '--to', 'abuse@example.org'], 'not both'],
] as const)('%j is a usage error', async ([args, problem]) => {
  const run = runCommand(operations, args, {})
  await expect(run).rejects.toThrow(UsageError)
  await expect(run).rejects.toThrow(problem)
})
