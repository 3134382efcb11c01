import { connect } from 'node:net'
import { readEntry, scanBlock } from '../../../src/counting/packed/delta-packing.ts'
import { serveChecks } from '../../../src/web/check/serve-check.ts'
import { type CheckTools, createMessageChecker } from '../../../src/judging/check-message.ts'
import { openTestApp, type TestApp } from '../../support/app.ts'

/** The fields of an answer in rspamd's protocol that tests read. */
type CheckJson = {
  is_skipped: boolean
  action: string
  score: number
  symbols: Record<string, unknown>
  error?: string
  success?: boolean
}

/** A port for mail servers, with a separate database. */
export type CheckSite = {
  app: TestApp
  port: number
  /** The port of the milter, if `env` sets CHECK_MILTER_PORT. */
  milterPort: number
  /** The metrics of the port for mail servers. */
  metrics: () => Promise<string>
  post: (
    path: string,
    body: Uint8Array<ArrayBuffer> | string,
    headers?: Record<string, string>,
  ) => Promise<{ status: number; json: CheckJson }>
  /** Sends raw bytes; returns everything received until the server closes. */
  sendRaw: (...parts: readonly (string | Buffer)[]) => Promise<string>
  /** Closes the port, so that all counts are in the database. */
  stop: () => Promise<void>
  close: () => Promise<void>
}

/** Opens a site for checks. `env` contains settings as the environment would. */
export async function openCheckSite(
  env: Record<string, string> = {},
  tools?: CheckTools,
): Promise<CheckSite> {
  const app = await openTestApp({ WORKERS: '1', CHECK_PORT: '0', ...env })
  const config = { ...app.config, checkPort: 0 }
  const checker = createMessageChecker(app, 'test', tools)
  const served = await serveChecks({ ...app, config }, checker)
  const port = Number(new URL(served.url).port)
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= served.close())
  return {
    app,
    port,
    milterPort: served.milterPort ?? 0,
    metrics: async () => (await fetch(`${served.url}/metrics`)).text(),
    async post(path, body, headers = {}) {
      const answer = await fetch(`${served.url}${path}`, { method: 'POST', body, headers })
      return { status: answer.status, json: (await answer.json()) as CheckJson }
    },
    sendRaw: (...parts) =>
      new Promise((resolve, reject) => {
        const chunks: Buffer[] = []
        const socket = connect(port, '127.0.0.1', () => {
          for (const part of parts) socket.write(part)
        })
        socket.on('data', (chunk: Buffer) => chunks.push(chunk))
        socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
        socket.on('error', reject)
      }),
    stop,
    async close() {
      await stop()
      await app.close()
    },
  }
}

/**
 * Returns the sums of the increments that wait for the roll-up. Each is identified by its head
 * (without the bit for uniques), its key and its unique, but not by its slot.
 */
export async function increments(site: CheckSite): Promise<Map<string, number>> {
  const rows = await site.app.rows('select content from counter_deltas')
  const sums = new Map<string, number>()
  for (const row of rows) {
    const block = row['content'] as Buffer
    scanBlock(block, (hi, lo, _slot, at) => {
      const amounts: number[] = []
      const cursor = { bytes: block, at }
      const head = readEntry(cursor, amounts)
      const unique = head & 64 ? block.toString('hex', cursor.at, cursor.at + 8) : ''
      const key = `${head & 63} ${hi} ${lo} ${unique}`
      sums.set(key, (sums.get(key) ?? 0) + Number(amounts[0]))
    })
  }
  return sums
}
