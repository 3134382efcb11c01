import { z } from 'zod'
import { daysField, defineAction, endOf, textField } from '../actions.ts'
import { keepContract } from '../db/consumers.ts'
import { withoutOriginals } from '../db/feedback-waiting.ts'
import { dateOf } from '../durations.ts'
import { hasContract } from '../verdict/consumers.ts'
import { consumerField, getConsumer } from './consumer-actions.ts'

const REASON_CHARS_MAX = 500

/**
 * Gives a consumer the messages of its reports as they were received, from now on: a contract says
 * what the consumer may do with them.
 */
export const setContract = defineAction({
  name: 'consumers contract',
  summary: 'send originals to a consumer with a contract, for some days or until it ends',
  audit: 'set contract',
  role: 'operator',
  asksPassword: true,
  needsSecond: true,
  input: z.object({
    consumer: consumerField,
    reason: textField(REASON_CHARS_MAX, 'Please give a reason.').meta({ option: 'why' }),
    days: daysField,
  }),
  messages: { contract: 'Contract saved. New reports to this consumer contain the original.' },
  async run(tx, { consumer: text, reason, days }, context) {
    const { id, address } = await getConsumer(tx, text)
    const until = endOf(days, context)
    await keepContract(tx, id, { since: context.at, until, reason })
    const end = until === null ? '' : `, until ${dateOf(until)}`
    return { done: 'contract', audit: `${address}${end}: ${reason}` }
  },
})

/** Ends a contract; what is not sent yet is composed again without the original. */
export const endContract = defineAction({
  name: 'consumers end-contract',
  summary: 'send no more originals to a consumer',
  audit: 'end contract',
  role: 'operator',
  input: z.object({ consumer: consumerField }),
  messages: {
    ended: 'Contract ended. Reports to this consumer contain a composed copy again.',
    none: 'This consumer has no contract.',
  },
  async run(tx, { consumer: text }, { at }) {
    const consumer = await getConsumer(tx, text)
    if (!hasContract(consumer, at)) return { unchanged: 'none' }
    await keepContract(tx, consumer.id, null)
    await withoutOriginals(tx, consumer.id)
    return { done: 'ended', audit: consumer.address }
  },
})
