import { parseArgs } from 'node:util'
import type { Config } from '../config.ts'
import { UsageError } from '../errors.ts'
import { parseIp } from '../mail/ip.ts'
import type { Rdap } from '../net/rdap/rdap.ts'
import { createResolver } from '../net/resolver.ts'
import { accusable } from '../phishing/accusable.ts'
import type { FoundPage } from '../phishing/find-pages.ts'
import { lookUpPage } from '../phishing/look-up-page.ts'
import { pageTarget } from '../phishing/page-target.ts'
import { type Resolve, systemClock } from '../world.ts'
import { openRdap } from './open-network.ts'

/** What is asked about: an address, or the page of a URL. */
type ContactQuestion = { ip: string } | { page: FoundPage }

type Output = { resolve: Resolve; print: (text: string) => void; complain: (text: string) => void }

/**
 * Queries the registries for the abuse contact of an address, or for those who can stop the page of
 * a URL, and prints the answer. The page is never requested. Returns true if a contact was found;
 * otherwise calls `complain` with the reason.
 *
 * @throws UsageError when nobody is notified about the page, or for other arguments
 */
export async function runContact(
  args: readonly string[],
  config: Pick<Config, 'dnsServers' | 'rdapBootstrapUrl'>,
  output: Omit<Output, 'resolve'>,
): Promise<boolean> {
  const question = parseContact(args)
  const rdap = openRdap(config)
  if (!rdap) {
    throw new UsageError([
      'Registry look-ups are switched off because RDAP_BOOTSTRAP_URL is "none".',
    ])
  }
  if ('ip' in question) return askAboutAddress(question.ip, rdap, output)
  const { resolve, close } = createResolver({ servers: config.dnsServers, clock: systemClock })
  return askAboutPage(question.page, rdap, { ...output, resolve }).finally(close)
}

function parseContact(args: readonly string[]): ContactQuestion {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const [text = '', ...more] = positionals
  const address = parseIp(text)
  if (address && more.length === 0) return { ip: address.text }
  const target = /^https?:/i.test(text) ? pageTarget(text) : undefined
  if (!target || more.length > 0) {
    throw new UsageError(['Use "contact IP" with one IP address, or "contact URL" with one URL.'])
  }
  const accused = accusable(target.url, [])
  if ('spared' in accused) {
    throw new UsageError([`Nobody is notified about this page: ${accused.spared}.`])
  }
  const url = target.url.href
  return { page: { url, links: [url], key: url, accused, through: target.through, shown: [] } }
}

async function askAboutPage(page: FoundPage, rdap: Rdap, output: Output): Promise<boolean> {
  const { resolve, print, complain } = output
  const stoppers = await lookUpPage(page, {
    resolve,
    async networkOf(ip) {
      const answer = await rdap.ask(ip)
      if (answer.is === 'later') complain(answer.why)
      if (answer.is === 'later') return undefined
      const contacts = answer.is === 'found' ? answer.contacts : []
      return { asn: null, name: answer.network.name, contacts }
    },
    async registrarOf(domain) {
      const answer = await rdap.askDomain(domain)
      if (answer.is !== 'found') complain(answer.why)
      if (answer.is !== 'found') return undefined
      return { registrar: answer.domain.registrar, contacts: answer.contacts }
    },
    isShared: () => false,
  })
  print(`page        ${page.accused.name}`)
  for (const { role, name, addresses, form } of stoppers) {
    const contacts = [...addresses, ...(form === undefined ? [] : [form])]
    print(`${role.padEnd(12)}${name}: ${contacts.join(' ') || '-'}`)
  }
  if (stoppers.length === 0) complain('Nobody who can stop the page is known.')
  return stoppers.length > 0
}

async function askAboutAddress(
  ip: string,
  rdap: Rdap,
  { print, complain }: Omit<Output, 'resolve'>,
): Promise<boolean> {
  if (!rdap.mayAsk(ip)) {
    throw new UsageError([`${ip} is not a public address, so it is in no registry.`])
  }
  const answer = await rdap.ask(ip)
  if (answer.is === 'later') {
    complain(`${answer.why} Try again after ${answer.retryAt.toISOString()}.`)
    return false
  }
  const { cidrs, name, country, registry } = answer.network
  print(
    [
      `address   ${ip}`,
      `network   ${cidrs.join(' ')}`,
      `name      ${name ?? '-'}`,
      `country   ${country ?? '-'}`,
      `registry  ${registry ?? '-'}`,
      `contacts  ${answer.is === 'found' ? answer.contacts.join(' ') : '-'}`,
    ].join('\n'),
  )
  if (answer.is === 'none') complain(answer.why)
  return answer.is === 'found'
}
