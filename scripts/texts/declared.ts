import { type Action, messageOf } from '../../src/actions.ts'
import { markReputation, unmarkReputation } from '../../src/counting/reputation-actions.ts'
import { releaseHeld, resendRefused, retryMail } from '../../src/feedback/release-held.ts'
import * as consumers from '../../src/feedback/consumer-actions.ts'
import { endContract, setContract } from '../../src/feedback/consumer-actions.ts'
import { acceptEnrollment, refuseEnrollment } from '../../src/feedback/consumer-actions.ts'
import { answerForDesk, handleMail } from '../../src/feedback/inbox-actions.ts'
import { setContact, unsetContact } from '../../src/feedback/contact-actions.ts'
import { disablePartner, enablePartner } from '../../src/feedback/partner-actions.ts'
import {
  removeNetworkCorrection,
  setNetwork,
  unsetNetwork,
} from '../../src/feedback/network-actions.ts'
import {
  addRuleList,
  addRuleListEntries,
  dropRuleListEntries,
  removeRuleList,
} from '../../src/judging/rule-lists.ts'
import { suppressAddress, unsuppressAddress } from '../../src/feedback/suppress.ts'
import * as health from '../../src/health/health-actions.ts'
import * as queues from '../../src/queue/control-queues.ts'
import { allowPromotion, promoteVersion, rollBackPromotion } from '../../src/judging/models.ts'
import { closeAlert } from '../../src/judging/sender-watch.ts'
import { resendConfirmation } from '../../src/letters/account-letters.ts'
import {
  acceptDelisting,
  exemptFromLists,
  refuseDelisting,
  removeListExemption,
} from '../../src/lists/list-actions.ts'
import * as marketers from '../../src/marketers/marketer-actions.ts'
import {
  disableAccount,
  enableAccount,
  grantRole,
  inviteAccount,
  removeSecondStep,
  renameAccount,
} from '../../src/people/account-actions.ts'
import * as pages from '../../src/pages/page-actions.ts'
import { proposalActions } from '../../src/people/confirm-deletion.ts'
import { saveLimits, setLimit } from '../../src/people/limit-actions.ts'
import { demoteWaiting, retryDeadLetters } from '../../src/queue/redrive.ts'
import { decideCampaign, undecideCampaign } from '../../src/reports/campaign-decisions.ts'
import { eraseOnRequest } from '../../src/reports/erase-account.ts'
import { addReceivingHost, dropReceivingHost } from '../../src/reports/receiving-hosts.ts'
import { fillSamples, removeSamples } from '../../src/reports/sample-actions.ts'
import { addMailSource, removeSource } from '../../src/reports/mail-sources.ts'
import { publishStatistics } from '../../src/reports/month-figures.ts'
import { addSimulation, dropSimulation, stopSimulation } from '../../src/reports/simulations.ts'
import {
  banReporter,
  dropHeldReports,
  liftBan,
  releaseHeldReports,
} from '../../src/reports/shadow-bans.ts'
import { roleMeanings, roles } from '../../src/roles.ts'
import { fieldNames, searchFields } from '../../src/search/fields.ts'
import { massEffectOf, massKinds } from '../../src/search/mass-effects.ts'
import {
  startDeletion,
  startMassAction,
  stopMassAction,
  undoMassAction,
} from '../../src/search/mass-actions.ts'
import { forgetSearch, keepSearch } from '../../src/search/saved-searches.ts'
import { basisOf, symbolsOfMessage } from '../../src/verdict/verdict.ts'
import { shippedRules } from '../../test/support/shipped-rules.ts'

/** The actions of the pages that are in all languages. */
const actions: Pick<Action, 'name' | 'messages'>[] = [
  ...[enablePartner, disablePartner, pages.confirmPage, pages.clearPage, pages.undecidePage],
  ...[setContact, unsetContact],
  ...[addMailSource, removeSource, publishStatistics],
  ...[...Object.values(queues), demoteWaiting, retryDeadLetters],
  ...[...Object.values(health), retryMail, releaseHeld, resendRefused, keepSearch, forgetSearch],
  ...[setContract, endContract, handleMail, answerForDesk, suppressAddress, unsuppressAddress],
  ...[consumers.addConsumer, consumers.setConsumer, consumers.pauseConsumer],
  ...[
    consumers.resumeConsumer,
    consumers.stopConsumer,
    consumers.enrollConsumer,
    acceptEnrollment,
    refuseEnrollment,
  ],
  ...[setNetwork, unsetNetwork, removeNetworkCorrection],
  ...[
    disableAccount,
    enableAccount,
    resendConfirmation,
    grantRole,
    closeAlert,
    setLimit,
    saveLimits,
  ],
  ...[inviteAccount, renameAccount, removeSecondStep, eraseOnRequest],
  ...[marketers.setMarketer, marketers.removeMarketer, marketers.resetService],
  ...[marketers.takeProposal, marketers.dismissProposal],
  ...[exemptFromLists, removeListExemption, acceptDelisting, refuseDelisting],
  ...[markReputation, unmarkReputation],
  ...[promoteVersion, rollBackPromotion, allowPromotion],
  ...[startMassAction, startDeletion, stopMassAction, undoMassAction],
  ...Object.values(proposalActions([startDeletion])),
  ...[fillSamples, removeSamples],
  ...[addReceivingHost, dropReceivingHost, addSimulation, stopSimulation, dropSimulation],
  ...[addRuleList, removeRuleList, addRuleListEntries, dropRuleListEntries],
  ...[banReporter, liftBan, releaseHeldReports, dropHeldReports, decideCampaign, undecideCampaign],
]

/** The texts whose English is in declarations of actions and fields, by code. */
export const declaredTexts: Readonly<Record<string, string>> = Object.fromEntries([
  ...actions.flatMap((action) =>
    Object.keys(action.messages).map((code) => [
      `done.${action.name.replaceAll(' ', '-')}.${code}`,
      messageOf(action, code, 5),
    ]),
  ),
  ...massKinds.flatMap((kind) => {
    const { label, meaning, undoMeaning } = massEffectOf(kind)
    return [
      [`effects.${kind}`, label],
      [`effects.${kind}.meaning`, meaning],
      ...(undoMeaning ? [[`effects.${kind}.undo`, undoMeaning]] : []),
    ]
  }),
  ...roles.map((role) => [`roleMeanings.${role}`, roleMeanings[role]]),
  ...fieldNames.flatMap((name) => [
    [`fields.${name}.label`, searchFields[name].label],
    [`fields.${name}.summary`, searchFields[name].summary],
  ]),
])

/** Returns the names of the shipped symbols that reporters see; the rules have the English. */
export function symbolNames(): string[] {
  const symbols = shippedRules().rules.map(({ symbol, weight, meaning, facts }) => {
    const basis = basisOf(facts.map((fact) => fact.split('.')[0] ?? ''))
    return { name: symbol, weight, meaning, basis }
  })
  return symbolsOfMessage(symbols).map(({ name }) => name)
}
