import { pino } from 'pino'
import { runRollUps } from '../../../src/counting/run-roll-ups.ts'
import { createPool } from '../../../src/db/pool.ts'
import { systemClock } from '../../../src/world.ts'

// Rolls up like `signalpost count` until its parent stops it.
const [url = ''] = process.argv.slice(2)
const pool = createPool(url, { connectionsMax: 2, name: 'roll-up', onLost: () => undefined })
const rollUps = runRollUps({ pool, clock: systemClock, log: pino({ level: 'warn' }) })
process.once('disconnect', () => {
  void rollUps.close().then(() => pool.end())
})
