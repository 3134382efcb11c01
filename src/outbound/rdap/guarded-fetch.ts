import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import http from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { type IpAddress, parseIp } from '../../mail/ip.ts'
import type { Fetch } from './get-json.ts'

/** Asks the operating system for all addresses of a name. */
export type Lookup = (
  host: string,
  options: { all: true },
  done: (error: Error | null, found: LookupAddress[]) => void,
) => void

const bodiless: readonly number[] = [204, 205, 304]

/**
 * A `fetch` that connects to no other addresses than `mayConnect` allows. It looks at the addresses
 * that the connection is made with, so a name that leads elsewhere the next moment gains nothing.
 * Node's own `fetch` cannot be told which addresses to leave alone.
 */
export function createGuardedFetch(
  mayConnect: (address: IpAddress) => boolean,
  lookup: Lookup = systemLookup,
): Fetch {
  const guarded = guardLookup(mayConnect, lookup)
  return (url, { headers, signal }) =>
    new Promise((resolve, reject) => {
      // A bare address is never looked up.
      const address = parseIp(url.hostname)
      if (address && !mayConnect(address)) throw outOfReach(url.hostname)
      const { request } = url.protocol === 'https:' ? https : http
      // No agent: a connection that somebody else opened was not guarded.
      request(url, { headers, signal, lookup: guarded, agent: false }, (answer) => {
        try {
          resolve(responseOf(answer))
        } catch (error) {
          answer.destroy()
          reject(error)
        }
      })
        .on('error', reject)
        .end()
    })
}

function guardLookup(mayConnect: (address: IpAddress) => boolean, lookup: Lookup): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error, [])
      const within = found.filter(({ address }) => {
        const ip = parseIp(address)
        return ip !== undefined && mayConnect(ip)
      })
      const [first] = within
      if (!first) return done(outOfReach(host), [])
      if (options.all) return done(null, within)
      done(null, first.address, first.family)
    })
  }
}

function outOfReach(host: string): Error {
  return new Error(`${host} leads to an address out of reach.`)
}

/** @throws RangeError for a status that no answer can have */
function responseOf(answer: http.IncomingMessage): Response {
  const headers = new Headers()
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const status = answer.statusCode ?? 0
  if (!bodiless.includes(status)) {
    return new Response(Readable.toWeb(answer) as ReadableStream, { status, headers })
  }
  answer.resume()
  return new Response(null, { status, headers })
}
