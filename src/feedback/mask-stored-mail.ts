import type { App } from '../app.ts'
import { listUnmaskedFeedback, maskFeedback } from '../db/feedback-reports.ts'
import { listUnmaskedLetters, maskLetter } from '../db/letters.ts'
import { pack, type Packed, unpack } from '../db/rows.ts'
import { sealKeys } from '../letters/send-letter.ts'
import { concealKeysIn } from '../mail/conceal-keys.ts'

const AT_ONCE = 100
/** Time in milliseconds of one run; the next run continues. */
const RUN_MS = 5 * 60_000

/** States of letters that may still be sent. */
const unsent = ['queued', 'held', 'refused']

/**
 * Masks the keys in mail that earlier versions stored. Letters that are not sent yet keep them,
 * encrypted; feedback reports need none, because they are composed again before they are sent.
 */
export async function maskStoredMail(app: Pick<App, 'pool' | 'config'>): Promise<void> {
  const until = performance.now() + RUN_MS
  while (performance.now() < until) {
    const found = (await maskLetters(app)) + (await maskFeedbackReports(app))
    if (found === 0) return
  }
}

async function maskLetters({ pool, config }: Pick<App, 'pool' | 'config'>): Promise<number> {
  const letters = await listUnmaskedLetters(pool, AT_ONCE)
  for (const { id, state, ...copy } of letters) {
    const real = await readCopy(copy)
    const masked = real && concealKeysIn(real)
    const hasKeys = unsent.includes(state) && masked !== real
    const sealedKeys =
      real && masked && hasKeys ? sealKeys({ id, real, masked }, config.secret) : null
    await maskLetter(pool, { id, state, sealedKeys, ...(masked ? await pack(masked) : copy) })
  }
  return letters.length
}

async function maskFeedbackReports({ pool }: Pick<App, 'pool'>): Promise<number> {
  const copies = await listUnmaskedFeedback(pool, AT_ONCE)
  for (const { reportId, number, ...packed } of copies) {
    const real = await readCopy(packed)
    const masked = real ? await pack(concealKeysIn(real)) : packed
    await maskFeedback(pool, { reportId, number, ...masked })
  }
  return copies.length
}

/** Reads a stored copy; undefined if it is damaged. A damaged copy is not changed. */
function readCopy(copy: Packed): Promise<Buffer | undefined> {
  return unpack(copy).catch(() => undefined)
}
