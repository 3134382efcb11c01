import type { ReportJson } from '../../src/web/api/reports.ts'
import { until } from './process.ts'

/** The API's answer to a report. */
type Receipt = { status: number; id: string }

/** A reporter who uses the API. */
export type Client = {
  post: (raw: Buffer) => Promise<Receipt>
  get: (id: string) => Promise<ReportJson>
  raw: (id: string) => Promise<Buffer>
  retract: (id: string) => Promise<ReportJson>
  /** Waits until the events of a report include one with this name. */
  untilEvent: (id: string, event: string, patienceMs?: number) => Promise<ReportJson>
}

/** Creates a client with an `Authorization` header. */
export function apiClient(url: string, authorization: string): Client {
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization, 'content-type': 'message/rfc822' }
    const answer = await fetch(`${url}/api/v1/reports${path}`, { headers, ...init })
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
    return answer
  }
  const get = async (id: string) => (await (await ask(`/${id}`)).json()) as ReportJson
  return {
    get,
    async post(raw) {
      const answer = await ask('', { method: 'POST', body: new Uint8Array(raw) })
      return { status: answer.status, id: ((await answer.json()) as { id: string }).id }
    },
    raw: async (id) => Buffer.from(await (await ask(`/${id}/raw`)).arrayBuffer()),
    retract: async (id) => (await (await ask(`/${id}`, { method: 'DELETE' })).json()) as ReportJson,
    untilEvent: (id, event, patienceMs) =>
      until(
        `the event "${event}" of report ${id}`,
        async () => {
          const { timeline } = await get(id)
          // Read again, because the status and the events are read by two statements, with a
          // possible commit between them.
          return timeline.some((one) => one.event === event) ? get(id) : undefined
        },
        patienceMs,
      ),
  }
}

/** Returns the header of Basic credentials (RFC 7617). */
export function basic({ email, password }: { email: string; password: string }): string {
  return `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`
}
