import { judgeCfbl } from '../../mail/cfbl.ts'
import type { CfblFinding } from '../../mail/cfbl.ts'
import type { Header } from '../../mail/header.ts'
import type { DnsFindings, SpfFinding } from '../dns-findings.ts'
import type { Hop } from '../whence/hops.ts'
import { answersAsResolver } from './answers.ts'
import { judgeChain, verifyChain } from './arc.ts'
import type { ArcFinding } from './arc.ts'
import { arcFields, findChain } from './arc-chain.ts'
import { judgeRead, judgeUnread } from './dkim.ts'
import type { DkimFinding } from './dkim.ts'
import { checkDmarc } from './dmarc.ts'
import type { DmarcFinding } from './dmarc.ts'
import { chooseSignatures } from './signatures.ts'
import { runVerifier } from './verify.ts'

/** Who stands behind a message, as far as the DNS told. Plain data, bounded in size. */
export type Authentication = {
  /** Null when there was no address or no name to check. */
  spf: SpfFinding | null
  /** The signatures that were looked at, the author's own first; at most four. */
  dkim: DkimFinding[]
  /** How many signatures were not looked at. */
  passedOver: number
  dmarc: DmarcFinding
  arc: ArcFinding
}

/** The same, with whom the message may ask to be told of complaints. */
export type Authenticated = Authentication & { cfbl: CfblFinding | null }

/** A header with more than this is none that any verifier should be made to read. */
const headerBytesMax = 512 * 1024
const fieldsMax = 1000

/**
 * Judges a message by SPF, DKIM, ARC and DMARC with the answers the DNS gave before; asks nobody.
 * Only signatures that can matter are verified (`chooseSignatures`), and only where their key is
 * there: the rest is known without reading the body. Never throws on bad mail.
 */
export async function authenticate(
  raw: Buffer,
  header: Header,
  hops: readonly Hop[],
  dns: DnsFindings,
): Promise<Authenticated> {
  const { fields } = header
  const isUndue = header.bodyOffset > headerBytesMax || fields.length > fieldsMax
  const { chosen, passedOver } = chooseSignatures(isUndue ? [] : fields)
  const chain = isUndue ? ({ is: 'undue' } as const) : findChain(fields, hops)
  const resolver = answersAsResolver(dns)
  const known = new Map(chosen.map((signature) => [signature, judgeUnread(signature, dns)]))
  const unread = chosen.filter((signature) => known.get(signature) === undefined)
  let arc = judgeChain(chain, dns)
  const sets = arc === undefined ? arcFields(fields) : []
  const receivedAt = hops.find(({ field }) => field?.at)?.field?.at
  const verifier =
    unread.length + sets.length > 0
      ? await runVerifier({ raw, header, resolver, receivedAt }, [
          ...unread.map(({ field }) => field),
          ...sets,
        ])
      : undefined
  if (verifier && chain.is === 'whole') arc ??= await verifyChain(chain, verifier, resolver)
  const results = [...(verifier?.results ?? [])]
  const dkim = chosen.map((signature) => {
    const found = known.get(signature)
    if (found) return found
    const isNext = results[0]?.signingDomain?.toLowerCase() === signature.domain
    return judgeRead(signature, isNext ? results.shift() : undefined)
  })
  return {
    spf: dns.spf ?? null,
    dkim,
    passedOver,
    dmarc: await checkDmarc({ fields, dkim, dns, resolver }),
    cfbl: judgeCfbl(
      fields,
      chosen.map((signature, index) => ({
        ...signature,
        isValid: dkim[index]?.result === 'pass',
      })),
    ),
    arc: arc ?? { result: 'fail', why: 'The chain cannot be read.', seals: [] },
  }
}
