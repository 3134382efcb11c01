import { fork } from 'node:child_process'
import { once } from 'node:events'
import { analyzeMessage, analyzePlainly } from '../../src/pieces/analyze.ts'
import { readHops } from '../../src/origin/hop.ts'
import { withoutStamps } from '../../src/origin/forwarders.ts'
import { findOrigin } from '../../src/origin/origin.ts'
import { parseBody } from '../../src/mail/message-body.ts'
import { fieldValues, parseHeader } from '../../src/mail/header.ts'
import { parseReceived } from '../../src/mail/received.ts'
import { printTable, readCorpus } from './corpus.ts'

const ROUNDS = 9
const passes = 20
const MICROSECONDS = 1_000_000

type Work = { name: string; passes: number; run: () => unknown }

const options = { trustedRelays: [], ignoreStamps: true }
const receiver = { trustedRelays: [] }

/**
 * Measures in a separate process, so that the garbage collector uses one thread and is not
 * influenced by data that is kept between the steps here.
 */
export async function benchWalk(): Promise<void> {
  const child = fork(import.meta.filename, {
    execArgv: ['--single-threaded-gc', '--no-allocation-site-pretenuring'],
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) process.exitCode = 1
}

/**
 * Measures how many messages per second one core traces from the top line to the origin, step by
 * step, and how many it analyzes completely, without DNS. The unit is processor time, because other
 * programs affect it least; the steps alternate, and the best of nine rounds counts. The reference
 * is reading the body, which every analysis needs.
 */
async function measureAll(): Promise<void> {
  const messages = readCorpus(['phishing', 'newsletters'])
  const headers = messages.map((raw) => parseHeader(raw))
  const stampless = headers.map(({ fields }) => withoutStamps(fields))
  const values = headers.map(({ fields }) => fieldValues(fields, 'received'))
  const hops = stampless.map((fields) => readHops(fields))
  const work: Work[] = [
    {
      name: 'reference: the body',
      passes: 1,
      run: async () => {
        for (const [at, raw] of messages.entries()) {
          const header = headers[at]
          if (header) await parseBody(raw, header)
        }
      },
    },
    { name: 'the header', passes, run: () => messages.forEach((raw) => parseHeader(raw)) },
    {
      name: 'the Received lines',
      passes,
      run: () => values.flat().forEach((value) => parseReceived(value)),
    },
    {
      name: 'from hops to origin and trace',
      passes,
      run: () => stampless.forEach((fields, at) => findOrigin(fields, hops[at] ?? [], receiver)),
    },
    {
      name: 'header walk: all three',
      passes,
      run: () => messages.forEach(walk),
    },
    {
      name: 'the whole analysis',
      passes: 1,
      run: async () => {
        for (const raw of messages) await analyzePlainly(raw, options)
      },
    },
    {
      name: 'the same, with shingles and fingerprints',
      passes: 1,
      run: async () => {
        for (const raw of messages) await analyzeMessage(raw, options)
      },
    },
  ]
  const best = await measure(work, messages.length)
  const reference = best[0] ?? Number.NaN
  const rows = work.map(({ name }, at) => rowOf(name, best[at] ?? Number.NaN, reference))
  console.log(`${messages.length} messages, ${values.flat().length} Received lines`)
  printTable(['one core, no DNS', 'messages/s', 'µs a message', 'ratio'], rows)
}

function walk(raw: Buffer) {
  const fields = withoutStamps(parseHeader(raw).fields)
  return findOrigin(fields, readHops(fields), receiver)
}

/** Returns the microseconds of processor time that each function takes for one message. */
async function measure(work: readonly Work[], messages: number): Promise<number[]> {
  const best = work.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, { passes, run }] of work.entries()) {
      const before = process.cpuUsage()
      for (let pass = 0; pass < passes; pass++) await run()
      const { user, system } = process.cpuUsage(before)
      best[at] = Math.min(best[at] ?? 0, (user + system) / passes / messages)
    }
  }
  return best
}

function rowOf(name: string, microseconds: number, reference: number): string[] {
  const perSecond = Math.round(MICROSECONDS / microseconds)
  return [
    name,
    perSecond.toLocaleString('en-US'),
    microseconds.toFixed(microseconds < 100 ? 1 : 0),
    (reference / microseconds).toPrecision(3),
  ]
}

if (process.argv[1] === import.meta.filename) await measureAll()
