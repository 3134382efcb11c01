import { readForwardable, sendingTo, startSink } from './pipeline.ts'
import { printTable, variantOf } from './corpus.ts'
import { endOf, residentMegabytes, startInstance } from './instance.ts'
import { postAll } from './load.ts'

const REPORTS = 100_000
const STEP = 10_000
const CONNECTIONS = 8

/** Measures the memory of each process while 100,000 reports are processed: it must level off. */
export async function benchMemory(): Promise<void> {
  const messages = await readForwardable()
  const instance = await startInstance()
  const sink = await startSink()
  try {
    const web = await instance.run('web')
    const work = await instance.run('work', sendingTo(sink))
    const receive = await instance.run('receive')
    const pids = [web, work, receive].map(({ pid }) => pid ?? 0)
    const rows: string[][] = []
    for (let done = 0; done < REPORTS; done += STEP) {
      const step = Array.from({ length: STEP }, (_, index) =>
        variantOf(messages[index % messages.length] ?? Buffer.alloc(0), done + index),
      )
      await postAll(
        step,
        { url: instance.httpUrl, token: instance.token },
        { connections: CONNECTIONS },
      )
      while (sink.arrivals.size < done + STEP)
        await new Promise((resolve) => setTimeout(resolve, 200))
      const megabytes = await Promise.all(pids.map(residentMegabytes))
      rows.push([String(done + STEP), ...megabytes.map((size) => size.toFixed(0))])
      console.log(rows.at(-1)?.join('  '))
    }
    console.log('')
    printTable(['reports, resident megabytes', 'web', 'work', 'receive'], rows)
  } finally {
    await instance.close()
    await endOf(sink.child)
  }
}
