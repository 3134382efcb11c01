import { isIP, isIPv4, isIPv6 } from 'node:net'
import { z } from 'zod'
import { type Role, roles } from './roles.ts'

/** The system's name servers, none, or the given ones: `ip`, `ip:port` or `[ip]:port`. */
export type Servers = 'system' | 'none' | readonly string[]
/** The newest of each of the last days, weeks and months with a backup. */
export type KeepRule = { days: number; weeks: number; months: number }
/** Hours in which warnings wait, in minutes of the day. */
export type QuietHours = { from: number; to: number; zone: string }
/** The networks to which reports are forwarded: codes of countries, AS numbers, CIDR blocks. */
export type ForwardScope = {
  countries: readonly string[]
  asns: readonly number[]
  blocks: readonly string[]
}

export function isSafeUrl(text: string): boolean {
  const url = URL.parse(text)
  const isHere = ['127.0.0.1', '[::1]', 'localhost'].includes(url?.hostname ?? '')
  // A password would be shown with it.
  if (!url || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere)
}

export function wholeNumber(least: number, most: number) {
  const range =
    most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`
  const says = { error: `is not a whole number ${range}` }
  return z.coerce.number(says).int(says).min(least, says).max(most, says)
}

export function fraction() {
  const says = { error: 'is not a number from 0 to 1' }
  return z.coerce.number(says).min(0, says).max(1, says)
}

export function score() {
  const says = { error: 'is not a number above 0' }
  return z.coerce.number(says).positive(says)
}

/** Reads the addresses of name servers. */
export function readServers(text: string, context: z.RefinementCtx): Servers {
  const entries = entriesOf(text)
  if (entries.length === 0) return 'system'
  if (text.trim() === 'none') return 'none'
  const wrong = entries.filter((entry) => !isServer(entry))
  refuse(wrong, 'neither an IP address nor address:port', context)
  return entries
}

export function readBlocks(text: string, context: z.RefinementCtx): readonly string[] {
  const entries = text.trim() === 'none' ? [] : entriesOf(text)
  const wrong = entries.filter((entry) => !/^[0-9a-f.:]+(\/\d{1,3})?$/i.test(entry))
  const isBlock = (entry: string) => isIP(entry.replace(/\/\d+$/, '')) !== 0
  wrong.push(...entries.filter((entry) => !wrong.includes(entry) && !isBlock(entry)))
  refuse(wrong, 'neither an IP address nor a CIDR block', context)
  return entries
}

/** Reads countries, AS numbers and CIDR blocks: `FR, AS64496, 192.0.2.0/24`. */
export function readScope(text: string, context: z.RefinementCtx): ForwardScope | undefined {
  const entries = entriesOf(text)
  if (entries.length === 0) return undefined
  const scope = { countries: [] as string[], asns: [] as number[], blocks: [] as string[] }
  const wrong = entries.filter((entry) => {
    const country = /^[a-z]{2}$/i.test(entry) ? countryOf(entry) : undefined
    const asn = /^as(\d{1,10})$/i.exec(entry)?.[1]
    const block = blockOf(entry)
    if (country !== undefined) scope.countries.push(country)
    else if (asn !== undefined) scope.asns.push(Number(asn))
    else if (block !== undefined) scope.blocks.push(block)
    return (country ?? asn ?? block) === undefined
  })
  const why = 'neither a country (FR), an AS number (AS64496) nor a CIDR block'
  refuse(wrong, why, context)
  return scope
}

function blockOf(entry: string): string | undefined {
  const [ip = '', length, ...more] = entry.split('/')
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(ip)] ?? 0
  if (bits === 0 || more.length > 0) return undefined
  if (length === undefined) return `${ip}/${bits}`
  return /^\d{1,3}$/.test(length) && Number(length) <= bits ? entry : undefined
}

/** The code of a country as registries write it, GB for UK. Undefined if there is none. */
function countryOf(code: string): string | undefined {
  const region = new Intl.Locale(`und-${code}`).region ?? ''
  const name = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' }).of(region)
  return name === undefined || region === 'ZZ' ? undefined : region
}

function isServer(entry: string): boolean {
  const [, ip = '', port] = /^(.*?)(?::(\d{1,5}))?$/.exec(entry) ?? []
  if (isIP(entry) !== 0) return true
  const isAddress = isIPv4(ip) || (/^\[.*\]$/.test(ip) && isIPv6(ip.slice(1, -1)))
  return isAddress && (port === undefined || (Number(port) >= 1 && Number(port) <= 65_535))
}

const SECRET_CHARS_MIN = 32

/** Reads secrets that are separated by blanks or commas; as a JSON array if they contain those. */
export function readSecrets(text: string, context: z.RefinementCtx): readonly string[] {
  const secrets = text.startsWith('[') ? jsonTexts(text) : entriesOf(text)
  if (secrets?.every((secret) => secret.length >= SECRET_CHARS_MIN)) return secrets
  const message = secrets
    ? `contains a secret that is shorter than ${SECRET_CHARS_MIN} characters; if secrets contain ` +
      'blanks or commas, write them as a JSON array'
    : 'is not a JSON array of texts, though it begins with "["'
  context.addIssue({ code: 'custom', message })
  return []
}

function jsonTexts(text: string): string[] | undefined {
  try {
    return z.array(z.string()).parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

export function readAddresses(text: string, context: z.RefinementCtx): readonly string[] {
  const entries = entriesOf(text)
  const wrong = entries.filter((entry) => !z.email().safeParse(entry).success)
  refuse(wrong, 'not a valid email address', context)
  return entries
}

function refuse(wrong: readonly string[], why: string, context: z.RefinementCtx): void {
  if (wrong.length === 0) return
  const message = `names ${wrong.join(' and ')}, which is ${why}`
  context.addIssue({ code: 'custom', message })
}

/** Reads the numbers of days, weeks and months: `7,4,6`. */
export function readKeepRule(text: string, context: z.RefinementCtx): KeepRule {
  const [, days, weeks, months] = /^ *(\d{1,4}) *, *(\d{1,4}) *, *(\d{1,4}) *$/.exec(text) ?? []
  if (months === undefined) {
    context.addIssue({ code: 'custom', message: 'is not like "7,4,6" (days, weeks, months)' })
  }
  return { days: Number(days), weeks: Number(weeks), months: Number(months) }
}

/** Reads `22:00-07:00`, optionally with a time zone: `22:00-07:00 Europe/Paris`. */
export function readQuietHours(text: string, context: z.RefinementCtx): QuietHours | undefined {
  if (text.trim() === '') return undefined
  const shape = /^(\d\d):([0-5]\d)-(\d\d):([0-5]\d)(?: +(\S+))?$/
  const [, fromHour, fromMinute, toHour, toMinute, zone = 'UTC'] = shape.exec(text.trim()) ?? []
  const from = Number(fromHour) * 60 + Number(fromMinute)
  const to = Number(toHour) * 60 + Number(toMinute)
  if (from < DAY_MINUTES && to < DAY_MINUTES && isZone(zone)) return { from, to, zone }
  const message = 'is not like "22:00-07:00" or "22:00-07:00 Europe/Paris"'
  context.addIssue({ code: 'custom', message })
  return undefined
}

/** Reads the roles that groups give: `staff=viewer, /spam/admins=administrator`. */
export function readRoles(text: string, context: z.RefinementCtx): ReadonlyMap<string, Role> {
  const read = new Map<string, Role>()
  for (const entry of text.split(',').map((one) => one.trim())) {
    if (entry === '') continue
    const [, group, name] = /^(.+?)\s*=\s*(\w+)$/.exec(entry) ?? []
    const role = roles.find((one) => one === name)
    if (group !== undefined && role) read.set(group, role)
    else {
      const message = `has the entry "${entry}", which is not like "group=${roles.join('|')}"`
      context.addIssue({ code: 'custom', message })
    }
  }
  return read
}

const DAY_MINUTES = 24 * 60

function isZone(zone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }))
  } catch {
    return false
  }
}

export function entriesOf(list: string): string[] {
  return list.split(/[\s,]+/).filter(Boolean)
}
