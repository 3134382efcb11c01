import { runAction } from '../../../src/actions.ts'
import { putLink } from '../../../src/db/organization-links.ts'
import { sealBytes } from '../../../src/db/sealed-bytes.ts'
import { enablePartner } from '../../../src/feedback/partner-actions.ts'
import { alarmWebhookKeys } from '../../../src/health/channels.ts'
import {
  composeAnswerAddress,
  composeLetterAnswerAddress,
  composeLetterReturnPath,
  composeReturnPath,
} from '../../../src/mail/verp.ts'
import { shownWebhookKey } from '../../../src/mail/webhook-message.ts'
import { codeAt } from '../../../src/people/second-step.ts'
import { makeSimulationKey } from '../../../src/reports/simulations.ts'
import { makeMailInAddress } from '../../../src/reports/take-mailed.ts'
import { Browser, signedInBrowser } from '../../db/web/browser.ts'
import { type Person, webSecret, type WebSite } from '../../db/web/web-site.ts'
import { linkTo } from '../letters.ts'
import type { ShownSite } from '../pages/shown-site.ts'
import { secretOf } from '../second-step.ts'

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
  | 'webhook address'
  | 'alarm webhook key'
  | 'API token'
  | 'key of a simulation'
  | 'front key'
  | 'secret of the installation'
  | 'key of a partner'
  | 'secret of a second step'
  | 'recovery code'
  | 'session'
  | 'refresh token'
  | SettingKind

/** The keys in settings, besides those above. */
type SettingKind =
  | 'password of the mail server'
  | 'password for checks'
  | 'address for alarms'
  | 'address of the heartbeat'

export type Keys = Readonly<Record<KeyKind, string>>

/** Keys that no mail can contain, because they are not sent to anybody. */
export const unsentKinds: readonly KeyKind[] = [
  ...(['front key', 'secret of the installation', 'key of a partner', 'session'] as const),
  ...(['secret of a second step', 'recovery code', 'refresh token', 'webhook address'] as const),
  ...(['password of the mail server', 'password for checks'] as const),
  ...(['address for alarms', 'address of the heartbeat'] as const),
]

const settingKeys = {
  'password of the mail server': 'a-password-of-the-mail-server',
  'password for checks': 'a-password-for-the-checks',
  'address for alarms': 'https://hooks.example.org/services/path-of-the-alarms',
  'address of the heartbeat': 'https://hooks.example.org/ping/path-of-the-heartbeat',
} as const satisfies Record<SettingKind, string>

/** Settings with keys. Nobody answers at the mail server. */
export const settingsWithKeys = {
  FRONT_KEY: 'a-front-key-of-the-tests-which-is-long-enough',
  SMTP_URL: `smtp://user:${settingKeys['password of the mail server']}@127.0.0.1:9`,
  CHECK_PASSWORD: settingKeys['password for checks'],
  ALARM_WEBHOOK_URL: settingKeys['address for alarms'],
  ALARM_HEARTBEAT_URL: settingKeys['address of the heartbeat'],
}

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
    'webhook address': webhookAddress,
    'alarm webhook key': shownWebhookKey(alarmWebhookKeys(config)[0] ?? Buffer.of()),
    'API token': ann.token,
    'key of a simulation': makeSimulationKey(),
    'front key': config.frontKey ?? '',
    'secret of the installation': webSecret,
    'key of a partner': await partnerKeyOf(site),
    ...(await makeSecondStep(site)),
    session: await sessionOf(site, admin),
    'refresh token': await refreshTokenOf(site, ann.id),
    ...settingKeys,
  } satisfies Keys
}

const webhookAddress = 'https://hooks.example.org/services/path-of-the-webhook'

async function partnerKeyOf({ app }: WebSite): Promise<string> {
  const given = { partner: 'urlhaus', secret: 'a-key-of-the-account-at-a-partner', checked: 'yes' }
  const outcome = await runAction(enablePartner, given, app, null)
  if (!('done' in outcome)) throw new Error(JSON.stringify(outcome))
  return given.secret
}

/** Turns on the second step of a person as a browser does. */
async function makeSecondStep(site: WebSite) {
  const person = await site.addPerson('secured@reporters.example')
  const browser = await signedInBrowser(site.url, person)
  const page = '/account/second-step'
  await browser.post(page, { do: 'begin', now: person.password })
  const html = await (await browser.get(page)).text()
  const [, secret = ''] = /<code class="stranger">([A-Z2-7 ]+)<\/code>/.exec(html) ?? []
  const turnedOn = await browser.post(page, {
    ...{ do: 'on', code: codeAt(secretOf(html), new Date()) },
  })
  const [, code = ''] = /<code>([0-9a-f-]{20,})<\/code>/.exec(await turnedOn.text()) ?? []
  return { 'secret of a second step': secret, 'recovery code': code }
}

async function sessionOf(site: WebSite, person: Person): Promise<string> {
  const browser = await signedInBrowser(site.url, person)
  const [, cookie = ''] = /\bsignalpost=([^;]+)/.exec(browser.cookies()) ?? []
  return decodeURIComponent(cookie)
}

async function refreshTokenOf({ app: { pool, config } }: WebSite, reporterId: string) {
  const token = 'a-refresh-token-of-the-organization'
  const about = { purpose: 'refresh token', owner: reporterId } as const
  const refreshToken = sealBytes(Buffer.from(token), about, config.secret)
  const person = { issuer: 'https://login.example', subject: 'ann', linkedAt: new Date() }
  await putLink(pool, { ...person, reporterId, refreshToken, checkAt: new Date() })
  return token
}

async function webhookSecretOf(url: string, authorization: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/webhooks`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ url: webhookAddress, events: ['report.told'] }),
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
