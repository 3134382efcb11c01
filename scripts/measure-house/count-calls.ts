import { readFile, writeFile } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { threadId } from 'node:worker_threads'

// This module is loaded into every process and thread of an instance by --import. It counts
// function calls between two phases named in a file: `begin` resets the counts, `end` writes them.

/** The offsets of the called functions of each script. */
export type Coverage = { url: string; calls: number[] }[]

const folder = process.env['COVERAGE_FOLDER']
if (folder !== undefined) void countCalls(folder)

async function countCalls(folder: string): Promise<void> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  let isCounting = false
  for (;;) {
    await wait(200, undefined, { ref: false })
    const phase = await readFile(path.join(folder, 'phase'), 'utf8').catch(() => '')
    if (phase === 'begin' && !isCounting) {
      await session.post('Profiler.takePreciseCoverage')
      isCounting = true
    }
    if (phase !== 'end' || !isCounting) continue
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const scripts: Coverage = result.map(({ url, functions }) => ({
      url,
      calls: functions.flatMap(({ ranges: [range] }) =>
        range && range.count > 0 && range.startOffset > 0 ? [range.startOffset] : [],
      ),
    }))
    await writeFile(path.join(folder, `${process.pid}-${threadId}.json`), JSON.stringify(scripts))
    return
  }
}
