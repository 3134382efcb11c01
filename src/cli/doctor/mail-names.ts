import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { dkimOf } from '../../health/heartbeat.ts'
import { domainOf, registrableDomainOf } from '../../mail/address.ts'
import { pointerQuestion } from '../../mail/dnsbl.ts'
import { isRoutable, parseIp } from '../../mail/ip.ts'
import { policyNames } from '../../origin/authenticity/dmarc.ts'
import { checkSpf } from '../../origin/authenticity/spf.ts'
import type { DnsAnswer, Resolve } from '../../world.ts'
import { bad, type Finding, ok, type Patient } from './finding.ts'
import { dkimRecord, dmarcRecord, mxRecord, spfRecord, zoneLine } from './records.ts'

type Asking = Pick<Patient, 'config'> & { resolve: Resolve }

/**
 * Checks what the DNS says about our mail. `own` are the addresses of this machine; tests pass
 * others.
 */
export async function checkMailNames(
  { config, resolve }: Omit<Patient, 'clock'>,
  own = ownAddresses(),
): Promise<Finding[]> {
  if (!resolve) {
    const todo = 'Remove "DNS_SERVERS=none", and run "signalpost doctor" again.'
    return [bad('unknown', 'The DNS cannot be checked, because DNS_SERVERS is "none".', todo)]
  }
  if (config.smtpUrl === undefined) return []
  const asking = { config, resolve }
  const given = config.sendingAddresses.filter(isPublic).slice(0, ADDRESSES_MAX)
  const senders = given.length > 0 ? given : await sendingAddresses(config.smtpUrl, resolve, own)
  const findings = await Promise.all([
    checkSenders(senders, asking),
    checkKey(asking),
    checkPolicy(asking),
    checkExchange(asking),
    ...senders.map((ip) => checkReverse(ip, resolve)),
  ])
  return findings.flat()
}

/**
 * The public addresses from which our mail leaves: those of the mail server, or of this machine if
 * the mail server is in our own network.
 */
async function sendingAddresses(
  smtpUrl: string,
  resolve: Resolve,
  own: readonly string[],
): Promise<string[]> {
  const host = new URL(smtpUrl).hostname.replaceAll(/[[\]]/g, '')
  const found = parseIp(host) ? [host] : await addressesOf(host, resolve)
  const addresses = found.length > 0 && found.every(isPublic) ? found : own
  return addresses.filter(isPublic).slice(0, ADDRESSES_MAX)
}

const ADDRESSES_MAX = 10

async function addressesOf(host: string, resolve: Resolve): Promise<string[]> {
  const answers = await Promise.all([resolve(host, 'A'), resolve(host, 'AAAA')])
  return answers.flatMap((answer) => (answer.is === 'found' ? answer.records : []))
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address }) => address),
  )
}

function isPublic(text: string): boolean {
  const address = parseIp(text)
  return address !== undefined && isRoutable(address)
}

/** Reports a query that had no answer; undefined if it had one. */
function unanswered(answer: DnsAnswer, name: string): Finding | undefined {
  if (answer.is !== 'unknown') return undefined
  const todo = 'Check the name servers, then run "signalpost doctor" again.'
  return bad('unknown', `The DNS gave no answer about ${name}: ${answer.why}`, todo)
}

/** Checks SPF of the domain for bounces for each address from which mail leaves. */
async function checkSenders(senders: readonly string[], asking: Asking): Promise<Finding> {
  const domain = asking.config.returnPathDomain
  const published = await asking.resolve(domain, 'TXT')
  const silent = unanswered(published, domain)
  if (silent) return silent
  const wanted = `Publish: ${zoneLine(spfRecord(domain, senders))}`
  const has = published.is === 'found' && published.records.some((one) => /^v=spf1( |$)/i.test(one))
  if (!has) return bad('problem', `${domain} has no SPF record.`, wanted)
  if (senders.length === 0) {
    const todo = 'Make sure that it allows the addresses from which your mail server sends.'
    return bad('unknown', `${domain} has an SPF record, but the sending address is unknown.`, todo)
  }
  const mailFrom = `bounce@${domain}`
  const found = await Promise.all(
    senders.map((ip) => checkSpf({ ip, helo: undefined, mailFrom }, asking.resolve)),
  )
  const refused = senders.filter((_, at) => found[at]?.result !== 'pass')
  if (refused.length === 0) return ok(`SPF of ${domain} allows ${senders.join(' and ')}.`)
  const todo = `${wanted} If your mail server sends from other addresses, allow those instead.`
  return bad('problem', `SPF of ${domain} does not allow ${refused.join(' and ')}.`, todo)
}

