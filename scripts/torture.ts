import { parseArgs } from 'node:util'
import { tortureCounters } from '../test/support/counter-torture.ts'
import { chanceFrom } from '../test/support/counter-torture-batches.ts'

// Kills processes and PostgreSQL at random and looks whether anything was lost or counted twice.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
if (positionals.join() !== 'counters') {
  console.error('Usage: npm run torture counters [-- --rounds N --seed N]')
  process.exit(2)
}
console.log(`${values.rounds} kills, seed ${values.seed}`)
const done = await tortureCounters(Number(values.rounds), chanceFrom(Number(values.seed)))
console.log(`killed: ${done.kills.join(', ')}`)
console.log(`${done.batches} batches were committed; ${done.buckets} buckets compared`)
for (const line of done.wrong.slice(0, 20)) console.log(`differs: ${line}`)
console.log(done.wrong.length === 0 ? 'Everything is exact.' : `${done.wrong.length} differ.`)
process.exitCode = done.wrong.length === 0 ? 0 : 1
