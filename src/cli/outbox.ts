import { z } from 'zod'
import { oneOf } from '../actions.ts'
import { feedbackStates, listOutbox } from '../db/feedback-reports.ts'
import { listWaitingMails } from '../feedback/list-waiting.ts'
import { releaseHeld, resendRefused, retryMail } from '../feedback/release-held.ts'
import { defineQuery, type Operations } from './command.ts'

const LINES_MAX = 1_000

const waiting = defineQuery({
  name: 'outbox waiting',
  summary: 'list where mail waits, by abuse team: how much, since when, why and until when',
  print: (_, app) => listWaitingMails(app),
})

const list = defineQuery({
  name: 'outbox list',
  summary: 'list the newest feedback reports, as JSON lines',
  input: z.object({ state: oneOf(feedbackStates).optional().meta({ argument: 'STATE' }) }),
  print: ({ state }, { pool }) => listOutbox(pool, { state }, LINES_MAX),
})

export const operations: Operations = [list, waiting, releaseHeld, resendRefused, retryMail]