/** Checks that the published DKIM key is ours. */
async function checkKey({ config: { dkim }, resolve }: Asking): Promise<Finding[]> {
  // `checkSigningFile` reports that there is no key.
  if (!dkim) return []
  const name = `${dkim.selector}._domainkey.${dkim.domain}`
  const key = await readFile(dkim.keyFile, 'utf8').catch(() => undefined)
  if (key === undefined) return []
  const found = await dkimOf(dkim, resolve)
  if ('fault' in found) {
    const says = `The DKIM record ${name} cannot be checked: ${found.fault}`
    return [bad('unknown', says, 'Check the name servers, then run "signalpost doctor" again.')]
  }
  if (found.state === 'matches') return [ok(`The DKIM record ${name} has our key.`)]
  const todo = `Publish: ${zoneLine(dkimRecord(dkim.domain, dkim.selector, key))}`
  const state = found.state === 'missing' ? 'does not exist' : 'has another key'
  return [bad('problem', `The DKIM record ${name} ${state}.`, todo)]
}

/** Checks that the author's domain has a DMARC policy that our mail satisfies. */
async function checkPolicy({ config, resolve }: Asking): Promise<Finding[]> {
  const author = domainOf(config.mailFrom) ?? ''
  const answers = await Promise.all(
    policyNames(author, [author]).map((name) => resolve(name, 'TXT')),
  )
  const silent = answers.map((answer) => unanswered(answer, author)).find(Boolean)
  if (silent) return [silent]
  const policy = answers
    .flatMap((answer) => (answer.is === 'found' ? answer.records : []))
    .find((record) => /^v=DMARC1\b/i.test(record))
  const findings: Finding[] = [
    policy === undefined
      ? bad(
          'problem',
          `${author} has no DMARC policy, so large providers may refuse our mail.`,
          `Publish: ${zoneLine(dmarcRecord(author, config.mailFrom))}`,
        )
      : ok(`${author} has a DMARC policy.`),
  ]
  const aligned = registrableDomainOf(author)
  const names = [config.returnPathDomain, ...(config.dkim ? [config.dkim.domain] : [])]
  if (!names.some((name) => registrableDomainOf(name) === aligned)) {
    const todo = `Set RETURN_PATH_DOMAIN or DKIM_DOMAIN to a domain below ${aligned ?? author}.`
    findings.push(bad('problem', `Our mail fails DMARC for ${author}.`, todo))
  }
  return findings
}

/** Checks that bounces and answers have a mail server. */
async function checkExchange({ config, resolve }: Asking): Promise<Finding> {
  const domain = config.returnPathDomain
  const answer = await resolve(domain, 'MX')
  const silent = unanswered(answer, domain)
  if (silent) return silent
  if (answer.is !== 'found') {
    const host = new URL(config.publicUrl).hostname
    const todo =
      'Publish, with the name of the machine that receives mail: ' +
      zoneLine(mxRecord(domain, host))
    return bad('problem', `${domain} has no MX record, so no bounces or answers arrive.`, todo)
  }
  const found = await Promise.all(answer.records.map((host) => addressesOf(host, resolve)))
  const missing = answer.records.filter((_, at) => found[at]?.length === 0)
  if (missing.length === 0) return ok(`${domain} receives mail at ${answer.records.join(' and ')}.`)
  const todo = 'Publish an A or AAAA record for it, or correct the MX record.'
  return bad(
    'problem',
    `The mail server ${missing.join(' and ')} of ${domain} has no address.`,
    todo,
  )
}

/** Checks that the reverse name of an address exists and leads back to it. */
async function checkReverse(ip: string, resolve: Resolve): Promise<Finding> {
  const address = parseIp(ip)
  const answer = await resolve(address ? pointerQuestion(address) : ip, 'PTR')
  const silent = unanswered(answer, ip)
  if (silent) return silent
  const todo =
    `Let the owner of ${ip}, usually your hosting provider, set its reverse name to the name of ` +
    'the mail server.'
  const names = answer.is === 'found' ? answer.records : []
  if (names.length === 0) return bad('problem', `${ip} has no reverse name.`, todo)
  for (const name of names) {
    const back = await addressesOf(name, resolve)
    if (back.some((one) => parseIp(one)?.text === address?.text)) return ok(`${ip} is ${name}.`)
  }
  return bad(
    'problem',
    `The reverse name ${names.join(' and ')} does not lead back to ${ip}.`,
    todo,
  )
}
