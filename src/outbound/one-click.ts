import { Agent, request } from 'node:https'
import { reasonOf } from '../errors.ts'
import {
  oneClickBody,
  type OneClickOutcome,
  type PostOneClick,
  readOneClickUrl,
} from '../mail/one-click.ts'
import type { Resolve } from '../world.ts'
import { findPublicHost } from './public-host.ts'
import { drop, publicPost, type PublicTarget } from './public-post.ts'

/** What asking takes. */
export type OneClickOptions = {
  /** Asks the DNS: its answer is looked at, and that very answer is connected to. */
  resolve: Resolve
  /** Names us to whom we ask. */
  userAgent: string
  /** Handed in by tests alone, whose servers are on their own machine. */
  forTests?: {
    mayConnect: (address: string) => boolean
    port: number
    ca: string
    connectMsMax?: number
    allMsMax?: number
  }
}

const CONNECT_MS_MAX = 10_000
const ALL_MS_MAX = 20_000
const BODY_BYTES_MAX = 64 * 1024

/**
 * Makes what asks a sender to unsubscribe somebody (RFC 8058 §3.2): one POST, without cookies,
 * credentials or referrer, to an address that we have looked up and found to be on the Internet.
 * One answer of the DNS that is not makes us refuse all. Redirects are not followed, and the answer
 * is thrown away but for its status.
 */
export function createOneClick(options: OneClickOptions): PostOneClick {
  return async (text) => {
    const read = readOneClickUrl(text)
    if ('refused' in read) return { state: 'refused', outcome: read.refused }
    const { hostname } = read.url
    const { resolve, forTests } = options
    const hosts = { resolve, mayConnect: forTests?.mayConnect }
    const found = await findPublicHost(hostname, hosts).catch((error: unknown) => {
      return { outcome: `${hostname} could not be looked up: ${reasonOf(error)}` }
    })
    if (typeof found !== 'string') return { state: 'refused', ...found }
    return post({ url: read.url, address: found }, options)
  }
}

function post(to: PublicTarget, options: OneClickOptions): Promise<OneClickOutcome> {
  const { hostname } = to.url
  const { connectMsMax = CONNECT_MS_MAX, allMsMax = ALL_MS_MAX } = options.forTests ?? {}
  // One of its own, so that no connection and no proxy of the process is used.
  const agent = new Agent({ keepAlive: false, maxCachedSessions: 0 })
  return new Promise((resolve) => {
    let hasLeft = false
    let answered: OneClickOutcome | undefined
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const sent = request({ ...publicPost(to, { body: oneClickBody, headers }, options), agent })
    const settle = (outcome: OneClickOutcome) => {
      clearTimeout(connecting)
      clearTimeout(all)
      resolve(outcome)
      sent.destroy()
      agent.destroy()
    }
    // Who has told the status has answered, whatever happens to the rest.
    const giveUp = (why: string) => {
      const outcome = `${hostname}: ${why}`
      settle(answered ?? { state: hasLeft ? 'unknown' : 'failed', outcome })
    }
    const connecting = setTimeout(() => giveUp('it could not be reached in time.'), connectMsMax)
    const all = setTimeout(() => giveUp('we asked, and no answer came in time.'), allMsMax)
    sent.on('socket', (socket) =>
      socket.once('secureConnect', () => {
        hasLeft = true
        clearTimeout(connecting)
      }),
    )
    sent.on('error', (error) => giveUp(`${reasonOf(error).slice(0, 200)}.`))
    sent.on('response', (response) => {
      const outcome = outcomeOf(hostname, response.statusCode ?? 0)
      answered = outcome
      drop(response, BODY_BYTES_MAX, () => settle(outcome))
    })
    sent.end(oneClickBody)
  })
}

function outcomeOf(host: string, status: number): OneClickOutcome {
  if (status >= 200 && status < 300) {
    return { state: 'done', outcome: `${host} has taken the request (${status}).` }
  }
  if (status >= 300 && status < 400) {
    return {
      state: 'doubtful',
      outcome: `${host} sent us on to another page (${status}), where we do not follow.`,
    }
  }
  return { state: 'failed', outcome: `${host} did not take the request (${status}).` }
}
