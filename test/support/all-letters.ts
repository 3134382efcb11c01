import { askingLetter, welcomeLetter } from '../../src/feedback/enroll.ts'
import { composeAccountLetter, type AccountNews } from '../../src/letters/account-letters.ts'
import { composeAdvice } from '../../src/letters/advice-letters.ts'
import type { LetterBody } from '../../src/letters/letter-body.ts'
import { composeMailInAnswer } from '../../src/letters/mail-in-letters.ts'
import { composeSummary } from '../../src/letters/monthly-summary.ts'
import { composeProbe } from '../../src/letters/probe-letter.ts'
import { composeNews } from '../../src/letters/reporter-news.ts'
import { signedLink } from '../../src/mail/keys.ts'
import type { Language } from '../../src/texts/messages.ts'

const publicUrl = 'https://spam.example'
const token = 'aiwc4lq6kzj3ubk4nf7s2b5m3i6a-lqz6ik4o2m7fj3up'
const offUrl = signedLink(`${publicUrl}/letters/off/${token}`)
const receivedAt = new Date('2026-11-16T10:00:00Z')

const accountNews: readonly AccountNews[] = [
  ...(['confirm', 'exists', 'reset', 'no-account', 'disabled', 'invited', 'linked'] as const),
  ...(['move', 'moved', 'password-changed', 'second-step-on', 'second-step-off'] as const),
]

/** A letter as its reader sees it. */
export type ShownLetter = LetterBody & { name: string; subject: string }

/** Composes every letter that the program writes to people, with examples of what they contain. */
export function allLetters(language: Language): ShownLetter[] {
  const account = accountNews.map((news) => ({
    name: `account-${news}`,
    ...composeAccountLetter(news, language, `${publicUrl}/account/reset/${token}`),
  }))
  return [
    ...account,
    { name: 'probe', ...composeProbe(language, `${publicUrl}/relays`) },
    ...adviceLetters(language),
    ...mailInLetters(language),
    ...newsLetters(language),
    ...enrollmentLetters(language),
  ]
}

function adviceLetters(language: Language): ShownLetter[] {
  const facts = {
    ...{ language, subject: 'Black Friday: −50 %', reportedAt: receivedAt },
    declared: { [language]: 'Open your account.\nChoose “No mail”.' },
    website: 'https://www.example.org/',
    ways: {
      link: { url: `https://news.example.org/off?u=${token}`, host: 'news.example.org' },
      mail: { address: 'off@example.org', subject: 'unsubscribe' },
    },
    notified: { network: true, sender: true },
    ...{ canClick: true, pageUrl: `${publicUrl}/reports/${token}`, offUrl },
  }
  const known = {
    is: 'known',
    name: 'Example Shop',
    by: 'signature',
    proof: 'example.org',
  } as const
  const cautious = { is: 'cautious', domain: 'example.org' } as const
  const little = { declared: {}, website: null, ways: {}, canClick: false, subject: null }
  return [
    { name: 'advice-known', ...composeAdvice({ ...facts, sender: known }) },
    { name: 'advice-cautious', ...composeAdvice({ ...facts, ...little, sender: cautious }) },
  ]
}

function mailInLetters(language: Language): ShownLetter[] {
  const none = { taken: 0, refused: 0, beyond: 0, messagesMax: 50, unreadable: 0 }
  const compose = (result: object) =>
    composeMailInAnswer({ ...none, ...result }, language, publicUrl)
  return [
    { name: 'mail-in-confirmed', ...compose({ taken: 3 }) },
    { name: 'mail-in-mixed', ...compose({ taken: 2, refused: 1, beyond: 3 }) },
    { name: 'mail-in-nothing', ...compose({ unreadable: 1 }) },
  ]
}

function newsLetters(language: Language): ShownLetter[] {
  const its = { language, publicUrl, offUrl }
  const about = (kind: Parameters<typeof composeNews>[0][number]['kind'], subject: string) => ({
    ...{ kind, reporterId: token, reportId: token, desk: 'hoster.example', at: receivedAt },
    report: { id: token, subject: subject === '' ? null : subject, receivedAt },
  })
  const answers = [
    about('resolved', 'You have won <b>1000</b> €'),
    about('not-ours', ''),
    about('wrong', 'Invoice 2026-11'),
    about('stop', 'Your parcel'),
  ]
  const questions = [about('question', 'Meeting on Monday'), about('question', '')]
  const month = { month: new Date('2026-10-01'), reports: 12, notified: 9 }
  const desks = ['hoster.example', 'isp.example', 'mail.example']
  return [
    { name: 'news-answer', ...composeNews(answers.slice(0, 1), its) },
    { name: 'news-answers', ...composeNews(answers, its) },
    { name: 'news-question', ...composeNews(questions.slice(0, 1), its) },
    { name: 'news-original', ...composeNews([about('original', 'Cheap watches')], its) },
    { name: 'news-thanks', ...composeNews([about('simulation', 'Your payslip')], its) },
    { name: 'news-both', ...composeNews([...Array(12).fill(answers), questions].flat(), its) },
    { name: 'summary', ...composeSummary({ ...month, desks }, its) },
    { name: 'summary-nothing', ...composeSummary({ ...month, notified: 0, desks: [] }, its) },
  ]
}

function enrollmentLetters(language: Language): ShownLetter[] {
  const scopes = [
    { kind: 'range', value: '192.0.2.0/24' },
    { kind: 'domain', value: 'hoster.example' },
  ] as const
  const terms = { format: 'arf', form: 'whole', pace: 'at-once', takes: null } as const
  const wish = { ...terms, scopes: [...scopes], language }
  const link = signedLink(`${publicUrl}/consumers/${token}`)
  return [
    { name: 'enroll', ...askingLetter(wish, 'abuse@hoster.example', publicUrl, link) },
    { name: 'enrolled', ...welcomeLetter(wish, publicUrl, link) },
    { name: 'enrolled-at-once', ...welcomeLetter({ ...wish, scopes: [] }, publicUrl, link) },
  ]
}
