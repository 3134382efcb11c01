/** What a sending user did on one day. Recipients, and recipients of events, are different ones. */
export type SendingDay = {
  /** 0 for today. */
  daysAgo: number
  sent: number
  /** Messages that we judged to be unwanted, without regard to who sent them. */
  unwanted: number
  recipients: number
  complaints: number
  bounces: number
  reads: number
}

/** Messages of the last hour. */
export type SendingHour = Pick<SendingDay, 'sent' | 'unwanted'>

export type SendingRecord = {
  today: Omit<SendingDay, 'daysAgo'>
  lastHour: SendingHour
  /** Days since the first message, at most 13, because counters are kept for two weeks. */
  knownDays: number
  /** Shares of the messages and of the recipients, weighted by day, 0 to 1. */
  unwantedShare: number
  complaintShare: number
  bounceShare: number
  readShare: number
  /** From −1 (sends spam) to +1; near 0 while little is known. */
  score: number
}

/**
 * Minimum volumes and shares for an alert. Below them, a person who forwards a few
 * doubtful messages, or a small list with old addresses, would raise one.
 */
const ALERT = {
  unwanted: { min: 10, share: 0.3 },
  complaints: { min: 5, share: 0.01 },
  bounces: { min: 50, share: 0.3 },
} as const

/**
 * Why a user seems to send spam today; undefined if nothing says so. Unwanted messages are also
 * compared with those of the last hour, because a busy account may be taken over.
 */
export function alertCause({
  today,
  lastHour,
}: Pick<SendingRecord, 'today' | 'lastHour'>): 'unwanted' | 'complaints' | 'bounces' | undefined {
  const isAbove = (kind: keyof typeof ALERT, part: number, whole: number) =>
    part >= ALERT[kind].min && part >= ALERT[kind].share * whole
  const { sent, unwanted, recipients, complaints, bounces } = today
  if (isAbove('unwanted', unwanted, sent)) return 'unwanted'
  if (isAbove('unwanted', lastHour.unwanted, lastHour.sent)) return 'unwanted'
  if (isAbove('complaints', complaints, recipients)) return 'complaints'
  return isAbove('bounces', bounces, recipients) ? 'bounces' : undefined
}

/** Days after which a day has half its weight. Accounts are taken over and cleaned within days. */
const HALF_LIFE_DAYS = 4
/** Neutral messages added to every score, so that a few messages or complaints decide nothing. */
const PRIOR_MESSAGES = 200
/**
 * How many good messages one bad event outweighs: shares of complaints above 1 %, of bounces above
 * 20 % and of unwanted mail above 10 % make a score negative. Mailbox providers ask bulk senders
 * for less than 0.3 % complaints; a person sends less, so that single complaints weigh more.
 */
const COMPLAINT_MESSAGES = 100
const BOUNCE_MESSAGES = 5
const UNWANTED_MESSAGES = 10
/** How many further good messages one that was read is worth. */
const READ_MESSAGES = 2
/** Added to the denominators of shares. */
const PRIOR_SHARE = 20

const noEvents = { sent: 0, unwanted: 0, recipients: 0, complaints: 0, bounces: 0, reads: 0 }

/** Combines the days of a sending user, in any order. */
export function sendingRecord(
  days: readonly SendingDay[],
  lastHour: SendingHour = { sent: 0, unwanted: 0 },
): SendingRecord {
  const sums = { ...noEvents }
  for (const { daysAgo, ...counts } of days) {
    const weight = 2 ** (-daysAgo / HALF_LIFE_DAYS)
    for (const name of eventNames) sums[name] += Math.max(0, counts[name]) * weight
  }
  const { sent, unwanted, recipients, complaints, bounces, reads } = sums
  const good = Math.max(0, sent - unwanted) + READ_MESSAGES * Math.min(reads, recipients)
  const bad =
    COMPLAINT_MESSAGES * complaints + BOUNCE_MESSAGES * bounces + UNWANTED_MESSAGES * unwanted
  const { daysAgo: _, ...today } = days.find((day) => day.daysAgo === 0) ?? {
    daysAgo: 0,
    ...noEvents,
  }
  return {
    today,
    lastHour,
    knownDays: days.reduce(
      (most, { daysAgo, sent: its }) => (its > 0 ? Math.max(most, daysAgo) : most),
      0,
    ),
    unwantedShare: shareOf(unwanted, sent),
    complaintShare: shareOf(complaints, recipients),
    bounceShare: shareOf(bounces, recipients),
    readShare: shareOf(reads, recipients),
    score: round((good - bad) / (good + bad + PRIOR_MESSAGES)),
  }
}

const eventNames = Object.keys(noEvents) as (keyof typeof noEvents)[]

function shareOf(part: number, whole: number): number {
  return round(Math.min(1, part / (Math.max(part, whole) + PRIOR_SHARE)))
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
