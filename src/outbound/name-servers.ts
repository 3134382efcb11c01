import { promises as dns } from 'node:dns'
import { reasonOf } from '../errors.ts'
import type { DnsAnswer, DnsType } from '../world.ts'

/** What came of one question: `isSilent` when no server said anything at all. */
export type Reply = { answer: DnsAnswer; ttlSeconds: number | undefined; isSilent: boolean }

/** The servers that are asked, each question anew. */
export type NameServers = {
  /** Never rejects. */
  ask: (name: string, type: DnsType) => Promise<Reply>
  /** Whether a server answers, whatever it says. */
  probe: () => Promise<boolean>
  /** Ends all that is being asked. */
  cancel: () => void
}

type Found = { records: string[]; ttlSeconds: number | undefined }

const TRIES = 3

/** A DNS message has 64 KB at most, so an answer is bounded in characters too. */
const RECORDS_MAX = 64

/** Nobody can be asked by such a name, so it has no records. */
const noSuchName = ['ENOTFOUND', 'ENODATA', 'EBADNAME']
const silence = ['ETIMEOUT', 'ECONNREFUSED']

const reasons: Readonly<Record<string, string>> = {
  ESERVFAIL: 'The name server failed (SERVFAIL).',
  EREFUSED: 'The name server refused the question.',
  ETIMEOUT: 'No name server answered in time.',
  ECONNREFUSED: 'No name server could be reached.',
  ECANCELLED: 'The question was given up.',
}

/**
 * Opens a channel to these servers, `ip` or `ip:port`; to those of the machine when undefined. A
 * server has `tryMs` milliseconds to answer.
 */
export function openNameServers(
  servers: readonly string[] | undefined,
  tryMs: number,
): NameServers {
  const count = servers?.length ?? dns.getServers().length
  // Every try asks every server, so that all of it takes about tryMs * TRIES.
  const tries = Math.max(1, Math.floor(TRIES / Math.max(1, count)))
  const channel = new dns.Resolver({ timeout: tryMs, maxTimeout: tryMs, tries })
  if (servers) channel.setServers([...servers])
  return {
    async ask(name, type) {
      try {
        const { records, ttlSeconds } = await lookUp(channel, name, type)
        const few = records.slice(0, RECORDS_MAX)
        const answer: DnsAnswer = few.length > 0 ? { is: 'found', records: few } : { is: 'none' }
        return { answer, ttlSeconds, isSilent: false }
      } catch (error) {
        const code = codeOf(error)
        if (noSuchName.includes(code)) {
          return { answer: { is: 'none' }, ttlSeconds: undefined, isSilent: false }
        }
        const why = reasons[code] ?? `The question failed (${code}).`
        const isSilent = silence.includes(code)
        return { answer: { is: 'unknown', why }, ttlSeconds: undefined, isSilent }
      }
    },
    async probe() {
      try {
        await channel.resolveNs('.')
        return true
      } catch (error) {
        return !silence.includes(codeOf(error))
      }
    },
    cancel: () => channel.cancel(),
  }
}

async function lookUp(channel: dns.Resolver, name: string, type: DnsType): Promise<Found> {
  switch (type) {
    case 'A':
    case 'AAAA': {
      const found = await (type === 'A'
        ? channel.resolve4(name, { ttl: true })
        : channel.resolve6(name, { ttl: true }))
      return {
        records: found.map(({ address }) => address),
        ttlSeconds: Math.min(...found.map(({ ttl }) => ttl)),
      }
    }
    case 'MX': {
      const found = await channel.resolveMx(name)
      const sorted = found.toSorted((one, other) => one.priority - other.priority)
      // The root as a host says that no mail is taken (RFC 7505).
      return withoutTtl(sorted.map(({ exchange }) => exchange).filter((host) => host !== ''))
    }
    case 'PTR':
      return withoutTtl(await channel.resolvePtr(name))
    case 'TXT':
      return withoutTtl((await channel.resolveTxt(name)).map((strings) => strings.join('')))
  }
}

function withoutTtl(records: string[]): Found {
  return { records, ttlSeconds: undefined }
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return reasonOf(error)
}
