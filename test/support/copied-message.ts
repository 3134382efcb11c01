import { type ParsedMail, simpleParser } from 'mailparser'
import { parse } from 'tldts'
import type { ReportedMessage } from './feedback-reports.ts'

/** Returns the copy of the whole message in a feedback report, as mailparser reads it. */
export async function copyIn(report: Buffer): Promise<ParsedMail> {
  const { attachments } = await simpleParser(report)
  const part = attachments.find(({ contentType }) => contentType === 'message/rfc822')
  return simpleParser(part?.content ?? '')
}

/** Returns the lines of a mail that are not 7-bit or have more than 998 characters. */
export function wrongLines(raw: Buffer): string[] {
  const isLine = (line: string) => line.length < 999 && !/[\r\n\0\x80-\xff]/.test(line)
  return raw
    .toString('latin1')
    .split('\r\n')
    .filter((line) => !isLine(line))
}

/**
 * Returns the registrable domains of links and Received fields of a message that its copy does not
 * have, except those of its recipients. It shares no code with what composes copies.
 */
export async function lostDomains(
  { planted, domains: own }: Pick<ReportedMessage, 'planted' | 'domains'>,
  copy: ParsedMail,
): Promise<string[]> {
  const mail = await simpleParser(planted, { skipImageLinks: true, skipTextToHtml: true })
  const shown = domainsOf(hostsIn(unescaped(copy.text ?? '')))
  const linked = domainsOf(linkedHosts(mail)).difference(shown)
  const received = domainsOf(receivedHosts(mail)).difference(domainsOf(receivedHosts(copy)))
  return [...linked.union(received).difference(domainsOf(own))]
}

const LINKS_MAX = 50

/** The hosts of the first links that a person can follow, and of links in these. */
function linkedHosts({ text = '', html }: ParsedMail): string[] {
  const targets = /<(?:a|area)\s[^<>]*?\bhref\s*=\s*["']?\s*((?:https?:)?\/\/[^\s"'<>]+)/gi
  const found =
    html === false ? text.matchAll(/\b(https?:\/\/[^\s"'<>]+)/gi) : html.matchAll(targets)
  const links = Array.from(found.take(LINKS_MAX), ([, url = '']) => unescaped(url))
  return links.flatMap((url) => Array.from(url.matchAll(/\/\/([\w.-]+)/g), ([, host = '']) => host))
}

function unescaped(text: string): string {
  return text.replace(/%(?:25)*2f/gi, '/').replace(/%(?:25)*3a/gi, ':')
}

function receivedHosts({ headerLines }: ParsedMail): string[] {
  return headerLines.filter(({ key }) => key === 'received').flatMap(({ line }) => hostsIn(line))
}

/** The host names in a text that are no parts of addresses. */
function hostsIn(text: string): string[] {
  const host = /(?<![\w.@=+-])(?:[\w-]+\.)+[a-z][\w-]+(?![\w-]|\.\w|[\w.-]*@)/gi
  return Array.from(text.matchAll(host), ([name]) => name)
}

/** The registrable domains under public suffixes, and those of examples. */
function domainsOf(hosts: readonly string[]): Set<string> {
  const domains = hosts.map((host) => {
    const { domain, isIcann } = parse(host.toLowerCase(), { allowPrivateDomains: false })
    return isIcann === true || host.toLowerCase().endsWith('.example') ? domain : null
  })
  return new Set(domains.filter((domain) => domain !== null))
}
