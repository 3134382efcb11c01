import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** The site to which this thread sends one request after another until it is stopped. */
export type Probe = { url: string; token: string }

const PAUSE_MS = 10
const { url, token } = workerData as Probe
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const message = (mark: number) =>
  `From: a@shop.example\r\nSubject: probe ${mark}\r\nReceived: from a by b\r\n\r\nHello ${mark}\r\n`

let isOver = false
parentPort?.once('message', () => (isOver = true))
const times: number[] = []
let failures = 0
for (let asked = 0; !isOver; asked++) {
  const startedAt = performance.now()
  const status = asked % 2 === 0 ? await ask('GET', '/sign-in') : await report(asked)
  times.push(performance.now() - startedAt)
  if (status !== 200 && status !== 202) failures++
  await wait(PAUSE_MS)
}
agent.destroy()
parentPort?.postMessage({ times, failures })

function report(mark: number): Promise<number> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822' }
  return ask('POST', '/api/v1/reports', headers, message(mark))
}

function ask(method: string, path: string, headers = {}, body = ''): Promise<number> {
  return new Promise((resolve) => {
    const req = request(`${url}${path}`, { method, agent, headers }, (res) => {
      res.resume()
      res.once('end', () => resolve(res.statusCode ?? 0))
    })
    req.on('error', () => resolve(0))
    req.end(body)
  })
}
