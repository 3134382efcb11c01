import type { Config } from '../config.ts'
import { databaseState } from '../db/installation.ts'
import { notedDatabaseUrl } from '../processes/data-dir.ts'
import { localUrl } from '../web/listen.ts'

/**
 * Maximum time in milliseconds to wait for the database, and for the process "web" on this machine:
 * the command answers within two seconds.
 */
const DATABASE_MS = 1_000
const WEB_MS = 1_300

/**
 * Returns what is known while the database does not answer, from the process "web" on this machine;
 * undefined if the database answers, or if none is configured.
 */
export async function describeSilence(config: Config): Promise<string | undefined> {
  const url = config.databaseUrl ?? (await notedDatabaseUrl(config.dataDir))
  if (url === undefined) return undefined
  const stop = new AbortController()
  const asking = askWeb(config, stop.signal)
  const isSilent = (await databaseState(url, DATABASE_MS)) === 'away'
  if (!isSilent) stop.abort()
  const known = await asking
  if (!isSilent) return undefined
  if (known === undefined) {
    return 'The database does not answer, and no process "web" on this machine tells more.'
  }
  // The database of a site that runs may answer slowly, but in time for its processes.
  return known === '' ? 'The database does not answer this command.' : known
}

/** Returns what `/healthz` says besides that the process runs; undefined if it does not answer. */
async function askWeb(
  { httpHost, httpPort }: Config,
  stopped: AbortSignal,
): Promise<string | undefined> {
  try {
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(WEB_MS)])
    const answer = await fetch(`${localUrl(httpHost, httpPort)}/healthz`, { signal })
    return (await answer.text()).replace(/^alive/, '').trim()
  } catch {
    return undefined
  }
}
