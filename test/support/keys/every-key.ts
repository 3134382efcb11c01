import { alarmWebhookKeys } from '../../../src/health/channels.ts'
import {
  composeAnswerAddress,
  composeLetterAnswerAddress,
  composeLetterReturnPath,
  composeReturnPath,
} from '../../../src/mail/verp.ts'
import { shownWebhookKey } from '../../../src/mail/webhook-message.ts'
import { makeSimulationKey } from '../../../src/reports/simulations.ts'
import { makeMailInAddress } from '../../../src/reports/take-mailed.ts'
import { Browser } from '../../db/web/browser.ts'
import { webSecret } from '../../db/web/web-site.ts'
import { linkTo } from '../letters.ts'
import type { ShownSite } from '../pages/shown-site.ts'

/** The kinds of keys: whoever has one of them acts as its owner. */
export type KeyKind =
  | 'reset link'
  | 'sign-up link'
  | 'link to a new address'
  | 'enrollment link'
  | 'page of a desk'
  | 'answer link'
  | 'answer address of a feedback report'
  | 'return path of a feedback report'
  | 'link that turns letters off'
  | 'answer address of a letter'
  | 'return path of a letter'
  | 'mail-in address'
  | 'page of a delisting request'
  | 'page of an erased account'
  | 'webhook secret'
  | 'alarm webhook key'
  | 'API token'
  | 'key of a simulation'
  | 'front key'
  | 'secret of the installation'

export type Keys = Readonly<Record<KeyKind, string>>

/** Keys that no mail can contain, because they are not sent to anybody. */
export const unsentKinds: readonly KeyKind[] = ['front key', 'secret of the installation']

/** Makes a key of each kind, as its owner has it. */
export async function makeEveryKey({ site, ann, admin, told: reportId, ...shown }: ShownSite) {
  const { pool, config } = site.app
  await new Browser(site.url).post('/forgotten', { email: admin.email })
  const told = { reportId, number: 1 }
  const settings = { domain: config.returnPathDomain, secret: config.secret }
  const { links, letter } = shown
  const at = (link: string) => `${config.publicUrl}${link}`
  return {
    'reset link': at(await linkTo(pool, admin.email)),
    'sign-up link': at(links.signUp),
    'link to a new address': at(links.move),
    'enrollment link': at(links.confirm),
    'page of a desk': at(links.desk),
    'answer link': at(links.answer.replace(/\/\w+$/, '')),
    'answer address of a feedback report': composeAnswerAddress(told, settings),
    'return path of a feedback report': composeReturnPath(told, settings),
    'link that turns letters off': at(links.lettersOff),
    'answer address of a letter': composeLetterAnswerAddress(letter, settings),
    'return path of a letter': composeLetterReturnPath(letter, settings),
    'mail-in address': await makeMailInAddress(site.app, ann.id),
    'page of a delisting request': at(links.delisting),
    'page of an erased account': at(links.erased),
    'webhook secret': await webhookSecretOf(site.url, ann.basic),
    'alarm webhook key': shownWebhookKey(alarmWebhookKeys(config)[0] ?? Buffer.of()),
    'API token': ann.token,
    'key of a simulation': makeSimulationKey(),
    'front key': config.frontKey ?? '',
    'secret of the installation': webSecret,
  } satisfies Keys
}

async function webhookSecretOf(url: string, authorization: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/webhooks`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://hooks.example.org/x', events: ['report.told'] }),
  })
  const text = await answer.text()
  if (answer.status !== 201) throw new Error(text)
  return (JSON.parse(text) as { secret: string }).secret
}

/** The end of each key; without it the rest is useless. */
export function needlesOf(keys: Keys): Record<string, string> {
  return Object.fromEntries(
    Object.entries(keys).map(([kind, key]) => [kind, key.replace(/@.*/, '').slice(-16)]),
  )
}
