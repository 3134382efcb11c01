import type { App } from '../app.ts'
import { type AnswerReader, listAnswerReaders } from '../db/feedback-answers.ts'
import type { Db } from '../db/pool.ts'
import { domainOf } from '../mail/address.ts'
import type { AnswerKind } from '../mail/verp.ts'
import { queueLetter } from './send-letter.ts'

/** The words of a letter about an abuse desk's answer, in one language. */
type AnswerWords = {
  subject: string
  text: (facts: AnswerFacts) => string
  answers: Record<AnswerKind, string>
}

/** What the letter is about. */
type AnswerFacts = {
  /** The domain of the abuse desk. */
  desk: string
  says: string
  /** The day of the report, in the language of the letter. */
  day: string
  /** The page of the report. */
  page: string
  /** The page to switch off such letters. */
  settings: string
}

const en: AnswerWords = {
  subject: 'An answer to your report',
  text: ({ desk, says, day, page, settings }) => `Hello,

on ${day} you reported a message to us. We told ${desk} of it, and the answer was:
${says}.

The whole story, with its own words if it wrote any:
${page}

You get this letter because you asked for answers by mail. To get no more of them:
${settings}
`,
  answers: {
    resolved: 'it has dealt with it',
    'not-ours': 'the address is not in its network; we look for who answers for it',
    wrong: 'it considers the report mistaken',
    stop: 'it wants no more reports from us',
  },
}

const fr: AnswerWords = {
  subject: 'Une réponse à votre signalement',
  text: ({ desk, says, day, page, settings }) => `Bonjour,

le ${day}, vous nous avez signalé un message. Nous avons écrit à ${desk},
qui a répondu : ${says}.

Toute l’histoire, avec ses propres mots s’il en a écrit :
${page}

Vous recevez cette lettre parce que vous souhaitez les réponses par courriel. Pour ne plus en
recevoir :
${settings}
`,
  answers: {
    resolved: 'le problème est traité',
    'not-ours': 'l’adresse n’est pas dans son réseau ; nous cherchons qui en répond',
    wrong: 'il tient le signalement pour erroné',
    stop: 'il ne veut plus recevoir nos signalements',
  },
}

const ru: AnswerWords = {
  subject: 'Ответ на вашу жалобу',
  text: ({ desk, says, day, page, settings }) => `Здравствуйте!

${day} вы сообщили нам о письме. Мы написали в ${desk}
и получили ответ: ${says}.

Вся история, вместе с собственными словами адресата, если он что-то написал:
${page}

Вы получили это письмо, потому что просили присылать ответы по почте. Чтобы их больше не получать:
${settings}
`,
  answers: {
    resolved: 'меры приняты',
    'not-ours': 'адрес не из их сети; мы ищем, кто за него отвечает',
    wrong: 'жалобу считают ошибочной',
    stop: 'просят больше не присылать жалоб',
  },
}

const answerWords: Readonly<Record<'en' | 'fr' | 'ru', AnswerWords>> = { en, fr, ru }

/** An abuse desk's answer, and the reports that it applies to. */
export type DeskAnswer = { reportIds: readonly string[]; address: string; answer: AnswerKind }

/** Maximum number of such letters a day to one reporter; the history shows the other answers. */
const LETTERS_MAX = 20
const DAY_MS = 86_400_000

/**
 * Queues letters to the reporters who want answers by mail, one for each reporter. Omits the desk's
 * own words, which are untrusted; the page of the report shows and labels them.
 */
export async function queueAnswerLetters(
  tx: Db,
  { reportIds, address, answer }: DeskAnswer,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<void> {
  const limit = { since: new Date(now.getTime() - DAY_MS), lettersMax: LETTERS_MAX }
  for (const reader of await listAnswerReaders(tx, reportIds, limit)) {
    await oweOne(tx, reader, { address, answer }, app, now)
  }
}

async function oweOne(
  tx: Db,
  { reportId, reporterId, email, language, receivedAt }: AnswerReader,
  { address, answer }: Omit<DeskAnswer, 'reportIds'>,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<void> {
  const { publicUrl } = app.config
  const spoken = language ?? 'en'
  const words = answerWords[spoken]
  const format = new Intl.DateTimeFormat(spoken === 'en' ? 'en-GB' : spoken, {
    dateStyle: 'long',
    timeZone: 'UTC',
  })
  const text = words.text({
    desk: domainOf(address) ?? address,
    says: words.answers[answer],
    day: format.format(receivedAt),
    page: `${publicUrl}/reports/${reportId}`,
    settings: `${publicUrl}/settings`,
  })
  const letter = { kind: 'answer', to: email, subject: words.subject, text } as const
  const about = { reporterId, reportId, language: spoken, autoSubmitted: 'generated' } as const
  await queueLetter(tx, { ...letter, ...about }, app, now)
}
