import type { Checked } from '../../judging/check-message.ts'
import { type CheckAction, checkActionOf, type CheckScores } from '../../verdict/check-action.ts'
import type { Verdict, VerdictClass } from '../../verdict/verdict.ts'

/** What rspamd answers to /checkv2: the fields that its clients read. */
export type Answer = {
  /** True when there is no verdict; the symbol NO_VERDICT tells why. */
  is_skipped: boolean
  score: number
  required_score: number
  action: CheckAction
  symbols: Record<string, AnswerSymbol>
  messages: { smtp_message?: string }
  'message-id'?: string
  /** Seconds. */
  time_real: number
  milter: {
    add_headers?: Record<string, { value: string; order: number }>
    /** 0: all of that name. */
    remove_headers: Record<string, number>
  }
}

type AnswerSymbol = { name: string; score: number; metric_score: number; description: string }

const refusals: Partial<Record<VerdictClass, string>> = {
  phishing: 'This message looks like phishing.',
  malware: 'This message looks like malware.',
}

const noVerdict: Record<'unread' | 'unavailable', string> = {
  unread: 'No verdict: the message is empty, too large, or could not be read.',
  unavailable: 'No verdict: the service cannot give one now.',
}

/**
 * The answer to a question. A message without a verdict gets `no action`: mail servers and bridges
 * such as rspamd's proxy turn every other answer into a refusal. `unavailable` may get a verdict
 * later, `unread` never does.
 */
export function composeAnswer(
  checked: Checked | 'unavailable',
  scores: CheckScores,
  seconds: number,
): Answer {
  const remove = { remove_headers: { 'X-Spam': 0 } }
  const common = { required_score: scores.reject, time_real: rounded(seconds, 6) }
  if (typeof checked === 'string') {
    const symbols = symbolsOf([{ name: 'NO_VERDICT', weight: 0, meaning: noVerdict[checked] }])
    const skipped = { is_skipped: true, score: 0, action: 'no action', symbols } as const
    return { ...skipped, ...common, messages: {}, milter: remove }
  }
  const { verdict, messageId } = checked
  const action = checkActionOf(verdict, scores)
  const add = { 'X-Spam': { value: 'Yes', order: 0 } }
  return {
    is_skipped: false,
    score: rounded(verdict.score, 3),
    ...common,
    action,
    symbols: symbolsOf(verdict.symbols),
    messages:
      action === 'reject'
        ? { smtp_message: refusals[verdict.class] ?? 'This message looks like spam.' }
        : {},
    ...(messageId !== undefined && { 'message-id': messageId }),
    milter: action === 'add header' ? { add_headers: add, ...remove } : remove,
  }
}

/**
 * The same in the lines of the older protocol, which Exim reads: `Metric: default; False; 2.00 /
 * 15.00 / 0.0`, the advice, then the symbols.
 */
export function composeLines(answer: Answer): string {
  const isSpam = ['add header', 'rewrite subject', 'reject'].includes(answer.action)
  const flag = answer.is_skipped ? 'Skip' : isSpam ? 'True' : 'False'
  const lines = [
    'RSPAMD/1.3 0 EX_OK',
    `Metric: default; ${flag}; ${shown(answer.score)} / ${shown(answer.required_score)} / 0.0`,
    `Action: ${answer.action}`,
    ...Object.values(answer.symbols).map(({ name, score }) => `Symbol: ${name}(${shown(score)})`),
    `Message-ID: ${answer['message-id']?.replaceAll(/\p{Cc}+/gu, ' ') ?? 'undef'}`,
  ]
  return `${lines.join('\r\n')}\r\n`
}

function symbolsOf(
  symbols: readonly Pick<Verdict['symbols'][number], 'name' | 'weight' | 'meaning'>[],
): Record<string, AnswerSymbol> {
  return Object.fromEntries(
    symbols.map(({ name, weight, meaning }) => {
      const score = rounded(weight, 3)
      return [name, { name, score, metric_score: score, description: meaning }]
    }),
  )
}

function shown(score: number): string {
  return score.toFixed(2)
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
