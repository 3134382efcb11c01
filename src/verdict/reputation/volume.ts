import { type Phrase, phrase } from '../../phrase.ts'
import { whySpared } from '../lists/spare.ts'
import type { Subject, SubjectKind } from './subject.ts'

/** How much mail of a subject was seen in two weeks. */
export type Volume = {
  /**
   * Messages without a complaint: those reported as wanted, and those that were checked and
   * accepted more than a day ago, so that their recipients had time to complain.
   */
  quiet: number
  /** Reports as spam or phishing. */
  complaints: number
  /** Different domains of authors per day, summed. Anyone can forge an author. */
  authors: number
  /** Different domains with a verified signature in reported mail, per day, summed. */
  signers: number
}

/** A volume with the numbers that only name the role of an address. */
export type SeenVolume = Volume & {
  /** Reporters who reported its mail, in either sense, per day, summed. */
  reporters: number
  /** Different mailing lists, and different reverse DNS names of a subscriber line. */
  lists: number
  lineNames: number
}

/**
 * Minimum number of verified signers of an address that many senders share. Without signatures, it
 * takes many authors and much mail of earlier days without a complaint, because a machine that only
 * sends spam also names many authors.
 */
const SIGNERS_MIN = 5
const AUTHORS_MIN = 20
const QUIET_MIN = 200
/** Share of its mail about which people complain although nothing is wrong with a shared sender. */
const USUAL_SHARE = 0.01

/** Kinds that always belong to many senders. */
const sharedKinds: ReadonlySet<SubjectKind> = new Set(['network', 'autonomous-system'])
/**
 * Kinds that carry the mail of others, of which usually only the bad part is known: relays and
 * forwarders do not always show themselves.
 */
const carrierKinds: ReadonlySet<SubjectKind> = new Set(['address', 'signer', 'return-path-domain'])
/** Evidence below which complaints about a carrier are few: that of about four people. */
const FEW_MAX = 4

/** Whether many senders share an address. */
export function isShared({ quiet, authors, signers }: Volume): boolean {
  return signers >= SIGNERS_MIN || (authors >= AUTHORS_MIN && quiet >= QUIET_MIN)
}

/**
 * Returns the share of the complaints about a subject that counts against it, 0 to 1. If many
 * senders share the subject, only the complaints count that exceed the usual share of its mail, and
 * of these, so that few complaints remain few, the lower bound of one standard deviation (the
 * number of complaints is taken as a Poisson variable). All complaints count against a subject of a
 * single sender, however much it sends: otherwise a spammer could buy its good name by volume. Only
 * very few count less, because it may be a relay whose good mail is unknown.
 *
 * @param bad the evidence against the subject, if it is larger than the number of complaints
 */
export function blameShare(kind: SubjectKind, volume: Volume | undefined, bad: number): number {
  if (bad <= 0) return 1
  if (!hasManySenders(kind, volume)) {
    const fewness = carrierKinds.has(kind) ? Math.max(0, 1 - bad / FEW_MAX) : 0
    return Math.max(0, 1 - fewness / Math.sqrt(bad))
  }
  const complaints = Math.max(volume?.complaints ?? 0, bad)
  const excess = complaints - Math.sqrt(complaints) - USUAL_SHARE * (volume?.quiet ?? 0)
  return Math.max(0, excess / complaints)
}

function hasManySenders(kind: SubjectKind, volume: Volume | undefined): boolean {
  return sharedKinds.has(kind) || (kind === 'address' && volume !== undefined && isShared(volume))
}

/** What an address is used for. */
type Role = 'mailbox-provider' | 'list-relay' | 'pool' | 'forwarder' | 'line' | 'single' | 'unknown'

/** Minimum number of lists of a list relay or of a pool. */
const LISTS_MIN = 2
/** A list has several authors; a marketer has about one for each of its lists. */
const AUTHORS_PER_LIST_MIN = 3
/** Minimum number of messages and maximum number of authors of an address of a single sender. */
const SINGLE_MESSAGES_MIN = 10
const SINGLE_AUTHORS_MAX = 2

export function roleOf(address: string, volume: SeenVolume): Role {
  const { quiet, complaints, authors, lists, lineNames } = volume
  if (whySpared('addresses', address, []) === 'mailbox provider') return 'mailbox-provider'
  if (isShared(volume)) {
    if (lists < LISTS_MIN) return 'forwarder'
    return authors >= AUTHORS_PER_LIST_MIN * lists ? 'list-relay' : 'pool'
  }
  if (lineNames > 0) return 'line'
  const isBusy = quiet + complaints >= SINGLE_MESSAGES_MIN
  return isBusy && authors <= SINGLE_AUTHORS_MAX ? 'single' : 'unknown'
}

/** States the role of an address, and what it follows from. */
const explainRole = {
  'mailbox-provider': () => phrase('role-mailbox-provider'),
  'list-relay': ({ lists, authors }) => phrase('role-list-relay', { lists, authors }),
  pool: ({ lists, authors }) => phrase('role-pool', { lists, authors }),
  forwarder: ({ authors, signers }) => phrase('role-forwarder', { authors, signers }),
  line: () => phrase('role-line'),
  single: ({ authors }) => phrase('role-single', { authors }),
  unknown: ({ authors }) => phrase('role-unknown', { authors }),
} as const satisfies Record<Role, (volume: SeenVolume) => Phrase>

/** Explains why a part of the complaints counts only. */
export function explainBlame(kind: SubjectKind, volume: Volume | undefined, blame: number): Phrase {
  const percent = Math.round(blame * 100)
  if (!hasManySenders(kind, volume)) return phrase('reputation-few', { percent })
  return phrase('reputation-blame', { usual: Math.round(USUAL_SHARE * 100), percent })
}

/** Explains how much mail of a subject was seen, and the role of an address. */
export function explainVolume({ kind, name }: Subject, volume: SeenVolume): Phrase[] {
  const { quiet, complaints, reporters } = volume
  const seen = phrase('reputation-volume', { quiet, complaints, reporters })
  if (kind !== 'address') return [seen]
  return [seen, explainRole[roleOf(name, volume)](volume)]
}
