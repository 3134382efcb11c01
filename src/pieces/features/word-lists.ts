import { plainLine } from '../disguise/plain-text.ts'

const wordKinds = [
  'money',
  'urgency',
  'credential',
  'threat',
  'prize',
  'greeting',
  'opt_out',
  'receipt',
] as const

type WordKind = (typeof wordKinds)[number]

/**
 * Words and word pairs in English, French, German, Spanish, Italian, Portuguese and Dutch, and some
 * in Russian; 0 stands for any number. Deliberately short: general knowledge, not derived from a
 * mail collection.
 */
const lists: Readonly<Record<WordKind, string>> = {
  money: `bank transfer; wire transfer; million dollars; million euros; inheritance;
    beneficiary; western union; bitcoin; crypto; investment; loan; credit card; refund;
    compensation; donation; virement; héritage; bénéficiaire; remboursement; überweisung;
    erbschaft; rückerstattung; darlehen; transferencia; herencia; reembolso; préstamo; bonifico;
    eredità; rimborso; prestito; herança; empréstimo; erfenis; terugbetaling; lening`,
  urgency: `urgent; immediately; act now; expires today; 24 hours; 48 hours; last warning;
    final notice; final warning; last chance; deadline; expire; urgence; immédiatement; dernier
    rappel; dernière chance; 24 heures; 48 heures; dringend; sofort; letzte mahnung; letzte
    chance; 24 stunden; 24 horas; 24 ore; urgente; inmediatamente; último aviso; última
    oportunidad; immediatamente; ultimo avviso; imediatamente; onmiddellijk; dringend; laatste
    kans`,
  credential: `password; verify your; confirm your; update your; login; log in; sign in;
    username; validate; reactivate; unusual activity; suspicious activity; your account; your
    mailbox; mot de; vérifiez votre; confirmez votre; identifiants; votre compte; passwort;
    kennwort; bestätigen sie; ihr konto; anmelden; contraseña; verifique su; su cuenta;
    confirmar su; tu cuenta; verifica il; tuo account; tuo conto; senha; sua conta; verifique
    sua; wachtwoord; bevestig uw; uw account`,
  threat: `suspended; suspension; locked; blocked; deactivated; terminated; unauthorized;
    legal action; police; lawsuit; arrest; recorded you; webcam; suspendu; bloqué; désactivé;
    poursuites; gesperrt; eingeschränkt; strafe; suspendida; bloqueada; desactivada; suspendido;
    bloqueado; sospeso; bloccato; suspensa; geblokkeerd; opgeschort`,
  prize: `you won; winner; lottery; congratulations; claim your; free gift; gift card; have
    won; selected winner; prize; reward; jackpot; gagnant; loterie; félicitations; avez gagné;
    cadeau gratuit; gewonnen; gewinner; lotterie; glückwunsch; ganador; lotería; felicidades;
    premio; vincitore; lotteria; congratulazioni; ganhador; loteria; parabéns; gewonnen; loterij`,
  greeting: `dear customer; dear user; dear client; dear friend; dear beneficiary; dear sir;
    dear winner; dear account; dear member; cher client; chère cliente; cher utilisateur;
    geehrter kunde; geehrte kundin; lieber kunde; estimado cliente; estimado usuario; gentile
    cliente; caro cliente; prezado cliente; geachte klant; beste klant`,
  opt_out: `unsubscribe; unsubscribing; opt out; désabonner; désinscrire; désinscription;
    abmelden; abbestellen; darse de; cancelar suscripción; disiscriverti; cancella iscrizione;
    descadastrar; cancelar inscrição; uitschrijven; afmelden`,
  receipt: `your order; order number; order confirmation; your receipt; receipt number; your
    invoice; invoice number; your booking; booking reference; your reservation; has shipped;
    tracking number; verification code; security code; confirmation code; access code; passcode;
    votre commande; numéro de; votre facture; votre réservation; votre reçu; code de; suivi de;
    ihre bestellung; bestellnummer; ihre rechnung; rechnungsnummer; ihre buchung;
    sendungsnummer; bestätigungscode; sicherheitscode; su pedido; tu pedido; su factura; tu
    factura; su reserva; código de; tuo ordine; suo ordine; tua fattura; tua prenotazione;
    codice di; seu pedido; sua fatura; sua reserva; uw bestelling; bestelnummer; uw factuur; uw
    boeking; verificatiecode; ваш заказ; номер заказа; ваш чек; ваш счет; ваше бронирование; код
    подтверждения; трек номер`,
}

/** Languages that are distinguished by their most common words. */
const languages = ['en', 'fr', 'de', 'es', 'it', 'pt', 'nl', 'sv', 'pl'] as const

