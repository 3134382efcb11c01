import { z } from 'zod'
import { listProposals } from '../db/marketers.ts'
import { CallerError } from '../errors.ts'
import {
  dismissProposal,
  importMarketers,
  marketerKey,
  removeMarketer,
  resetService,
  setMarketer,
  takeProposal,
} from '../marketers/marketer-actions.ts'
import { allMarketers, allRegistered, findRegistered } from '../marketers/registry.ts'
import { writeMarketers } from '../verdict/marketers/marketer-file.ts'
import { defineQuery, type Operations } from './command.ts'

const PROPOSALS_SHOWN = 200

const exportMarketers = defineQuery({
  name: 'marketers export',
  summary: 'write all marketers as YAML or JSON lines, which can be imported',
  input: z.object({ jsonl: z.boolean().default(false), shipped: z.boolean().default(false) }),
  async print({ jsonl, shipped }, { pool }) {
    const marketers = await (shipped ? allRegistered(pool) : allMarketers(pool))
    return writeMarketers(marketers, jsonl ? 'jsonl' : 'yaml')
  },
})

const list = defineQuery({
  name: 'marketers list',
  summary: 'list the marketers and mailing services',
  async print(_, { pool }) {
    const lines = (await allRegistered(pool)).map(({ key, kind, state, name, signers, ranges }) =>
      [
        ...[key.padEnd(30), kind.padEnd(8), state.padEnd(10), name],
        `(${[...signers, ...ranges].join(', ')})`,
      ].join(' '),
    )
    return lines.join('\n')
  },
})

const show = defineQuery({
  name: 'marketers show',
  summary: 'show a marketer as YAML',
  input: z.object({ key: marketerKey }),
  async print({ key }, { pool }) {
    const marketer = await findRegistered(pool, key)
    if (marketer) return writeMarketers([marketer], 'yaml')
    throw new CallerError(404, `Unknown marketer "${key}". "marketers list" shows the keys.`)
  },
})

const proposals = defineQuery({
  name: 'marketers proposals',
  summary: 'list signers of reported mail that may be marketers',
  async print(_, { pool }) {
    const lines = (await listProposals(pool, PROPOSALS_SHOWN)).map((one) =>
      [
        `${one.signer} ${one.listId}`.trim().padEnd(50),
        `${one.messages} messages from at least ${one.reportersAtLeast} reporters:`,
        JSON.stringify(one.subjects[0] ?? ''),
      ].join(' '),
    )
    return lines.length > 0 ? lines.join('\n') : 'No marketers are proposed.'
  },
})

export const operations: Operations = [
  ...[importMarketers, exportMarketers, list, show, removeMarketer, setMarketer],
  resetService,
  ...[proposals, takeProposal, dismissProposal],
]
