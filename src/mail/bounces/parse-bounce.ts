import { decodeCharset } from '../encoded-word.ts'
import { entityField, fieldParameter, leafText, ownPart, parseMimeTree } from '../mime-tree.ts'
import type { Entity } from '../mime-tree.ts'
import { bounceReason, isHardBounce } from './bounce-reason.ts'
import { forwardedNotice, systemText, withoutTags } from './bounce-text.ts'
import { preferredStatus, replyCodeIn, statusIn } from './codes.ts'
import { deliveryEvents } from './delivery-events.ts'
import { looksLikeBounce } from './looks-like-bounce.ts'
import type { BounceReason } from './reasons.ts'
import { reasonOfCategory } from './own-words.ts'
import { recipientGroups } from './recipient-groups.ts'
import type { RecipientGroup } from './recipient-groups.ts'
import { inferredStatus } from './status-meanings.ts'
import { recipientSections, sectionAbout } from './told-recipients.ts'

/** What became of a message for one recipient. */
export type BounceResult = {
  /** The address as the reporting system gives it; empty when it gives none. */
  recipient: string
  /** RFC 3464 §2.3.3. */
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'
  /** Enhanced status code, class.subject.detail (RFC 3463). */
  status: string | undefined
  /** Whether the status was made of the reason, because nobody stated one. */
  isStatusInferred: boolean
  /** SMTP reply code (RFC 5321 §4.2). */
  replyCode: number | undefined
  reason: BounceReason
  /** Whether writing to the address again is of no use. */
  hard: boolean
}

/**
 * Reads a delivery status notification: by its machine-readable part (RFC 3464), else by what the
 * text of a message that looks like one says, in the words of the many systems that write their
 * own. Undefined for any other mail. Any line ends. Never throws.
 */
export function parseBounce(raw: Buffer): { results: BounceResult[] } | undefined {
  const tree = parseMimeTree(raw)
  return tree && bounceIn(tree)
}

/** The same of a message whose tree is there. */
export function bounceIn(tree: Entity): { results: BounceResult[] } | undefined {
  const explanation = explanationOf(tree)
  const events = deliveryEvents(explanation)
  if (events !== undefined) return found(events.map((event) => judged(event)))
  const part = statusTypes.map((type) => ownPart(tree, type)).find((one) => one !== undefined)
  if (part !== undefined) {
    const results = groupResults(recipientGroups(leafText(part)), explanation)
    if (results.length > 0) return { results }
  }
  const notice = forwardedNotice(tree.fields, explanation)
  if (notice === undefined && !looksLikeBounce(tree.fields, explanation)) return undefined
  const text = notice ?? explanation
  const written = groupResults(recipientGroups(text, 'in a text'), text)
  return found(written.length > 0 ? written : toldResults(tree, text))
}

const statusTypes = ['message/delivery-status', 'message/global-delivery-status']
const explanationCharsMax = 64 * 1024
const resultsMax = 200

function found(results: BounceResult[]): { results: BounceResult[] } | undefined {
  return results.length === 0 ? undefined : { results: results.slice(0, resultsMax) }
}

/** The first readable text that is not part of the returned message. */
function explanationOf(tree: Entity): string {
  const part = ownPart(tree, 'text/plain') ?? ownPart(tree, 'text/html')
  if (part === undefined) return textOf(firstLeaf(tree).slice(0, explanationCharsMax))
  const charset = fieldParameter(entityField(part, 'content-type') ?? '', 'charset')
  const bytes = Buffer.from(leafText(part).slice(0, explanationCharsMax), 'latin1')
  const text = textOf(decodeCharset(bytes, charset ?? 'utf-8'))
  return part.type === 'text/html' ? withoutTags(text) : text
}

/** Where no part calls itself a text: the first that is not a returned message. */
function firstLeaf({ body }: Entity): string {
  if (body.kind === 'leaf') return body.text
  if (body.kind === 'message') return ''
  const first = body.parts.find(({ entity }) => entity.body.kind !== 'message')
  return first === undefined ? '' : firstLeaf(first.entity)
}

function textOf(text: string): string {
  return text.replace(/\r\n/g, '\n')
}

function groupResults(groups: readonly RecipientGroup[], explanation: string): BounceResult[] {
  const own = systemText(explanation)
  const isOnly = groups.length === 1
  return groups.slice(0, resultsMax).map((group) => {
    const { recipient, diagnostic } = group
    const told = isOnly ? own : sectionAbout(own, recipient)
    const reason = reasonOfCategory(group.category)
    return judged({
      ...group,
      ...(reason && { reason }),
      text: diagnostic === '' ? told : diagnostic,
      context: told,
    })
  })
}

function toldResults({ fields }: Entity, text: string): BounceResult[] {
  const results = recipientSections(fields, text).map((section) =>
    judged({ ...section, ...unstated, action: actionTold(text), context: section.text }),
  )
  // Nobody named and nothing recognized: whatever it is, it tells nothing.
  const tells = ({ recipient, reason, status, isStatusInferred }: BounceResult) =>
    recipient !== '' || !isIdle(reason) || (status !== undefined && !isStatusInferred)
  return results.filter(tells)
}

const unstated = { stated: undefined, type: '' }
const transientWords =
  /\b(?:temporar(?:y|ily)|persistent transient|(?<!delivery )retry time(?:out)? (?:exceeded|not reached))\b/i
const delayWords =
  /has been delayed|delay reason:|not yet been delivered|warning message only|message is delayed|this is a warning only|will be retried|still being retried/i

function actionTold(text: string): BounceResult['action'] {
  return delayWords.test(systemText(text).slice(0, 8192)) ? 'delayed' : 'failed'
}

function isIdle(reason: BounceReason): boolean {
  return reason === 'undefined' || reason === 'onhold'
}

type Told = {
  recipient: string
  action: BounceResult['action']
  stated: string | undefined
  type: string
  text: string
  context: string
  hosts?: readonly string[]
  reason?: BounceReason
}

function judged({ recipient, action, stated, type, text, context, ...told }: Told): BounceResult {
  const replied = statusIn(text)
  const status = preferredStatus(stated, replied, replyCodeIn(text, replied))
  const replyCode = replyCodeIn(text, status)
  if (action !== 'failed' && action !== 'delayed') {
    const reason = 'delivered'
    return { recipient, action, status, isStatusInferred: false, replyCode, reason, hard: false }
  }
  const isDelayed = action === 'delayed'
  const failure = { text, context, status, replyCode, type, isDelayed, hosts: told.hosts ?? [] }
  const reason = told.reason ?? bounceReason(failure)
  const hard = isHardBounce(reason, status, replyCode)
  const known = { recipient, action, replyCode, reason, hard }
  if (status !== undefined) return { ...known, status, isStatusInferred: false }
  const isTransient =
    replyCode === undefined ? isDelayed || transientWords.test(text) : replyCode < 500
  const made = inferredStatus(reason, isTransient ? 4 : 5)
  return { ...known, status: made, isStatusInferred: true }
}
