const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/**
 * Offset from UTC in minutes, positive to the east, of the zone names in RFC 5322 §4.3 and a few
 * others that mail systems write.
 */
const zones = new Map<string, number>([
  ['ut', 0],
  ['utc', 0],
  ['gmt', 0],
  ['z', 0],
  ['est', -300],
  ['edt', -240],
  ['cst', -360],
  ['cdt', -300],
  ['mst', -420],
  ['mdt', -360],
  ['pst', -480],
  ['pdt', -420],
  ['bst', 60],
  ['cet', 60],
  ['cest', 120],
  ['msk', 180],
  ['jst', 540],
])

type Parts = Partial<Record<'day' | 'month' | 'year' | 'time' | 'zone', number | undefined>>

const textCharsMax = 200

/**
 * Parses a mail date: RFC 5322 §3.3 with its obsolete forms (two-digit years, zone names,
 * comments), the order that asctime uses, and ISO 8601, also with a space instead of the T. A date
 * without a zone is read as UTC. Undefined when the text contains no date, or one before 1970 or
 * after 2199.
 */
export function parseMailDate(text: string): Date | undefined {
  return usualDate(text) ?? anyDate(text)
}

/** The form of nearly all mail: `Tue, 3 Nov 2026 08:15:00 +0000`. */
const usualForm = new RegExp(
  '^ {0,9}(?:[a-z]{3}, {0,9})?\\d{1,2} [a-z]{3} \\d{4} ' +
    '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d [+-]\\d{4}(?![\\da-z])',
  'i',
)

function usualDate(text: string): Date | undefined {
  const usual = usualForm.exec(text)?.[0]
  return usual === undefined ? undefined : (writtenDate(usual) ?? valid(Date.parse(usual)))
}

const usualChars = 26

/**
 * Reads a text of the usual form with an English month and a year from 1970 to 2199. Same result as
 * `Date.parse`, which takes several times as long. Undefined for others.
 */
function writtenDate(usual: string): Date | undefined {
  // Counted from the end, because the weekday and the number of digits of the day vary.
  const start = usual.length - usualChars
  const number = (at: number, length: number) => {
    let value = 0
    for (let next = start + at; next < start + at + length; next++) {
      value = value * 10 + usual.charCodeAt(next) - 0x30
    }
    return value
  }
  const tens = usual.charCodeAt(start)
  const day = number(1, 1) + (tens >= 0x30 && tens <= 0x39 ? (tens - 0x30) * 10 : 0)
  const month = months.indexOf(usual.slice(start + 3, start + 6).toLowerCase())
  const year = number(7, 4)
  if (month < 0 || day < 1 || day > 31 || year < 1970 || year > 2199) return undefined
  const time = Date.UTC(year, month, day, number(12, 2), number(15, 2), number(18, 2))
  const zone = (number(22, 2) * 60 + number(24, 2)) * 60_000
  return valid(usual.charCodeAt(start + 21) === 0x2d ? time + zone : time - zone)
}

const isoZone = /(z|[+-]\d\d:?\d\d)$/i

function anyDate(text: string): Date | undefined {
  const words = text.slice(0, textCharsMax).split(/[\s,()]+/)
  const iso = words.find((word) => /^\d{4}-\d\d-\d\dT/.test(word))
  // Date.parse reads a time without a zone in the zone of this machine.
  if (iso !== undefined) return valid(Date.parse(isoZone.test(iso) ? iso : `${iso}Z`))
  const parts: Parts = {}
  for (const word of words) if (word !== '') readWord(word, parts)
  const { day, month, year, time, zone = 0 } = parts
  if (day === undefined || month === undefined || year === undefined) return undefined
  if (time === undefined || month > 11 || day < 1 || day > 31) return undefined
  return valid(Date.UTC(year, month, day) + time - zone * 60_000)
}

function readWord(word: string, parts: Parts): void {
  if (/^[+-]\d\d:?\d\d$/.test(word)) parts.zone ??= offset(word.replace(':', ''))
  else if (word.includes(':')) parts.time ??= timeOfDay(word)
  else if (/^\d{1,2}$/.test(word) && parts.day === undefined) parts.day = Number(word)
  else if (/^\d{2,4}$/.test(word)) parts.year ??= fullYear(word)
  else if (/^\d{1,2}-[a-z]{3}-\d{2,4}$/i.test(word)) {
    for (const piece of word.split('-')) readWord(piece, parts)
  } else if (/^\d{4}-\d\d-\d\d$/.test(word)) readIsoDay(word, parts)
  else if (/^[a-z]{1,9}$/i.test(word)) readName(word.toLowerCase(), parts)
}

function readIsoDay(word: string, parts: Parts): void {
  parts.year ??= Number(word.slice(0, 4))
  parts.month ??= Number(word.slice(5, 7)) - 1
  parts.day ??= Number(word.slice(8))
}

function readName(name: string, parts: Parts): void {
  const month = months.indexOf(name.slice(0, 3))
  if (month >= 0 && name.length >= 3 && parts.month === undefined) parts.month = month
  else if (parts.time !== undefined) parts.zone ??= zones.get(name)
}

function timeOfDay(word: string): number | undefined {
  const match = /^(\d{1,2}):(\d\d)(?::(\d\d))?(?:\.\d{1,9})?$/.exec(word)
  if (!match) return undefined
  const [hour, minute, second] = [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)]
  if (hour > 23 || minute > 59 || second > 60) return undefined
  return ((hour * 60 + minute) * 60 + second) * 1000
}

function offset(word: string): number {
  const minutes = Number(word.slice(1, 3)) * 60 + Number(word.slice(3))
  return word.startsWith('-') ? -minutes : minutes
}

/**
 * RFC 5322 §4.3: two-digit years 00 to 49 mean 2000 to 2049; other two- and three-digit years count
 * from 1900.
 */
function fullYear(word: string): number {
  const year = Number(word)
  if (word.length === 4) return year
  return word.length === 2 && year < 50 ? 2000 + year : 1900 + year
}

function valid(instant: number): Date | undefined {
  return instant >= 0 && instant < 7_258_118_400_000 ? new Date(instant) : undefined
}
