import type { EnrollmentWish } from '../db/enrollment-requests.ts'
import { domainOf } from '../mail/address.ts'
import { registrableDomain } from '../mail/domain.ts'
import { type Scope, scopeText } from '../verdict/consumers/consumer-scope.ts'

/** What a letter says. */
export type LetterWords = { subject: string; text: string }

type Words = {
  ask: (service: string, link: string, scopes: string) => LetterWords
  welcome: (service: string, link: string, state: string) => LetterWords
  nothing: string
  others: (domains: number) => string
  waiting: (scopes: string) => string
  ready: string
}

const words: Record<EnrollmentWish['language'], Words> = {
  en: {
    ask: (service, link, scopes) => ({
      subject: 'Confirm: reports of spam to this address',
      text: `Somebody asked ${service} to send reports of spam, phishing and malware
to this address, as feedback reports (RFC 5965).

Asked for: ${scopes}

If you want them, open this page within seven days and confirm:

${link}

If you do not, there is nothing to do: without a confirmation nothing changes.
You can also answer this mail; a person reads it.
`,
    }),
    welcome: (service, link, state) => ({
      subject: 'Reports of spam to this address',
      text: `This address is enrolled for feedback reports of ${service}.

${state}

On this page you can change how you are told, pause and stop. Keep it to
yourselves: who has it can do all that.

${link}
`,
    }),
    nothing: 'what the registries say is yours',
    others: (domains) => `other domains (${domains})`,
    waiting: (scopes) => `A person still has to agree to: ${scopes}.`,
    ready: 'All that was asked for holds from now on.',
  },
  fr: {
    ask: (service, link, scopes) => ({
      subject: 'À confirmer : des signalements de spam à cette adresse',
      text: `On a demandé à ${service} d’envoyer à cette adresse les signalements de
spam, d’hameçonnage et de logiciels malveillants (RFC 5965).

Demandé : ${scopes}

Si vous les voulez, ouvrez cette page dans les sept jours et confirmez :

${link}

Sinon, il n’y a rien à faire : sans confirmation, rien ne change.
Vous pouvez aussi répondre à ce message ; une personne le lira.
`,
    }),
    welcome: (service, link, state) => ({
      subject: 'Des signalements de spam à cette adresse',
      text: `Cette adresse est inscrite aux signalements de ${service}.

${state}

Cette page permet de changer la façon dont vous êtes prévenus, de faire une
pause et d’arrêter. Gardez-la pour vous : qui l’a peut tout cela.

${link}
`,
    }),
    nothing: 'ce que les registres vous attribuent',
    others: (domains) => `d’autres domaines (${domains})`,
    waiting: (scopes) => `Une personne doit encore accepter : ${scopes}.`,
    ready: 'Tout ce qui était demandé vaut dès maintenant.',
  },
  ru: {
    ask: (service, link, scopes) => ({
      subject: 'Подтвердите: жалобы на спам на этот адрес',
      text: `Кто-то попросил ${service} присылать на этот адрес жалобы на спам,
фишинг и вредоносные программы (отчёты по RFC 5965).

О чём просили: ${scopes}

Если они вам нужны, откройте эту страницу в течение семи дней и подтвердите:

${link}

Если нет, ничего делать не нужно: без подтверждения ничего не изменится.
Можно и ответить на это письмо; его прочитает человек.
`,
    }),
    welcome: (service, link, state) => ({
      subject: 'Жалобы на спам на этот адрес',
      text: `Этот адрес подписан на жалобы, которые рассылает ${service}.

${state}

На этой странице можно изменить, как вам сообщать, сделать паузу или отписаться.
Никому её не показывайте: кто её знает, может сделать всё это.

${link}
`,
    }),
    nothing: 'то, что по реестрам ваше',
    others: (domains) => `и другие домены (${domains})`,
    waiting: (scopes) => `Человек ещё должен согласиться с этим: ${scopes}.`,
    ready: 'Всё, о чём просили, действует с этой минуты.',
  },
}

/**
 * Asks who reads mail at an address whether they want our reports. Anybody can have it sent to
 * anybody, so names of other houses are counted only: the page behind the link shows them.
 */
export function askingLetter(
  wish: EnrollmentWish,
  address: string,
  service: string,
  link: string,
): LetterWords {
  const its = words[wish.language]
  const house = houseOf(domainOf(address) ?? '')
  const isForeign = ({ kind, value }: Scope) => kind === 'domain' && houseOf(value) !== house
  const foreign = wish.scopes.filter(isForeign).length
  const named = scopesText(wish.scopes.filter((scope) => !isForeign(scope)))
  const said = [named, foreign > 0 ? its.others(foreign) : ''].filter((text) => text !== '')
  return its.ask(service, link, said.join(', ') || its.nothing)
}

function houseOf(domain: string): string {
  return registrableDomain(domain) ?? domain
}

/** Says that an address is enrolled, what still waits, and where it looks after itself. */
export function welcomeLetter(wish: EnrollmentWish, service: string, link: string): LetterWords {
  const its = words[wish.language]
  const waiting = scopesText(wish.scopes)
  return its.welcome(service, link, waiting === '' ? its.ready : its.waiting(waiting))
}

function scopesText(scopes: EnrollmentWish['scopes']): string {
  return scopes.map(scopeText).join(', ')
}
