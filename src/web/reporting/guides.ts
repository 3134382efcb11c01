import { domainOf } from '../../mail/address.ts'
import { type Code, codesBelow, type ListCode, type Texts } from '../../texts/messages.ts'

const WEB_MAIL = 'help.web.'
const PROGRAMS = 'help.programs.'

export type GuideName = { key: string; name: string }

/** How to get the complete message from a mail program: ways, the best first, and what to know. */
export type Guide = GuideName & {
  ways: { title: string; steps: string[] }[]
  note: string | undefined
}

/** Lists the guides: for mail in the browser, and for programs. */
export function listGuides(texts: Texts): { web: GuideName[]; programs: GuideName[] } {
  const named = (start: string) =>
    codesBelow(start)
      .filter(({ rest: [, field] }) => field === 'name')
      .map(({ code, rest: [key = ''] }) => ({ key, name: texts(code as Code) }))
  return { web: named(WEB_MAIL), programs: named(PROGRAMS) }
}

/** Returns the guide for a mail program; undefined if there is none. */
export function guideOf(key: string, texts: Texts): Guide | undefined {
  const found = [...codesBelow(WEB_MAIL), ...codesBelow(PROGRAMS)].filter(
    ({ rest }) => rest[0] === key,
  )
  const textOf = (field: string) => {
    const code = found.find(({ rest }) => rest[1] === field)?.code
    return code === undefined ? undefined : texts(code as Code)
  }
  const ways = found
    .filter(({ rest: [, field] }) => field !== 'name' && field !== 'note')
    .map(({ code, rest: [, way] }) => ({
      title: texts(`help.ways.${way}` as Code),
      steps: texts(code as ListCode),
    }))
  const name = textOf('name')
  return name === undefined ? undefined : { key, name, ways, note: textOf('note') }
}

/** The guides for providers whose mail is usually read in the browser, by domain of an address. */
const providers: readonly (readonly [RegExp, key: string])[] = [
  [/^(?:gmail|googlemail)\.com$/, 'gmail'],
  [/^(?:outlook|hotmail|live|msn)\./, 'outlook-web'],
  [/^(?:yahoo\.|ymail\.com$|rocketmail\.com$)/, 'yahoo'],
  [/^(?:proton\.me|protonmail\.com|pm\.me)$/, 'proton'],
  [/^(?:orange|wanadoo)\.fr$/, 'orange'],
  [/^free\.fr$/, 'free'],
  [/^(?:laposte\.net|laposte\.fr)$/, 'laposte'],
  [/^(?:sfr|neuf)\.fr$/, 'sfr'],
  [/^(?:mail|bk|list|inbox)\.ru$/, 'mailru'],
  [/^(?:yandex\.|ya\.ru$)/, 'yandex'],
  [/^(?:gmx\.|web\.de$|mail\.com$)/, 'gmx'],
]

/** The usual mail programs by system; the first match counts. */
const systems: readonly (readonly [RegExp, key: string])[] = [
  [/Thunderbird/, 'thunderbird'],
  [/iPhone|iPad/, 'iphone'],
  [/Android/, 'android'],
  [/Macintosh/, 'apple-mail'],
  [/Windows/, 'outlook-new'],
]

/**
 * Suggests the mail program of a reporter: the pages of the provider of the address, otherwise the
 * usual program of the system on which the browser runs.
 */
export function suggestedGuide(
  { email, userAgent }: { email: string; userAgent: string },
  texts: Texts,
): Guide | undefined {
  const domain = domainOf(email) ?? ''
  const ofProvider = providers.find(([pattern]) => pattern.test(domain))?.[1]
  const ofSystem = systems.find(([pattern]) => pattern.test(userAgent))?.[1]
  const keys = [ofProvider, ofSystem, 'thunderbird']
  for (const key of keys) {
    const guide = key === undefined ? undefined : guideOf(key, texts)
    if (guide) return guide
  }
  return undefined
}
