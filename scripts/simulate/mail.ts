const MONTHS = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec'
const HEADER_DATE = new RegExp(
  String.raw`(?:\w{3},\s+)?\d{1,2}\s+(?:${MONTHS})\s+\d{4}\s+` +
    String.raw`\d{1,2}:\d{2}(?::\d{2})?\s+(?:[+-]\d{4}|GMT|UTC)`,
  'g',
)
const TO_ADDRESS = /^(?:Delivered-To|To):[^\n]*?([\w.+-]+@[\w.-]+\w)/im
const MESSAGE_ID = /^(Message-ID:\s*<)[^>]*/im

/**
 * Returns a message as another person receives it at another time: with that person's address, a
 * new Message-ID, and all times in the header moved.
 */
export function variantFor(message: Buffer, to: string, at: Date, number: number): Buffer {
  const { header, body } = partsOf(message)
  const recipient = TO_ADDRESS.exec(header)?.[1]
  const [first] = header.match(HEADER_DATE) ?? []
  const shift = first === undefined ? 0 : at.getTime() - timeOf(first)
  const dated = header
    .replace(HEADER_DATE, (text) => {
      const time = new Date(timeOf(text) + shift)
      return Number.isNaN(time.getTime()) ? text : time.toUTCString().replace('GMT', '+0000')
    })
    .replace(MESSAGE_ID, `$1${number}.variant@simulation.example`)
  const own = recipient ? dated.replaceAll(recipient, to) : dated
  return Buffer.from(own + body, 'latin1')
}

/**
 * Returns the content of one message under the header of another: a forgery that seems to come from
 * the victim, with the results of authentication that the victim's provider wrote.
 */
export function forgeryOf(victim: Buffer, content: Buffer): Buffer {
  const [{ header }, other] = [partsOf(victim), partsOf(content)]
  const isOfContent = (field: string) => /^(subject|content-|mime-version|list-)/i.test(field)
  const fields = fieldsOf(header).filter((field) => !isOfContent(field))
  const taken = fieldsOf(other.header).filter((field) => isOfContent(field))
  return Buffer.from(`${[...fields, ...taken].join('\n')}${other.body}`, 'latin1')
}

function timeOf(text: string): number {
  return Date.parse(text.replaceAll(/\s+/g, ' '))
}

function fieldsOf(header: string): string[] {
  return header.split(/\r?\n(?![ \t])/)
}

function partsOf(message: Buffer): { header: string; body: string } {
  const text = message.toString('latin1')
  const end = /\r?\n\r?\n/.exec(text)?.index ?? text.length
  return { header: text.slice(0, end), body: text.slice(end) }
}
