import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Config } from '../config.ts'
import { UsageError } from '../errors.ts'
import { parseIp } from '../mail/ip.ts'
import { createRdap, type Rdap } from '../outbound/rdap.ts'
import { systemClock } from '../world.ts'

/** A registry client by the settings; undefined when the registries are not to be asked. */
export function openRdap({ rdapBootstrapUrl }: Pick<Config, 'rdapBootstrapUrl'>): Rdap | undefined {
  if (rdapBootstrapUrl === undefined) return undefined
  return createRdap(rdapBootstrapUrl, {
    clock: systemClock,
    fetch,
    wait: (ms) => wait(ms),
  })
}

/** The address that `contact IP` names. */
export function parseContact(args: readonly string[]): string {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
  const [text, ...more] = positionals
  const address = text === undefined ? undefined : parseIp(text)
  if (!address || more.length > 0) throw new UsageError(['Say "contact IP", with one IP address.'])
  return address.text
}

/**
 * Asks the registries who answers for an address and prints it. True when a contact was found;
 * otherwise `complain` hears why not.
 */
export async function askForContact(
  ip: string,
  rdap: Rdap | undefined,
  io: { print: (text: string) => void; complain: (text: string) => void },
): Promise<boolean> {
  if (!rdap) throw new UsageError(['RDAP_BOOTSTRAP_URL is "none": no registry is asked.'])
  if (!rdap.mayAsk(ip))
    throw new UsageError([`${ip} is not a public address: no registry knows it.`])
  const answer = await rdap.ask(ip)
  if (answer.is === 'later') {
    io.complain(`${answer.why} Try again after ${answer.retryAt.toISOString()}.`)
    return false
  }
  const { cidrs, name, country, registry } = answer.network
  io.print(
    [
      `address   ${ip}`,
      `network   ${cidrs.join(' ')}`,
      `name      ${name ?? '-'}`,
      `country   ${country ?? '-'}`,
      `registry  ${registry ?? '-'}`,
      `contacts  ${answer.is === 'found' ? answer.contacts.join(' ') : '-'}`,
    ].join('\n'),
  )
  if (answer.is === 'none') io.complain(answer.why)
  return answer.is === 'found'
}
