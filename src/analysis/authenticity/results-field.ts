import type { Authentication } from './authenticate.ts'

const domainShape = /^[a-z0-9_](?:[a-z0-9._-]{0,251}[a-z0-9])?$/
const selectorShape = /^[A-Za-z0-9._-]{1,100}$/

/**
 * The value of an Authentication-Results field (RFC 8601 §2.2) in one line, of what we verified
 * ourselves: `authservId` is our own name, `author` the domain of From. Results that say nothing (a DNS that did not answer on
 * DMARC, a chain that was not checked) are left out, and so is what could break the syntax.
 * Undefined when nothing was asked.
 */
export function composeAuthenticationResults(
  authentication: Authentication | null,
  { authservId, author }: { authservId: string; author: string | undefined },
): string | undefined {
  if (authentication === null || !domainShape.test(authservId)) return undefined
  const { spf, dkim, dmarc, arc } = authentication
  const results: string[] = []
  if (spf && domainShape.test(spf.domain)) {
    results.push(`spf=${spf.result} smtp.mailfrom=${spf.domain}`)
  }
  for (const { domain, selector, result } of dkim) {
    if (!domainShape.test(domain)) continue
    const keyName = selectorShape.test(selector) ? ` header.s=${selector}` : ''
    results.push(`dkim=${result} header.d=${domain}${keyName}`)
  }
  if (dkim.length === 0) results.push('dkim=none')
  if (dmarc.result !== 'unknown') {
    const from = author !== undefined && domainShape.test(author) ? ` header.from=${author}` : ''
    results.push(`dmarc=${dmarc.result}${from}`)
  }
  if (arc.result === 'pass' || arc.result === 'fail') results.push(`arc=${arc.result}`)
  return `${authservId}; ${results.join('; ')}`
}
