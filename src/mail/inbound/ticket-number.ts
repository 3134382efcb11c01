const subjectCharsMax = 1_000
const textCharsMax = 2_000
const labels = 'ticket|case|incident|request|reference|ref|issue|complaint|tracking|vorgang|dossier'

/** The ways in which ticket systems write the number of a case, the surest first. */
const inSubject: readonly RegExp[] = [
  // Request Tracker, Zendesk, osTicket, Jira, and their like: [name #123], [#ABC-12-34], [ABC-123].
  /\[[^[\]\n]{0,60}?#\s?([A-Z0-9][A-Z0-9-]{1,39})\]/i,
  /\[([A-Z]{2,10}-\d{1,12})\]/,
  // OTRS and Znuny: [Ticket#2026112210000012].
  /\[(?:ticket|case)\s?#\s?:?\s?([A-Z0-9-]{2,40})\]/i,
]
const label = `\\b(?:${labels})`
const noun = '[ -]?(?:number|no|nr|id)'
const digits = '#?([A-Z0-9-]{0,30}\\d[A-Z0-9-]{0,12})\\b'
const labeled = new RegExp(`${label}(?:${noun})?\\.?[ ]?(?:is[ ])?[:#][ ]?${digits}`, 'i')
const spoken = new RegExp(`${label}${noun}\\.?[ ](?:is[ ])?${digits}`, 'i')

/**
 * The number that a ticket system gave to a mail of ours, by the subject of its acknowledgment,
 * else by its text. Undefined when none is written so that it could not be something else.
 */
export function ticketNumber(subject: string | null, text: string): string | undefined {
  const line = (subject ?? '').slice(0, subjectCharsMax)
  const body = text.slice(0, textCharsMax)
  for (const shape of [...inSubject, labeled, spoken]) {
    const found = shape.exec(line)?.[1]
    if (found !== undefined) return found
  }
  return labeled.exec(body)?.[1] ?? spoken.exec(body)?.[1]
}
