import { pino } from 'pino'
import { createPool } from '../../src/db/pool.ts'
import { openRules } from '../../src/judging/live-rules.ts'
import { systemClock } from '../../src/world.ts'
import { factDefinitions } from '../../src/verdict/facts/facts.ts'

/** A message that a process with rules sends to its parent. */
export type RulesProcessWord =
  | { is: 'acting'; version: number; at: number }
  | { is: 'over'; judged: number; mixed: number }

// Judges messages without a pause by the active rules, until it is stopped. Version N of the rules
// raises N symbols, so any other number would mean a partly applied version.
const [databaseUrl = '', name = ''] = process.argv.slice(2)
const pool = createPool(databaseUrl, { connectionsMax: 2, name, onLost: () => undefined })
const log = pino({ level: 'silent' })
const rules = await openRules({
  pool,
  clock: systemClock,
  log,
  name,
  definitions: factDefinitions,
})
const facts = { links: { count: 9 } }
let [version, judged, mixed, isOver] = [-1, 0, 0, false]
process.once('message', () => (isOver = true))
// Ends if the test ended without stopping this process.
process.once('disconnect', () => (isOver = true))

while (!isOver) {
  const present = rules.state().version
  if (present !== version) tell({ is: 'acting', version: present, at: Date.now() })
  version = present
  for (let messages = 0; messages < 200; messages++) {
    const book = rules.current()
    judged++
    if (version > 0 && book.run(facts).length !== book.rules.length) mixed++
  }
  await new Promise((resolve) => setImmediate(resolve))
}
await rules.close()
await pool.end()
tell({ is: 'over', judged, mixed })
if (process.connected) process.disconnect?.()

function tell(word: RulesProcessWord): void {
  if (process.connected) process.send?.(word)
}
