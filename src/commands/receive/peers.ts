import { createThrottle } from '../../http/lists/throttle.ts'
import { addressScope, parseIp } from '../../mail/ip.ts'
import { type SmtpReply, smtpReply } from './smtp-reply.ts'

/** What the peers of one network may do, and one session of theirs. */
export type PeerLimits = {
  /** A minute, of one network. */
  connections: number
  /** At the same time, of one network. */
  sessions: number
  /** A minute, of one network; a mail counts once for each of its recipients. */
  recipients: number
  /** Of mail a minute, of one network: a disk is filled soon. */
  bytes: number
  /** Recipients of one session that are none. */
  strangers: number
}

/** Counts what peers do. A network is a /24, for IPv6 a /48; this machine may do all it wants. */
export type Peers = {
  /** A session begins; it counts until `leave` unless it is refused. */
  enter: (sessionId: string, address: string, now: Date) => SmtpReply | undefined
  leave: (sessionId: string) => void
  /** A recipient is named. */
  name: (sessionId: string, now: Date) => SmtpReply | undefined
  /** A mail has come whole, and would be stored. */
  weigh: (sessionId: string, bytes: number, now: Date) => SmtpReply | undefined
  /** A recipient was named that is none: what the peer hears, `refusal` as long as it may go on. */
  guess: (sessionId: string, refusal: SmtpReply) => SmtpReply
}

const NETWORKS_MAX = 100_000

/** Counts from nothing, in memory. */
export function createPeers(limits: PeerLimits): Peers {
  const { connections, sessions: sessionsMax, recipients, bytes: bytesMax, strangers } = limits
  const asksToCome = createThrottle({ perMinute: connections, askersMax: NETWORKS_MAX })
  const asksToWrite = createThrottle({ perMinute: recipients, askersMax: NETWORKS_MAX })
  const asksToStore = createThrottle({ perMinute: bytesMax, askersMax: NETWORKS_MAX })
  const sessions = new Map<string, { network: string | undefined; strangers: number }>()
  const sessionsOf = new Map<string, number>()
  return {
    enter(sessionId, address, now) {
      const network = networkOf(address)
      if (network !== undefined) {
        if (asksToCome(network, now) !== undefined) return tooMuch('connections')
        const present = sessionsOf.get(network) ?? 0
        if (present >= sessionsMax) return tooMuch('connections at once')
        sessionsOf.set(network, present + 1)
      }
      sessions.set(sessionId, { network, strangers: 0 })
      return undefined
    },
    leave(sessionId) {
      const network = sessions.get(sessionId)?.network
      sessions.delete(sessionId)
      if (network === undefined) return
      const left = (sessionsOf.get(network) ?? 1) - 1
      if (left === 0) sessionsOf.delete(network)
      else sessionsOf.set(network, left)
    },
    name(sessionId, now) {
      const network = sessions.get(sessionId)?.network
      if (network === undefined || asksToWrite(network, now) === undefined) return undefined
      return smtpReply(451, '4.7.1 Too much mail from your network, try again later')
    },
    weigh(sessionId, bytes, now) {
      const network = sessions.get(sessionId)?.network
      if (network === undefined || asksToStore(network, now, bytes) === undefined) return undefined
      return smtpReply(451, '4.7.1 Too much mail from your network, try again later')
    },
    guess(sessionId, refusal) {
      const session = sessions.get(sessionId)
      if (!session) return refusal
      session.strangers += 1
      if (session.network === undefined || session.strangers < strangers) return refusal
      return smtpReply(421, '4.7.1 Too many recipients that are not here')
    },
  }
}

/** Undefined for this machine: a mail server on it speaks for all the world. */
function networkOf(address: string): string | undefined {
  const ip = parseIp(address)
  if (!ip) return 'unknown'
  if (addressScope(ip) === 'loopback') return undefined
  return ip.family === 4 ? ip.text.replace(/\.\d+$/, '') : ip.groups.slice(0, 3).join(':')
}

function tooMuch(what: string): SmtpReply {
  return smtpReply(421, `4.7.0 Too many ${what} from your network, try again later`)
}
