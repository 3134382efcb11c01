import type { AnalysisDetails } from '../../db/analyses.ts'

type Authentication = NonNullable<AnalysisDetails['authentication']>

/** One line of the table: what was checked, of whom, what came of it and what that means. */
export type AuthenticationRow = {
  check: string
  /** A domain, as a stranger wrote it. */
  domain: string | null
  result: string
  tone: 'good' | 'warn' | 'bad' | ''
  meaning: string
}

/** What is known of who stands behind a message, for an operator: SPF, DKIM, DMARC and ARC. */
export function authenticationRows({ spf, dkim, dmarc, arc }: Authentication): AuthenticationRow[] {
  return [
    spf
      ? row('SPF', spf.domain, spf.result, spfMeanings[spf.result])
      : row('SPF', null, 'unchecked', 'Nobody is known to have handed the message over.'),
    ...dkim.map(({ domain, result, aligned, why }) => {
      const whose = aligned ? 'It is the author’s own.' : 'It is not the author’s own.'
      return row('DKIM', domain, result, `${why} ${whose}`)
    }),
    row('DMARC', dmarc.domain, dmarc.result, dmarcMeaning(dmarc)),
    row('ARC', arc.seals.map(({ domain }) => domain).join(', ') || null, arc.result, arc.why),
  ]
}

const spfMeanings: Record<NonNullable<Authentication['spf']>['result'], string> = {
  pass: 'The domain lets this host send its mail.',
  fail: 'The domain says that this host does not send its mail.',
  softfail: 'The domain thinks that this host does not send its mail.',
  neutral: 'The domain says nothing about this host.',
  none: 'The domain says nothing about its hosts.',
  temperror: 'The DNS could not tell.',
  permerror: 'The record of the domain cannot be used.',
}

const policies = {
  none: 'nothing',
  quarantine: 'to treat mail that fails as suspicious',
  reject: 'to refuse mail that fails',
}

function dmarcMeaning({ result, policy, alignedBy }: Authentication['dmarc']): string {
  const wish = policy === null ? '' : ` The domain asks ${policies[policy]}.`
  if (result === 'pass')
    return `The author’s domain stands behind it, by ${names(alignedBy)}.${wish}`
  if (result === 'fail') return `Nothing shows that the author’s domain sent it.${wish}`
  if (result === 'none') return 'The author’s domain has no policy, or there is not one author.'
  return `What it depends on could not be told.${wish}`
}

function names(alignedBy: readonly string[]): string {
  return alignedBy.map((name) => name.toUpperCase()).join(' and ')
}

function row(
  check: string,
  domain: string | null,
  result: string,
  meaning: string,
): AuthenticationRow {
  return { check, domain, result, tone: tones[result] ?? '', meaning }
}

const tones: Readonly<Record<string, AuthenticationRow['tone']>> = {
  pass: 'good',
  fail: 'bad',
  softfail: 'warn',
  policy: 'warn',
  permerror: 'warn',
}
