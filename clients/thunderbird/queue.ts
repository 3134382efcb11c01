/** The reporter's statement about a message, as the API names it. */
export type Kind = 'spam' | 'phishing' | 'not-spam'

/** A message to report. */
export type Wanted = {
  raw: Uint8Array<ArrayBuffer>
  kind: Kind
  /** May be empty. */
  comment: string
  /** Shown in the list of reports. */
  subject: string
}

/** A report that the service has not accepted yet; its message is stored under its key. */
type Waiting = Omit<Wanted, 'raw'> & {
  /** Sent as the Idempotency-Key. */
  key: string
  hash: string
  bytes: number
  tries: number
  dueAt: number
}

/** A report that the service accepted. */
type Sent = { hash: string; kind: Kind; subject: string; id: string; at: number }

/** The result of one request to the service. */
export type Answer =
  /** `lacksWayIn`: the service does not know the mail servers of the user. */
  | { is: 'accepted'; id: string; lacksWayIn: boolean }
  /** The service does not answer, or asks to wait. */
  | { is: 'away'; afterMs?: number }
  /** The token is not valid. */
  | { is: 'signed-out' }
  /** The service does not accept this message. */
  | { is: 'refused'; why: string }

/** Storage that survives the end of the program. */
export type Store = {
  get: (key: string) => Promise<unknown>
  set: (items: Record<string, unknown>) => Promise<void>
  remove: (key: string) => Promise<void>
}

type Needs = {
  store: Store
  now: () => number
  createKey: () => string
  post: (report: Wanted & { key: string }) => Promise<Answer>
}

/** The result of adding a report. */
export type Added = 'new' | 'waiting' | 'full' | { sent: Sent }

/** The results of the reports that were sent. */
export type Sending = {
  sent: Sent[]
  refused: string[]
  lacksWayIn: boolean
  stopped?: 'away' | 'signed-out'
}

export type Queue = {
  /** Stores a report, unless the same one waits or was accepted. */
  add: (wanted: Wanted) => Promise<Added>
  /** Sends what is due, oldest first; with `all`, also what waits for a later attempt. */
  send: (all?: boolean) => Promise<Sending>
  list: () => Promise<{ waiting: number; dueAt: number | undefined; sent: Sent[] }>
}

const WAITING_MAX = 1_000
const WAITING_BYTES_MAX = 300_000_000
const SENT_MAX = 2_000
const FIRST_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 3_600_000

type Shelf = Needs & { inOrder: ReturnType<typeof oneAtATime> }

/** Creates the queue of reports. It works with one background page at a time. */
export function createQueue(needs: Needs): Queue {
  const shelf = { ...needs, inOrder: oneAtATime() }
  const sendInOrder = oneAtATime()
  return {
    add: (wanted) => add(shelf, wanted),
    send: (all = false) => sendInOrder(() => send(shelf, all)),
    async list() {
      const waiting = await readWaiting(shelf)
      const due = waiting.map(({ dueAt }) => dueAt)
      return {
        waiting: waiting.length,
        dueAt: due.length === 0 ? undefined : Math.min(...due),
        sent: await readSent(shelf),
      }
    },
  }
}

async function readWaiting({ store }: Shelf): Promise<Waiting[]> {
  return ((await store.get('waiting')) ?? []) as Waiting[]
}

async function readSent({ store }: Shelf): Promise<Sent[]> {
  return ((await store.get('sent')) ?? []) as Sent[]
}

async function add(shelf: Shelf, { raw, ...report }: Wanted): Promise<Added> {
  const { store, now, createKey, inOrder } = shelf
  const hash = await hashOf(raw)
  return inOrder(async () => {
    const waiting = await readWaiting(shelf)
    const same = waiting.find((one) => one.hash === hash)
    if (same?.kind === report.kind && isSaid(report.comment, same.comment)) return 'waiting'
    const sent = (await readSent(shelf)).find((one) => one.hash === hash)
    if (!same && sent?.kind === report.kind && report.comment === '') return { sent }
    // A new statement about a waiting message replaces the earlier one.
    const others = waiting.filter((one) => one !== same)
    const bytes = others.reduce((sum, one) => sum + one.bytes, raw.length)
    if (others.length >= WAITING_MAX || bytes > WAITING_BYTES_MAX) return 'full'
    const key = createKey()
    const added = { ...report, key, hash, bytes: raw.length, tries: 0, dueAt: now() }
    await store.set({ [placeOf(key)]: raw, waiting: [...others, added] })
    if (same) await store.remove(placeOf(same.key))
    return 'new'
  })
}

async function send(shelf: Shelf, all: boolean): Promise<Sending> {
  const { store, now, post } = shelf
  const result: Sending = { sent: [], refused: [], lacksWayIn: false }
  const startedAt = now()
  for (const { key } of await readWaiting(shelf)) {
    // The list may have changed since it was read.
    const report = (await readWaiting(shelf)).find((one) => one.key === key)
    if (!report || (!all && report.dueAt > startedAt)) continue
    const raw = (await store.get(placeOf(key))) as Uint8Array<ArrayBuffer> | undefined
    const answer: Answer = raw
      ? await post({ ...report, raw })
      : { is: 'refused', why: report.subject }
    if (answer.is === 'away' || answer.is === 'signed-out') {
      await postpone(shelf, answer)
      return { ...result, stopped: answer.is }
    }
    if (answer.is === 'accepted') result.lacksWayIn = answer.lacksWayIn
    const sent = await settle(shelf, report, answer)
    if (sent) result.sent.push(sent)
    else if (answer.is === 'refused') result.refused.push(answer.why)
  }
  return result
}

/** Records an answer, then removes the message: after an exit in between it is only left over. */
function settle(shelf: Shelf, report: Waiting, answer: Answer): Promise<Sent | undefined> {
  const { store, now, inOrder } = shelf
  return inOrder(async () => {
    const { hash, kind, subject, key } = report
    const sent = answer.is === 'accepted' && { hash, kind, subject, id: answer.id, at: now() }
    const waiting = (await readWaiting(shelf)).filter((one) => one.key !== key)
    const others = (await readSent(shelf)).filter((one) => one.hash !== hash)
    await store.set({ waiting, ...(sent && { sent: [sent, ...others].slice(0, SENT_MAX) }) })
    await store.remove(placeOf(key))
    return sent || undefined
  })
}

/** Postpones all reports, because the others would fail like the first one. */
async function postpone(shelf: Shelf, answer: Answer): Promise<void> {
  const { store, now, inOrder } = shelf
  const least = answer.is === 'away' ? (answer.afterMs ?? 0) : LONGEST_WAIT_MS
  await inOrder(async () => {
    const waiting = (await readWaiting(shelf)).map((one) => {
      const backOff = Math.min(FIRST_WAIT_MS * 2 ** Math.min(one.tries, 10), LONGEST_WAIT_MS)
      return { ...one, tries: one.tries + 1, dueAt: now() + Math.max(backOff, least) }
    })
    await store.set({ waiting })
  })
}

/** Whether a comment adds nothing to an earlier one. */
function isSaid(comment: string, before: string): boolean {
  return comment === '' || comment === before
}

function placeOf(key: string): string {
  return `message ${key}`
}

async function hashOf(raw: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', raw))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Returns a function that runs tasks one after another. */
function oneAtATime() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(task: () => Promise<T>): Promise<T> => {
    const done = last.then(task, task)
    last = done.catch(() => undefined)
    return done
  }
}
