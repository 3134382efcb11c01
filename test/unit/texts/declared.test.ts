import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import type { Action } from '../../../src/actions.ts'
import { markReputation, unmarkReputation } from '../../../src/counting/reputation-actions.ts'
import { releaseHeld, resendRefused, retryMail } from '../../../src/feedback/release-held.ts'
import * as consumers from '../../../src/feedback/consumer-actions.ts'
import { acceptEnrollment, refuseEnrollment } from '../../../src/feedback/decide-enrollment.ts'
import { answerForDesk, handleMail } from '../../../src/feedback/inbox-actions.ts'
import {
  removeNetworkCorrection,
  setNetwork,
  unsetNetwork,
} from '../../../src/feedback/network-actions.ts'
import { suppressAddress, unsuppressAddress } from '../../../src/feedback/suppress.ts'
import * as health from '../../../src/health/health-actions.ts'
import * as queues from '../../../src/queue/control-queues.ts'
import { allowPromotion, promoteVersion, rollBackPromotion } from '../../../src/judging/models.ts'
import { closeAlert } from '../../../src/judging/sender-watch.ts'
import { resendConfirmation } from '../../../src/letters/account-letters.ts'
import {
  acceptDelisting,
  exemptFromLists,
  refuseDelisting,
  removeListExemption,
} from '../../../src/lists/list-actions.ts'
import * as marketers from '../../../src/marketers/marketer-actions.ts'
import { disableAccount, enableAccount, grantRole } from '../../../src/people/account-actions.ts'
import { proposalActions } from '../../../src/people/confirm-deletion.ts'
import { setLimit } from '../../../src/people/limit-actions.ts'
import { demoteWaiting, retryDeadLetters } from '../../../src/queue/redrive.ts'
import {
  banReporter,
  dropHeldReports,
  liftBan,
  releaseHeldReports,
} from '../../../src/reports/shadow-bans.ts'
import { roles } from '../../../src/roles.ts'
import { fieldNames } from '../../../src/search/fields.ts'
import { massEffectOf, massKinds } from '../../../src/search/mass-effects.ts'
import {
  startDeletion,
  startMassAction,
  stopMassAction,
  undoMassAction,
} from '../../../src/search/mass-actions.ts'
import { forgetSearch, keepSearch } from '../../../src/search/saved-searches.ts'
import { message } from '../../../src/texts/messages.ts'

const folder = path.join(import.meta.dirname, '../../../src/texts')

/** The actions of the pages that are in all languages. */
const actions: Pick<Action, 'name' | 'messages'>[] = [
  ...[...Object.values(queues), demoteWaiting, retryDeadLetters],
  ...[...Object.values(health), retryMail, releaseHeld, resendRefused, keepSearch, forgetSearch],
  ...[handleMail, answerForDesk, suppressAddress, unsuppressAddress],
  ...[consumers.addConsumer, consumers.setConsumer, consumers.pauseConsumer],
  ...[
    consumers.resumeConsumer,
    consumers.stopConsumer,
    consumers.enrollConsumer,
    acceptEnrollment,
    refuseEnrollment,
  ],
  ...[setNetwork, unsetNetwork, removeNetworkCorrection],
  ...[disableAccount, enableAccount, resendConfirmation, grantRole, closeAlert, setLimit],
  ...[marketers.setMarketer, marketers.removeMarketer, marketers.resetService],
  ...[marketers.takeProposal, marketers.dismissProposal],
  ...[exemptFromLists, removeListExemption, acceptDelisting, refuseDelisting],
  ...[markReputation, unmarkReputation],
  ...[promoteVersion, rollBackPromotion, allowPromotion],
  ...[startMassAction, startDeletion, stopMassAction, undoMassAction],
  ...Object.values(proposalActions([startDeletion])),
  ...[banReporter, liftBan, releaseHeldReports, dropHeldReports],
]

const codes = [
  ...actions.flatMap(({ name, messages }) =>
    Object.keys(messages).map((code) => `done.${name.replaceAll(' ', '-')}.${code}`),
  ),
  ...massKinds.flatMap((kind) => [
    `effects.${kind}`,
    `effects.${kind}.meaning`,
    ...(massEffectOf(kind).undoMeaning ? [`effects.${kind}.undo`] : []),
  ]),
  ...roles.map((role) => `roleMeanings.${role}`),
  ...fieldNames.flatMap((name) => [`fields.${name}.label`, `fields.${name}.summary`]),
]

test.for(['fr', 'ru'] as const)(
  'what is declared in English has a translation in %s',
  (language) => {
    const file = path.join(folder, language, 'declared.json')
    const catalog = JSON.parse(readFileSync(file, 'utf8')) as object
    expect(Object.keys(catalog).toSorted()).toEqual(codes.toSorted())
    for (const code of codes) expect(message(language, code, { count: 5 })?.text).not.toBe('')
  },
)

test('no catalog has the English of declarations', () => {
  expect(codes.filter((code) => message('en', code))).toEqual([])
})
