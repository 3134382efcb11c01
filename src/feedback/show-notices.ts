import { listAnswers } from '../db/feedback-answers.ts'
import type { FeedbackKey, FeedbackState } from '../db/feedback-reports.ts'
import {
  listFeedbackOf,
  listPageNotices,
  type PageNotice,
  type PageNoticeState,
} from '../db/page-notices.ts'
import type { Db } from '../db/pool.ts'
import type { AnswerKind } from '../mail/verp.ts'

/** Somebody who can stop a page, and what became of the notice, as operators see it. */
export type ShownNotice = Pick<PageNotice, 'contact' | 'role' | 'name' | 'isOverride'> & {
  /** Whether the contact is a form, where an operator has to write. */
  isForm: boolean
  /** The state of the notice if there is one; see `PageNotice` otherwise. */
  state: FeedbackState | Exclude<PageNoticeState, 'queued'> | 'gone'
  /** The feedback report that is the notice. */
  key: FeedbackKey | undefined
  /** When the notice was sent, or queued. */
  at: Date | null
  answers: { answer: AnswerKind; at: Date; said: string | null }[]
}

/** Returns those who can stop a page, in the order in which they are asked. */
export async function readNotices(db: Db, pageId: string): Promise<ShownNotice[]> {
  const notices = await listPageNotices(db, pageId)
  const ids = notices.flatMap(({ reportId }) => reportId ?? [])
  const [feedbackOf, answers] = await Promise.all([
    listFeedbackOf(db, notices),
    ids.length > 0 ? listAnswers(db, [...new Set(ids)]) : [],
  ])
  return notices.map((notice) => {
    const { contact, role, name, isOverride, state, reportId, number, queuedAt } = notice
    const key = reportId !== null && number !== null ? { reportId, number } : undefined
    const its = feedbackOf(notice)
    return {
      ...{ contact, role, name, isOverride, key, isForm: !contact.includes('@') },
      state: state === 'queued' ? (its?.state ?? 'gone') : state,
      at: its?.finishedAt ?? queuedAt,
      answers: answers
        .filter((one) => one.reportId === reportId && one.number === number)
        .map(({ answer, at, said }) => ({ answer, at, said })),
    }
  })
}
