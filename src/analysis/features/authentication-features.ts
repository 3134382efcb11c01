import { houseOf } from '../../mail/domain.ts'
import type { HeaderIndex, Material, People } from './material.ts'

/** Who stands behind it; what each means says `verdict/facts/message-facts.ts`. */
export type AuthenticationFeatures = {
  checked: boolean
  spf: string
  spf_aligned: boolean
  dkim_signatures: number
  dkim_passes: number
  dkim_fails: number
  dkim_aligned: boolean
  dmarc: string
  dmarc_policy: string
  arc: string
  author_stands_behind: boolean
  author_disowns: boolean
  signers: readonly string[]
}

const signersMax = 4

/** Reads what SPF, DKIM, DMARC and ARC came to. */
export function authenticationFeatures(
  { authentication }: Material,
  header: HeaderIndex,
  { author }: People,
): AuthenticationFeatures {
  const signatures = header.count('dkim-signature')
  if (!authentication) return { ...unchecked, dkim_signatures: signatures }
  const { spf, dkim, dmarc, arc } = authentication
  const passes = dkim.filter(({ result }) => result === 'pass')
  const isSpfAligned =
    spf?.result === 'pass' && author !== undefined && houseOf(spf.domain) === author.organization
  const isDkimAligned = passes.some(({ aligned }) => aligned)
  return {
    checked: true,
    spf: spf?.result ?? '',
    spf_aligned: isSpfAligned,
    dkim_signatures: signatures,
    dkim_passes: passes.length,
    dkim_fails: dkim.filter(({ result }) => result === 'fail').length,
    dkim_aligned: isDkimAligned,
    dmarc: dmarc.result,
    dmarc_policy: dmarc.policy ?? '',
    arc: arc.result,
    author_stands_behind: dmarc.result === 'pass' || isDkimAligned || isSpfAligned,
    author_disowns: dmarc.result === 'fail' && (dmarc.policy ?? 'none') !== 'none',
    signers: [...new Set(passes.map(({ domain }) => domain))].slice(0, signersMax),
  }
}

const unchecked: AuthenticationFeatures = {
  checked: false,
  spf: '',
  spf_aligned: false,
  dkim_signatures: 0,
  dkim_passes: 0,
  dkim_fails: 0,
  dkim_aligned: false,
  dmarc: '',
  dmarc_policy: '',
  arc: '',
  author_stands_behind: false,
  author_disowns: false,
  signers: [],
}