/** Words that identify a language; words shared by two languages are excluded. */
const commonWords: Readonly<Record<(typeof languages)[number], string>> = {
  en: 'the and you your of for this that with have are will from not be is our please',
  fr: 'les des vous votre nous pour dans est une avec sur pas cette vos ce et aux plus',
  de: 'und der die das sie ihr ihre mit für ist nicht ein eine auf den von wir werden',
  es: 'los las usted su para con una por el este esta como más del sus se tu puede',
  it: 'il che di per non una gli della con sono questo tuo del alla le ti più suo',
  pt: 'você para uma não com os seu sua em do da por mais que seus das dos ao',
  nl: 'het een van en voor niet op uw met wij zijn dit te aan naar bij wordt ons',
  sv: 'och att det som för med inte är på av till du kan har den om vi din',
  pl: 'nie się jest na do że to dla oraz jak przez od twoje możesz lub są ich przy',
}

/**
 * Hash table of words and pairs: one bit for each kind; from bit 16 on, the number of the language
 * plus one.
 */
const slots = 2_048
const hashes = new Int32Array(slots)
const meanings = new Int32Array(slots)

for (const [bit, kind] of wordKinds.entries()) {
  for (const phrase of lists[kind].split(';')) mean(phrase, 1 << bit)
}
const ambiguous = ambiguousWords()
for (const [index, language] of languages.entries()) {
  for (const word of commonWords[language].split(' ')) {
    if (!ambiguous.has(plainLine(word))) mean(word, (index + 1) << 16)
  }
}

/** Results of counting words in a text. */
export type WordCounts = {
  kinds: Record<WordKind, number>
  /** The language with the most common words; empty with fewer than three of them. */
  language: string
}

const languageWordsMin = 3

/**
 * Counts words on a line of normalized words separated by blanks, in one pass. Words are identified
 * by 32-bit hashes, so that no substrings are created; two words have the same hash with a
 * probability of one in four billion.
 */
export function countWords(line: string): WordCounts {
  const kinds = {
    money: 0,
    urgency: 0,
    credential: 0,
    threat: 0,
    prize: 0,
    greeting: 0,
    opt_out: 0,
    receipt: 0,
  }
  const wordCounts = new Int32Array(languages.length + 1)
  let before = 0
  let word = 0
  for (let at = 0; at <= line.length; at++) {
    const code = at < line.length ? line.charCodeAt(at) : 0x20
    if (code !== 0x20) {
      word = Math.imul(word ^ code, 0x01000193)
      continue
    }
    const alone = meaningOf(word)
    const paired = before === 0 ? 0 : meaningOf(pairOf(before, word))
    if ((alone | paired) !== 0) {
      add(kinds, alone | paired)
      wordCounts[alone >>> 16] = (wordCounts[alone >>> 16] ?? 0) + 1
    }
    before = word
    word = 0
  }
  wordCounts[0] = 0
  const most = wordCounts.indexOf(Math.max(...wordCounts))
  const isKnown = (wordCounts[most] ?? 0) >= languageWordsMin
  return { kinds, language: isKnown ? (languages[most - 1] ?? '') : '' }
}

function add(kinds: Record<WordKind, number>, meaning: number): void {
  for (const [bit, kind] of wordKinds.entries()) if ((meaning >>> bit) & 1) kinds[kind]++
}

function mean(phrase: string, meaning: number): void {
  const [first = '', second] = plainLine(phrase).split(' ')
  const hash = second === undefined ? hashOf(first) : pairOf(hashOf(first), hashOf(second))
  if (hash === 0) return
  let slot = hash & (slots - 1)
  while (hashes[slot] !== 0 && hashes[slot] !== hash) slot = (slot + 1) & (slots - 1)
  hashes[slot] = hash
  meanings[slot] = (meanings[slot] ?? 0) | meaning
}

function meaningOf(hash: number): number {
  if (hash === 0) return 0
  let slot = hash & (slots - 1)
  while (hashes[slot] !== 0) {
    if (hashes[slot] === hash) return meanings[slot] ?? 0
    slot = (slot + 1) & (slots - 1)
  }
  return 0
}

function hashOf(word: string): number {
  let hash = 0
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193)
  return hash
}

function pairOf(first: number, second: number): number {
  return Math.imul(first, 0x9e3779b1) ^ second
}

function ambiguousWords(): Set<string> {
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const words of Object.values(commonWords)) {
    for (const word of new Set(words.split(' ').map((one) => plainLine(one)))) {
      if (seen.has(word)) twice.add(word)
      seen.add(word)
    }
  }
  return twice
}
