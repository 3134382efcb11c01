import { z } from 'zod'
import { oneOf } from '../actions.ts'
import { type ConsumerState, listConsumerPage } from '../db/consumers.ts'
import type { Db } from '../db/pool.ts'
import {
  consumerField,
  getConsumer,
  importConsumers,
  pauseConsumer,
  resumeConsumer,
  setConsumer,
  stopConsumer,
  endContract,
  setContract,
} from '../feedback/consumer-actions.ts'
import { consumerLines } from '../feedback/consumer-lines.ts'
import { defineQuery, type Operations } from './command.ts'

const PAGE = 1_000

const list = defineQuery({
  name: 'consumers list',
  summary: 'list the receivers of feedback reports, as JSON lines',
  input: z.object({
    state: oneOf(['found', 'enrolled', 'paused', 'stopped']).optional(),
    search: z.string().toLowerCase().optional().meta({ value: 'PART' }),
  }),
  print: ({ state, search }, { pool }) => listAll(pool, state, search),
})

const exportAll = defineQuery({
  name: 'consumers export',
  summary: 'write all consumers as JSON lines, which can be imported',
  print: (_, { pool }) => listAll(pool, undefined, undefined),
})

const show = defineQuery({
  name: 'consumers show',
  summary: 'show a consumer, as a JSON line',
  input: z.object({ consumer: consumerField }),
  async print({ consumer }, { pool }) {
    return consumerLines(pool, [await getConsumer(pool, consumer)])
  },
})

async function listAll(
  db: Db,
  state: ConsumerState | undefined,
  search: string | undefined,
): Promise<string> {
  let [text, after] = ['', undefined as string | undefined]
  for (;;) {
    const page = await listConsumerPage(db, { state, search, after, limit: PAGE })
    text += await consumerLines(db, page)
    if (page.length < PAGE) return text
    after = page.at(-1)?.address
  }
}

export const operations: Operations = [
  ...[list, exportAll, importConsumers, show],
  ...[pauseConsumer, resumeConsumer, stopConsumer, setConsumer, setContract, endContract],
]
