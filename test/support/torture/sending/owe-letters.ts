import { inTransaction } from '../../../../src/db/pool.ts'
import { queueLetter } from '../../../../src/letters/send-letter.ts'
import type { OpenApp } from '../../../../src/processes/open-app.ts'

/** Queues letters to different addresses. */
export async function oweLetters(app: OpenApp, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const said = { kind: 'account', subject: 'Sign up', text: 'Hello.', language: 'en' } as const
    const letter = {
      ...said,
      to: `person-${at}@there.example`,
      autoSubmitted: 'generated',
    } as const
    await inTransaction(app.pool, (tx) => queueLetter(tx, letter, app, app.clock()))
  }
}
